"""Rating periods: the days, what was played on them, and the run that rates them."""
