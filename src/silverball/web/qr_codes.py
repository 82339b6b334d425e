"""Addresses as QR codes."""

from functools import lru_cache

# The lowest level that still reads when a corner of the paper is torn.
ERROR_LEVEL = "m"
# A code takes some 5 ms to draw, 1.5 in a known mask, and a list of names is opened several times before
# it is printed.
CODES_CACHED_MAX = 1000


@lru_cache(maxsize=CODES_CACHED_MAX)
def qr_code(address: str, *, like: str = "") -> str:
    """The address as an SVG element without styles or scripts.

    `like` is the address of the list that it is on: all codes of a list have the mask that suits that one,
    as choosing a mask takes most of the time.
    """
    return draw_qr_code(address, mask=_best_mask(like) if like else None)


@lru_cache(maxsize=CODES_CACHED_MAX)
def _best_mask(address: str) -> int:
    import segno

    return int(segno.make(address, error=ERROR_LEVEL, micro=False).mask)


def draw_qr_code(text: str, *, mask: int | None = None) -> str:
    """Any text as such an element; it is not remembered, so that secrets are not."""
    import segno

    return segno.make(text, error=ERROR_LEVEL, micro=False, mask=mask).svg_inline(
        border=2, omitsize=True, svgclass=None, lineclass=None
    )
