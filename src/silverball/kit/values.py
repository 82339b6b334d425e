"""Values: copies with some fields changed, builders from attributes, and values that hide their secret."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    # mypy takes a Struct for a dataclass, and checks the names and types of what this function is given.
    from dataclasses import replace
else:
    from msgspec.structs import replace

__all__ = ["WithSecret", "compile_builder", "replace"]
# The attribute that a value is read from, and the function that converts it, if one does.
Source = tuple[str, Callable[[Any], Any] | None]


class WithSecret(Struct, frozen=True):
    """A value with a secret: its text, as a log or a traceback would show it, names no field."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"


def compile_builder(
    build: Callable[..., Any],
    sources: Mapping[str, Source],
    *,
    others: tuple[str, ...] = (),
    takes_more: bool = False,
) -> Callable[..., Any]:
    """A function from an object to `build(name=object.attribute, ...)`, as fast as one written by hand.

    It takes the values of `others` as keywords, and with `takes_more` any keywords.
    """
    scope: dict[str, Any] = {"build": build}
    items = {}
    for position, (name, (attribute, convert)) in enumerate(sources.items()):
        if not (name.isidentifier() and attribute.isidentifier()):
            raise ValueError(f"{name} or {attribute} is no name")
        items[name] = f"given.{attribute}"
        if convert is not None:
            scope[f"convert_{position}"] = convert
            items[name] = f"convert_{position}({items[name]})"
    items |= {name: name for name in others}
    more = ["**more"] if takes_more else []
    if build is dict:
        built = "{" + ", ".join([f"{name!r}: {value}" for name, value in items.items()] + more) + "}"
    else:
        built = f"build({', '.join([f'{name}={value}' for name, value in items.items()] + more)})"
    parameters = ", ".join(["given", *(["*"] if others else []), *others, *more])
    builder: Callable[..., Any] = eval(f"lambda {parameters}: {built}", scope)  # noqa: S307  # our own names
    return builder
