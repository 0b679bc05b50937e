"""Ground floor: the model store, sessions that run a network, clients of language models."""
