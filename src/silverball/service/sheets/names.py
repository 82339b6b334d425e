"""Names out of lists as people paste them: without numbers, bullets, mail addresses and further columns."""

import re
from collections.abc import Iterator

from silverball.store.people import names

# A bullet, a box to tick, or a number with a mark behind it; `1st` and `8Ball` are no numbers.
LEADING_MARK = re.compile(
    r"(?:[-*+•‣◦·▪\u2013\u2014]\s+|\[[ xX]?\]\s*|☐\s*|#\d{1,4}\b[.):]?\s*|\d{1,4}\s?[.):]\s*)"
)
LEADING_NUMBER = re.compile(r"\d{1,4}\s+(?=\D)")
IN_ANGLES = re.compile(r"<[^<>]*>")
INVISIBLE = str.maketrans("", "", "\u200b\u2060\ufeff\x00")
QUOTES = "\"“”„'"
# `[ ] 3. - Ada` has three of them.
MARKS_MAX = 4
# A place or a number in a row: `1st`, `2.`, `3:a`, `4º`, `12`.
ORDINAL = re.compile(r"#?\d{1,4}(?:st|nd|rd|th|\.|\)|:[ae]|[ºªe]|er|ère|ème|de|ste)?", re.IGNORECASE)


def parse_names(text: str) -> list[str]:
    """The names of a list, in its order; a name that comes again is left out."""
    lines = [line for line in text.translate(INVISIBLE).splitlines() if line.strip()]
    # A single such line may be a name: 8 Ball Bob.
    is_numbered = are_numbered(lines)
    found = (name for line in lines for name in _names_in_line(line, is_numbered=is_numbered))
    return list({names.name_key(name): name for name in reversed(list(found))}.values())[::-1]


def are_numbered(lines: list[str]) -> bool:
    """Whether each of several lines begins with a number."""
    return len(lines) > 1 and all(LEADING_NUMBER.match(line.strip()) for line in lines)


def _names_in_line(line: str, *, is_numbered: bool) -> Iterator[str]:
    """The name of a line, or those that commas and semicolons separate."""
    for cell in line.split("\t"):
        parts = [clean_name(part, is_numbered=is_numbered) for part in re.split("[,;]", cell)]
        parts = [part for part in parts if part]
        if parts:
            # `Quill, Ada` is one person.
            yield from parts if all(" " in part for part in parts) else [", ".join(parts)]
            return
    # Without any letter it is left for the refusal to name.
    yield " ".join(line.split())


def clean_name(text: str, *, is_numbered: bool = False) -> str:
    """The name in a text; empty for a number, a mail address and other text without letters."""
    name = text.strip()
    if ORDINAL.fullmatch(name):
        return ""
    for _ in range(MARKS_MAX):
        name = name[mark.end() :] if (mark := LEADING_MARK.match(name)) else name
    if is_numbered and (number := LEADING_NUMBER.match(name)):
        name = name[number.end() :]
    words = [word for word in IN_ANGLES.sub(" ", name).split() if "@" not in word]
    name = " ".join(words).strip(QUOTES + " ")
    return name if any(letter.isalpha() for letter in name) else ""
