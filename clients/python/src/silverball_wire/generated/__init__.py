"""Written from the rules by `make generated`."""
