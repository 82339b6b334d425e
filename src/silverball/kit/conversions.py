"""Conversions into Structs, for threads that may begin the same one at the same moment.

msgspec lays a Struct out when it is converted into for the first time, and shows others what is not complete
yet: two threads with the first body of a kind ended the process. Here one thread lays a type out, with all
that is in it, before any thread converts into it.
"""

import threading
from collections.abc import Iterable
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
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
