"""What to say and how: the visitor's words and emotion become a composite script, beat by beat."""
