"""Ties broken by hand."""
