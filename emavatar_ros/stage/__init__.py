"""Speaker, screen and the playout clock between them. The sound is the master: pictures follow it."""
