"""Fields that many bodies have, with their limits."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.http.endpoints import ID_MAX
from silverball.kit.texts import ONE_LINE

# msgspec would take 10**22 as an integer; the database would not.
Id = Annotated[int, Meta(ge=1, le=ID_MAX)]
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=ONE_LINE)]
Line = Annotated[str, Meta(max_length=200, pattern=ONE_LINE)]
Text = Annotated[str, Meta(max_length=10_000)]
Label = Annotated[str, Meta(min_length=1, max_length=40, pattern=ONE_LINE)]
Labels = Annotated[tuple[Label, ...], Meta(max_length=10)]
# `#a1b2c3`, or the name that a client has for it.
Color = Annotated[str, Meta(max_length=20, pattern=r"^(#[0-9A-Fa-f]{3,8}|[a-z][a-z-]*)$")]
Url = Annotated[str, Meta(max_length=500, pattern=r"^https?://[^\s]+$")]
