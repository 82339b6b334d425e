"""A night before it is played and while it is: what is played, how long it takes, and what it is worth."""
