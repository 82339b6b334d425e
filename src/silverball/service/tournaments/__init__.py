"""Tournaments: the list and the item with its parts."""
