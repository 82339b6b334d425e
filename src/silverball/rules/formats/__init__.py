"""One file per format; a format knows no other format."""
