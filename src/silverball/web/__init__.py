"""Server-rendered pages: forms call writes, lists call reads."""
