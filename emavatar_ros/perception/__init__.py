"""What a visitor shows: four views of one utterance, each giving a candidate or saying why it has none."""
