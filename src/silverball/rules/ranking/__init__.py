"""Standings: ties, tiebreakers, cutoffs, series, summaries."""
