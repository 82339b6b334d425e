"""One folder per resource, always the same names: routes, reads, writes."""
