"""Connections to addresses that users have entered."""
