"""Devices: what speaks for nobody's account in one tournament. Links for scorekeepers, printed codes."""
