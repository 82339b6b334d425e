"""Results that players of a game send in."""
