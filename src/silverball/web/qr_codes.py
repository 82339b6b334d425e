"""Addresses as QR codes."""

from functools import lru_cache

# The lowest level that still reads when a corner of the paper is torn.
ERROR_LEVEL = "m"
# A code takes some 9 ms to draw, and a list of names is opened several times before it is printed.
CODES_CACHED_MAX = 1000


@lru_cache(maxsize=CODES_CACHED_MAX)
def qr_code(address: str) -> str:
    """The address as an SVG element without styles or scripts."""
    import segno

    return segno.make(address, error=ERROR_LEVEL, micro=False).svg_inline(
        border=2, omitsize=True, svgclass=None, lineclass=None
    )
