"""Arenas of a round, and the playing order of each game."""
