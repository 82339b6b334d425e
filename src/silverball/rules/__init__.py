"""The rule book: pure functions, no I/O, no clock, no chance of their own."""
