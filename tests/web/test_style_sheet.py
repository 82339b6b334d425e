"""The style sheets and icons: their size, and that pages use what they have."""

import gzip
import re
from pathlib import Path

import pytest

from silverball.web import icons, letters, site

WEB = Path(site.__file__).parent
SHEETS = ("silverball.css", "live.css")
SHEET_BYTES_MAX = 45 * 1024
COMPRESSED_BYTES_MAX = 11 * 1024
# Their names are put together: `p` and a place, `part-` and the name of a part.
COMPOSED = re.compile(r"p[123]|part-\w+|theme-\w+")


def sheets() -> str:
    return "".join((site.STATIC / name).read_text(encoding="utf-8") for name in SHEETS)


def uses() -> str:
    """All that may name a class: templates, scripts and code."""
    files = [*WEB.rglob("*.html"), *site.STATIC.glob("*.js"), *WEB.rglob("*.py")]
    return "".join(file.read_text(encoding="utf-8") for file in files)


def test_the_style_sheets_are_small() -> None:
    written = sheets().encode()
    assert len(written) <= SHEET_BYTES_MAX
    assert len(gzip.compress(written, 9)) <= COMPRESSED_BYTES_MAX


def test_each_class_of_the_style_sheets_is_on_some_page() -> None:
    without_comments = re.sub(r"/\*.*?\*/", "", sheets(), flags=re.DOTALL)
    selectors = re.sub(r"\{[^{}]*\}", " ", without_comments)
    named = set(re.findall(r"\.([a-z][\w-]*)", selectors))
    words = set(re.findall(r"[a-z][\w-]*", uses()))
    assert [name for name in sorted(named - words) if not COMPOSED.fullmatch(name)] == []


def test_each_colour_and_size_with_a_name_is_used() -> None:
    declared = set(re.findall(r"(--[\w-]+):", sheets()))
    assert declared <= set(re.findall(r"var\((--[\w-]+)", sheets()))


def test_a_page_carries_the_icons_that_it_shows_once() -> None:
    page = '<body><use href="#i-cup"/><use href="#i-cup"/></body>'
    carried = icons.with_symbols(page, "home.html")
    assert re.findall(r'<symbol id="i-(\w+)"', carried) == ["cup"]
    assert icons.with_symbols("<body></body>", "home.html") == "<body></body>"
    # A part may show an icon later, which the page around it has.
    live = icons.with_symbols("<body><p data-live=now></p></body>", "live/page.html")
    assert 'id="i-cup"' in live
    assert icons.with_symbols('<use href="#i-cup"/>', "live/parts.html") == '<use href="#i-cup"/>'


def test_each_icon_that_a_template_names_is_there() -> None:
    named = set(icons.NAMED.findall(uses()))
    assert named <= set(icons.symbols())


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("Åse", "A"),
        ("ada", "A"),
        ("  Bo", "B"),
        ("佐倉", letters.OTHER),
        ("", letters.OTHER),
        ("3PO", letters.OTHER),
    ],
)
def test_a_name_is_found_under_its_letter(name: str, letter: str) -> None:
    assert letters.first_letter(name) == letter


def test_other_scripts_come_last_and_each_letter_once() -> None:
    names = ["佐倉", "Bo", "åse", "Azra", "Ada"]
    assert letters.by_letter(names, str) == [
        ("A", ["Ada", "åse", "Azra"]),
        ("B", ["Bo"]),
        (letters.OTHER, ["佐倉"]),
    ]
