"""The podium of a completed tournament as a picture: the same texts as SVG and as PNG."""

import unicodedata
from collections.abc import Sequence
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

from msgspec import Struct

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
# Regular and bold, of Linux, macOS and Windows; those with the most letters first.
FONT_FILES = (
    ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf"),
    ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ("Arial.ttf", "Arial Bold.ttf"),
    ("arial.ttf", "arialbd.ttf"),
)
GROUND, INK, SOFT, ACCENT = "#0f1217", "#f3f5f8", "#a9b4c2", "#8aa9ff"


class PictureText(Struct, frozen=True, kw_only=True):
    """A line of text in the picture; `x` is its beginning, or its end where `is_at_end`."""

    x: int
    y: int
    size: int
    color: str
    text: str
    is_bold: bool = False
    is_at_end: bool = False
    width_max: int = WIDTH - 2 * MARGIN


def podium_texts(title: str, rows: Sequence[tuple[int, str, str]], footer: str) -> list[PictureText]:
    """The texts of the picture of these places, names and points, below the title."""
    line_height = min(LINE_HEIGHT_MAX, ROWS_HEIGHT // max(1, len(rows)))
    shown_title = shorten(title, TITLE_LETTERS_MAX)
    title_size = _fitting_size(shown_title, 56, WIDTH - 2 * MARGIN)
    texts = [PictureText(x=MARGIN, y=110, size=title_size, color=INK, text=shown_title, is_bold=True)]
    for number, (position, name, points) in enumerate(rows):
        y = FIRST_ROW + line_height * number + line_height // 2
        size = min(52, line_height * 3 // 5)
        shown_name = shorten(name, NAME_LETTERS_MAX)
        texts += [
            PictureText(x=MARGIN, y=y, size=size, color=ACCENT, text=f"{position}."),
            PictureText(
                x=MARGIN + 90,
                y=y,
                size=_fitting_size(shown_name, size, NAME_WIDTH),
                color=ACCENT if position == 1 else INK,
                text=shown_name,
                is_bold=position == 1,
                width_max=NAME_WIDTH,
            ),
            PictureText(x=WIDTH - MARGIN, y=y, size=size, color=SOFT, text=points, is_at_end=True),
        ]
    shown_footer = shorten(footer, TITLE_LETTERS_MAX)
    return [*texts, PictureText(x=MARGIN, y=HEIGHT - 40, size=30, color=SOFT, text=shown_footer)]


def draw_svg(title: str, texts: Sequence[PictureText]) -> bytes:
    """The picture as SVG of plain text, without styles."""
    label = escape(f"Podium of {clean(title)}", {'"': "&quot;"})
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" role="img" aria-label="{label}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>{"".join(map(_svg_text, texts))}</svg>\n'
    )
    return svg.encode()


def draw_png(texts: Sequence[PictureText], font_files: Sequence[tuple[str, str]] = FONT_FILES) -> bytes:
    """The picture as PNG, for services that preview links and show no SVG. Pillow is imported on use.

    Letters are those of the first of these fonts that the machine has, or Pillow's own Latin ones.
    """
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (WIDTH, HEIGHT), GROUND)
    pen = ImageDraw.Draw(picture)
    for text in texts:
        # "s": y is the baseline, as in SVG.
        anchor = "rs" if text.is_at_end else "ls"
        font = _fitting_font(font_files, text)
        pen.text((text.x, text.y), text.text, fill=text.color, font=font, anchor=anchor)
    content = BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def _fitting_font(font_files: Sequence[tuple[str, str]], text: PictureText) -> Any:
    """The font in the size of the text, or smaller where it would be too wide."""
    font = _load_font(font_files, text.size, is_bold=text.is_bold)
    width = font.getlength(text.text)
    if width <= text.width_max:
        return font
    return _load_font(font_files, max(1, int(text.size * text.width_max / width)), is_bold=text.is_bold)


def _load_font(font_files: Sequence[tuple[str, str]], size: int, *, is_bold: bool) -> Any:
    from PIL import ImageFont

    for regular, bold in font_files:
        try:
            return ImageFont.truetype(bold if is_bold else regular, size)
        except OSError:
            continue
    return ImageFont.load_default(size)


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


def _svg_text(text: PictureText) -> str:
    weight = ' font-weight="600"' if text.is_bold else ""
    anchor = "end" if text.is_at_end else "start"
    return (
        f'<text x="{text.x}" y="{text.y}" font-family="{FONT}" font-size="{text.size}" fill="{text.color}"'
        f'{weight} text-anchor="{anchor}" unicode-bidi="isolate">{escape(text.text)}</text>'
    )
