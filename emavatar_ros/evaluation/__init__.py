"""Measuring: the benches, the visitors they talk to, and what a recording shows."""
