"""Planning of a night: what a format plays, how long it takes, and when it ends."""
