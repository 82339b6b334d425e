"""Connections that this program opens to addresses that somebody else named."""
