"""From the views' candidates to one belief about the visitor's emotion, with reasons, stable over time."""
