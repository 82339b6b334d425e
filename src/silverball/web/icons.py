"""The icons of the pages: strokes as symbols in one file, of which a page carries those that it shows."""

import re
from functools import cache
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
SYMBOL = re.compile(r'<symbol id="i-(\w+)".*?</symbol>')
# In a template, where a part of a page may show the icon later.
NAMED = re.compile(r"""icon\('(\w+)'\)""")
SHOWN = re.compile(r'href="#i-(\w+)"')
END = "</body>"


@cache
def symbols() -> dict[str, str]:
    """The symbol of each icon by its name."""
    text = (TEMPLATES / "icons.html").read_text(encoding="utf-8")
    return {match[1]: match[0] for match in SYMBOL.finditer(text)}


@cache
def _named_in(folder: str) -> frozenset[str]:
    """The icons that templates of a folder name."""
    files = (TEMPLATES / folder).glob("*.html")
    return frozenset(name for file in files for name in NAMED.findall(file.read_text(encoding="utf-8")))


def with_symbols(text: str, template: str) -> str:
    """The page with its symbols at the end; a part of a page finds those of the page around it."""
    if END not in text:
        return text
    wanted = set(SHOWN.findall(text))
    if "data-live=" in text:
        wanted |= _named_in(template.partition("/")[0])
    if not wanted:
        return text
    used = "".join(symbol for name, symbol in symbols().items() if name in wanted)
    return text.replace(END, f"<svg hidden>{used}</svg>\n{END}", 1)
