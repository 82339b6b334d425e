"""Whole tournaments, in and out."""
