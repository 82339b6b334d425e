"""Arenas that are drawn together."""
