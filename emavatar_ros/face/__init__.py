"""From emotion and phonemes to a face state, and from a face state to a picture."""
