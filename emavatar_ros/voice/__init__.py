"""From a beat's words to speech with exact phoneme times."""
