"""What the pinball federation makes of a tournament: its value, its points, its grade. Source: ratings, B."""
