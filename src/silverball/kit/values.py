"""Values: copies with some fields changed, builders from attributes, and values that hide their secret."""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    # mypy takes a Struct for a dataclass, and checks the names and types of what this function is given.
    from dataclasses import replace
else:
    from msgspec.structs import replace

__all__ = ["WithSecret", "compile_builder", "compile_copy", "replace"]
T = TypeVar("T")
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


def compile_copy(shape: Callable[..., T], *, others: tuple[str, ...] = ()) -> Callable[..., T]:
    """A function from an object to a Struct that has its attributes, by the same names, and `others`."""
    names: tuple[str, ...] = cast(type[Struct], shape).__struct_fields__
    return compile_builder(shape, {name: (name, None) for name in names if name not in others}, others=others)


# Cleans text typed by people before it is stored.


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


# Conversions into Structs, for threads that may begin the same one at the same moment.
#
# msgspec lays a Struct out when it is converted into for the first time, and shows others what is not
# complete yet: two threads with the first body of a kind ended the process. Here one thread lays a type
# out, with all that is in it, before any thread converts into it.


_lock = threading.Lock()
# Types of the program, which are as many as its lines: none is made at run time.
_laid_out: set[Any] = set()


def lay_out(kind: Any) -> None:
    """Let msgspec lay out a type and the Structs in it; then any thread may convert into it."""
    with _lock:
        msgspec.json.Decoder(kind)


@overload
def convert(
    value: Any, kind: type[T], *, strict: bool = ..., str_keys: bool = ..., from_attributes: bool = ...
) -> T: ...


@overload
def convert(
    value: Any, kind: Any, *, strict: bool = ..., str_keys: bool = ..., from_attributes: bool = ...
) -> Any: ...


def convert(
    value: Any, kind: Any, *, strict: bool = True, str_keys: bool = False, from_attributes: bool = False
) -> Any:
    """The value as this type, as `msgspec.convert`. Raises msgspec.ValidationError."""
    _lay_out_once(kind)
    return msgspec.convert(value, kind, strict=strict, str_keys=str_keys, from_attributes=from_attributes)


@overload
def decode(content: bytes | str, kind: type[T]) -> T: ...


@overload
def decode(content: bytes | str, kind: Any) -> Any: ...


def decode(content: bytes | str, kind: Any) -> Any:
    """The JSON as this type, as `msgspec.json.decode`. Raises msgspec.DecodeError, a ValidationError too."""
    _lay_out_once(kind)
    return msgspec.json.decode(content, type=kind)


def inspect(kind: Any) -> msgspec.inspect.Type:
    """Describe a type, for which msgspec lays it out."""
    with _lock:
        return msgspec.inspect.type_info(kind)


def inspect_all(kinds: Iterable[Any]) -> tuple[msgspec.inspect.Type, ...]:
    """Describe each of these types."""
    with _lock:
        return msgspec.inspect.multi_type_info(kinds)


def _lay_out_once(kind: Any) -> None:
    if kind not in _laid_out:
        lay_out(kind)
        _laid_out.add(kind)
