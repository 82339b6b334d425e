"""An account's own data: all of it in one file, and the end of the account."""
