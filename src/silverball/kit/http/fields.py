"""Field types that many bodies and queries share, with their limits."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from silverball.kit.texts import ONE_LINE

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

# Returns the values that a text may have now.
Choices = Callable[[], Iterable[str]]


def one_of(choices: Choices) -> Meta:
    """Mark a text as one of a set of values that is known only at run time.

    Requests are checked against the values of the moment; the published schema has those at import.
    """
    return Meta(extra={"choices": choices}, extra_json_schema={"enum": sorted(choices())})


def choices_of(kind: Any) -> Choices | None:
    """The values of a type marked with `one_of`, also beside None; None for other types."""
    info = msgspec.inspect.type_info(kind)
    parts = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
    for part in parts:
        if isinstance(part, msgspec.inspect.Metadata) and part.extra and "choices" in part.extra:
            choices: Choices = part.extra["choices"]
            return choices
    return None
