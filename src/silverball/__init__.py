"""Silverball: a self-hostable tournament data service for pinball."""

__version__ = "0.3.0"
