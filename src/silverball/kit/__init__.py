"""No domain at all: HTTP, the front door, refusals, allowances, pages, ids."""
