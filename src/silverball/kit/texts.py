"""Cleans text typed by people before it is stored."""

import re
import unicodedata

# Control characters except tab, line feed and zero; marks that change the direction of text; and
# zero-width characters, which make two names look the same.
INVISIBLE = re.compile(
    "[\x01-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
# A single line of text.
ONE_LINE = r"^[^\n\t]*$"


def clean(text: str) -> str:
    """The text trimmed, normalized (NFC), with line feeds as line ends and without invisible characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", INVISIBLE.sub("", lines)).strip()


def name_fault(name: str, characters_max: int) -> str | None:
    """The reason why a name is refused, as a sentence; None when it is accepted."""
    if not name:
        return "The name field is required."
    if len(name) > characters_max:
        return f"The name field must not be greater than {characters_max} characters."
    if not name.isprintable():
        return "The name field must not have line breaks or control characters."
    return None
