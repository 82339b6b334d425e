"""Field types that many bodies and queries share, with their limits."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from silverball.kit import values
from silverball.kit.values import ONE_LINE

ID_MAX = 2**63 - 1
# msgspec would accept 10**22 as an integer; the database does not.
Id = Annotated[int, Meta(ge=1, le=ID_MAX)]
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=ONE_LINE)]
Line = Annotated[str, Meta(max_length=200, pattern=ONE_LINE)]
Text = Annotated[str, Meta(max_length=10_000)]
Label = Annotated[str, Meta(min_length=1, max_length=40, pattern=ONE_LINE)]
Labels = Annotated[tuple[Label, ...], Meta(max_length=10)]
# `#a1b2c3`, or a client's name for a color.
Color = Annotated[str, Meta(max_length=20, pattern=r"^(#[0-9A-Fa-f]{3,8}|[a-z][a-z-]*)$")]
Url = Annotated[str, Meta(max_length=500, pattern=r"^https?://[^\s]+$")]

# For a query field that existing clients fill with what this service never knew: a value that the field
# cannot take counts as absent, and the field is named in X-Ignored-Parameters.
IGNORED_WHEN_INVALID = Meta(extra={"is_ignored_when_invalid": True})

# For an id in a query that existing clients send as `null` or `undefined`: a word without a digit counts as
# absent, and the field is named likewise. Whoever sends digits means an id, and is told what is wrong.
IGNORED_WHEN_A_WORD = Meta(extra={"is_ignored_when_a_word": True})

# Returns the values that a text may have now.
Choices = Callable[[], Iterable[str]]


def one_of(choices: Choices) -> Meta:
    """Mark a text as one of a set of values that is known only at run time.

    Requests are checked against the values of the moment; the published schema has those at import.
    """
    return Meta(extra={"choices": choices}, extra_json_schema={"enum": sorted(choices())})


def checked_by(is_valid: Callable[[str], bool]) -> Meta:
    """Mark a text of a query that is invalid unless this function returns true."""
    return Meta(extra={"is_valid": is_valid})


def choices_of(kind: Any) -> Choices | None:
    """The values of a type marked with `one_of`, also beside None; None for other types."""
    choices: Choices | None = marks_of(kind).get("choices")
    return choices


def marks_of(kind: Any) -> dict[str, Any]:
    """The marks of a type, also beside None: those of this module, by name."""
    info = values.inspect(kind)
    parts = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
    marks: dict[str, Any] = {}
    for part in parts:
        if isinstance(part, msgspec.inspect.Metadata):
            marks |= part.extra or {}
    return marks
