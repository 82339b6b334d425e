"""On what they play, and who starts."""
