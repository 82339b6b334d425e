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
    target: Callable[..., Any], sources: Mapping[str, Source], *, others: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """A function from an object to `target(name=object.attribute, ...)`, as fast as one written by hand.

    It takes the values of `others` as keywords, and `more` keywords as they are.
    """
    scope: dict[str, Any] = {"target": target}
    arguments = []
    for position, (name, (attribute, convert)) in enumerate(sources.items()):
        if not (name.isidentifier() and attribute.replace(".", "_").isidentifier()):
            raise ValueError(f"{name} or {attribute} is no name")
        value = f"given.{attribute}"
        if convert is not None:
            scope[f"convert_{position}"] = convert
            value = f"convert_{position}({value})"
        arguments.append(f"{name}={value}")
    arguments += [f"{name}={name}" for name in others]
    keywords = f", *, {', '.join(others)}" if others else ""
    text = f"lambda given{keywords}, **more: target({', '.join(arguments)}, **more)"
    builder: Callable[..., Any] = eval(text, scope)  # noqa: S307  # names of our own fields
    return builder
