"""Draws: opponents and groups of each round, brackets and schedules, arenas and the playing order."""
