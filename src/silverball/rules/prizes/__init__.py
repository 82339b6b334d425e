"""Prize money: where it comes from, what comes off it, and who gets how much."""
