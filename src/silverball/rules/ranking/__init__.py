"""Who stands where: ties, tiebreakers, cut-offs, series, summaries."""
