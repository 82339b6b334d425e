"""Outlooks: planned nights, the end of a running one, chances and what is certain."""
