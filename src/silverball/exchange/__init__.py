"""Other services' and files' formats, in and out."""
