"""Compares what a command prints with what a document shows; `...` stands for anything.

In JSON, `...` as a member allows further members, as an element any number of elements, as a value or inside
a text anything.
"""

import json
import re
from typing import Any

ANYTHING = "..."
# Texts of JSON are kept; `...` outside of them becomes a text, and a member where members are.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\.\.\.|[{}\[\],:]|[^\s{}\[\],:"]+')


def shown_json(text: str) -> Any:
    """Return the JSON that a document shows, with `...` as texts."""
    written: list[str] = []
    open_brackets: list[str] = []
    for token in TOKEN.findall(text):
        if token in "{[":
            open_brackets.append(token)
        elif token in "}]":
            open_brackets.pop()
        if token != ANYTHING:
            written.append(token)
        elif open_brackets and open_brackets[-1] == "{" and written[-1] != ":":
            written.append('"...": "..."')
        else:
            written.append('"..."')
    return json.loads("".join(written))


def last_json(text: str) -> Any:
    """Return the last of the JSON values that commands have printed one after the other."""
    decoder, at, value = json.JSONDecoder(), 0, None
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
    return value


def difference(shown: Any, printed: Any, place: str = "$") -> str | None:
    """Return where the printed value is not what is shown, or None."""
    if shown == ANYTHING:
        return None
    if isinstance(shown, dict) and isinstance(printed, dict):
        return _difference_of_objects(shown, printed, place)
    if isinstance(shown, list) and isinstance(printed, list):
        return _difference_of_lists(shown, printed, place)
    if isinstance(shown, str) and isinstance(printed, str) and matches_line(shown, printed):
        return None
    return (
        None if (type(shown), shown) == (type(printed), printed) else f"{place}: {shown!r}, not {printed!r}"
    )


def _difference_of_objects(shown: dict[str, Any], printed: dict[str, Any], place: str) -> str | None:
    named = {name: value for name, value in shown.items() if name != ANYTHING}
    if missing := sorted(named.keys() - printed.keys()):
        return f"{place}: has no {missing}"
    if ANYTHING not in shown and (more := sorted(printed.keys() - named.keys())):
        return f"{place}: has also {more}"
    found = (difference(value, printed[name], f"{place}.{name}") for name, value in named.items())
    return next((text for text in found if text is not None), None)


def _difference_of_lists(shown: list[Any], printed: list[Any], place: str) -> str | None:
    if ANYTHING not in shown:
        if len(shown) != len(printed):
            return f"{place}: {len(shown)} elements are shown, there are {len(printed)}"
        pairs = list(zip(shown, printed, strict=True))
    else:
        cut = shown.index(ANYTHING)
        after = shown[cut + 1 :]
        if len(printed) < cut + len(after):
            return f"{place}: only {len(printed)} elements"
        pairs = list(zip(shown[:cut], printed[:cut], strict=True))
        pairs += list(zip(after, printed[len(printed) - len(after) :], strict=True))
    found = (difference(left, right, f"{place}[{at}]") for at, (left, right) in enumerate(pairs))
    return next((text for text in found if text is not None), None)


def matches_line(shown: str, printed: str) -> bool:
    """Return whether a printed line is what is shown."""
    pattern = ".*".join(re.escape(part) for part in shown.strip().split(ANYTHING))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def difference_of_text(shown: str, printed: str) -> str | None:
    """Return the first shown line that was not printed after those before it, or None."""
    lines = printed.splitlines()
    for line in shown.splitlines():
        at = next((at for at, text in enumerate(lines) if matches_line(line, text)), None)
        if at is None:
            return f"{line!r} was not printed"
        lines = lines[at + 1 :]
    return None
