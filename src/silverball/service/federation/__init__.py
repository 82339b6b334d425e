"""The pinball federation: its records of players, and what a field of them is worth."""
