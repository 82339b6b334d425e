"""Occasions, which the wire calls events."""
