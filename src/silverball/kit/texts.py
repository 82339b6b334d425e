"""Texts that people type, as they are kept."""

import re
import unicodedata

# Control characters but tab, line feed and the one that no database can store; marks that turn the
# direction of the text around them; characters of no width that make two names look the same.
INVISIBLE = re.compile(
    "[\x01-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
# What one line may hold.
ONE_LINE = r"^[^\n\t]*$"


def clean(text: str) -> str:
    """The text trimmed, composed (NFC), with line feeds for line ends and nothing that cannot be seen."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", INVISIBLE.sub("", lines)).strip()


def name_fault(name: str, characters_max: int) -> str | None:
    """What is wrong with something's name, as a sentence; None when it can be one."""
    if not name:
        return "The name field is required."
    if len(name) > characters_max:
        return f"The name field must not be greater than {characters_max} characters."
    if not name.isprintable():
        return "The name field must not have line breaks or control characters."
    return None
