"""Hears a visitor: is somebody speaking, have they finished, and what did they say."""
