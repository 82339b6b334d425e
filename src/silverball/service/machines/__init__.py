"""The machine database: entries, changed ids, films."""
