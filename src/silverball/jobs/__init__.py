"""Work that the clock starts: one job per file."""
