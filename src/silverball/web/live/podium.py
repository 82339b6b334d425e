"""The podium of a completed tournament as a picture: SVG of plain text and lines, without styles."""

import unicodedata
from collections.abc import Sequence
from xml.sax.saxutils import escape

# The size that services show shared links in.
WIDTH, HEIGHT = 1200, 630
TITLE_LETTERS_MAX, NAME_LETTERS_MAX = 44, 32
MARGIN = 80
FIRST_ROW, ROWS_HEIGHT = 190, 360
LINE_HEIGHT_MAX = 110
# Room for a name, beside its place and its points.
NAME_WIDTH = WIDTH - 2 * MARGIN - 90 - 130
# Widths of bold letters in the widest of the usual fonts, in hundredths of their size.
LETTER_WIDTH, WIDE_LETTER_WIDTH = 70, 100
FONT = "system-ui, sans-serif"
GROUND, INK, SOFT, ACCENT = "#0f1217", "#f3f5f8", "#a9b4c2", "#8aa9ff"


def draw_podium(title: str, rows: Sequence[tuple[int, str, str]], footer: str) -> str:
    """The picture of these places, names and points, below the title."""
    line_height = min(LINE_HEIGHT_MAX, ROWS_HEIGHT // max(1, len(rows)))
    shown_title = shorten(title, TITLE_LETTERS_MAX)
    title_size = _fitting_size(shown_title, 56, WIDTH - 2 * MARGIN)
    parts = [_text(MARGIN, 110, title_size, INK, shown_title, is_bold=True)]
    for number, (position, name, points) in enumerate(rows):
        y = FIRST_ROW + line_height * number + line_height // 2
        size = min(52, line_height * 3 // 5)
        shown_name = shorten(name, NAME_LETTERS_MAX)
        name_size = _fitting_size(shown_name, size, NAME_WIDTH)
        color = ACCENT if position == 1 else INK
        parts += [
            _text(MARGIN, y, size, ACCENT, f"{position}."),
            _text(MARGIN + 90, y, name_size, color, shown_name, is_bold=position == 1),
            _text(WIDTH - MARGIN, y, size, SOFT, points, anchor="end"),
        ]
    parts.append(_text(MARGIN, HEIGHT - 40, 30, SOFT, shorten(footer, TITLE_LETTERS_MAX)))
    label = escape(f"Podium of {clean(title)}", {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" role="img" aria-label="{label}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>{"".join(parts)}</svg>\n'
    )


def clean(text: str) -> str:
    """The text without letters that XML or a line of text cannot have."""
    return "".join(letter for letter in text if letter.isprintable())


def shorten(text: str, letters_max: int) -> str:
    """The text, cut with an ellipsis where it is longer than this."""
    cleaned = clean(text)
    return cleaned if len(cleaned) <= letters_max else f"{cleaned[: letters_max - 1].rstrip()}…"


def _fitting_size(text: str, size: int, width: int) -> int:
    """The size, or the smaller one in which the text is no wider than this."""
    widths = (
        WIDE_LETTER_WIDTH if unicodedata.east_asian_width(letter) in "WF" else LETTER_WIDTH for letter in text
    )
    return min(size, width * 100 // max(1, sum(widths)))


def _text(
    x: int, y: int, size: int, color: str, text: str, *, is_bold: bool = False, anchor: str = "start"
) -> str:
    weight = ' font-weight="600"' if is_bold else ""
    return (
        f'<text x="{x}" y="{y}" font-family="{FONT}" font-size="{size}" fill="{color}"{weight}'
        f' text-anchor="{anchor}" unicode-bidi="isolate">{escape(text)}</text>'
    )
