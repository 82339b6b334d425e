"""The base class of all published shapes, and how a client decodes them."""

from datetime import UTC, datetime
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

__all__ = ["ID_MAX", "UNSET", "Day", "Id", "Instant", "UnsetType", "Wire", "decode_answer"]

ID_MAX = 2**63 - 1
# msgspec would accept 10**22 as an integer; the database does not.
Id = Annotated[int, Meta(ge=1, le=ID_MAX)]
# `2025-01-16T00:10:45.000000Z`, and `2025-01-16`. Times in other forms are plain texts (wire/times.py).
Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]


# gc=False: shapes are trees, so the garbage collector need not search long lists for cycles.
class Wire(Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """A shape of the published interface: camelCase on the wire, immutable in Python.

    `frozen=True, kw_only=True` is written on every subclass: msgspec does not inherit
    `kw_only`, and mypy does not see the inherited `frozen`. A field that may be absent has the
    type `X | UnsetType` and the default `UNSET`: absent is not null.
    """


# Tolerant twin of a Struct -> the Struct.
_PUBLISHED: dict[type[Struct], type[Struct]] = {}


def decode_answer(text: bytes | str, kind: Any) -> Any:
    """Decode the JSON of a service, which may be newer. Raises msgspec.DecodeError.

    Fields that are not known here are left out; a word outside of its closed set is kept as it is.
    """
    try:
        return _decoder(kind).decode(text)
    except msgspec.ValidationError:
        return _as_published(_decoder(_tolerant_type(kind)).decode(text))


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


@cache
def _tolerant_type(kind: Any) -> Any:
    """The same type with any text for words of a closed set, and without limits."""
    origin = get_origin(kind)
    if origin is Literal:
        return type(get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, Struct) and origin is None:
        return _tolerant_twin(kind)
    if origin is None:
        return kind
    parts = tuple(part if part is ... else _tolerant_type(part) for part in get_args(kind))
    return Union[parts] if origin in (Union, UnionType) else origin[parts]  # noqa: UP007  # at run time


def _tolerant_twin(struct: type[Struct]) -> type[Struct]:
    hints = get_type_hints(struct)
    # NODEFAULT stands for no default, which the types of `field` do not know.
    make_field: Any = field
    fields = [
        (
            own.name,
            _tolerant_type(hints[own.name]),
            make_field(name=own.encode_name, default=own.default, default_factory=own.default_factory),
        )
        for own in msgspec.structs.fields(struct)
    ]
    twin = msgspec.defstruct(struct.__name__, fields, kw_only=True)
    _PUBLISHED[twin] = struct
    return twin


def _as_published(value: Any) -> Any:
    """The value with the Structs in place of their twins."""
    if isinstance(value, Struct):
        struct = _PUBLISHED.get(type(value), type(value))
        return struct(**{name: _as_published(getattr(value, name)) for name in struct.__struct_fields__})
    if isinstance(value, tuple):
        return tuple(map(_as_published, value))
    if isinstance(value, dict):
        return {key: _as_published(part) for key, part in value.items()}
    return value


# Times in the forms of the interface; each field has its own (interface.md 2, row 22).


def iso(moment: datetime) -> str:
    """`2025-01-16T00:10:45.000000Z`: fields ending in Utc, completedAt, startedAt, a user's createdAt."""
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def plain(moment: datetime) -> str:
    """`2025-01-16 00:10:45`: a tournament's createdAt and updatedAt, in UTC."""
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def plain_z(moment: datetime) -> str:
    """`2025-01-16 00:10:45Z`: a round's createdAt and completedAt."""
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")


def plain_z_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else plain_z(moment)


def local(moment: datetime, timezone: str) -> str:
    """`2025-01-15 19:10:45`: local time of the timezone."""
    return moment.astimezone(ZoneInfo(timezone)).strftime("%Y-%m-%d %H:%M:%S")


def parse_moment(text: str) -> datetime:
    """The time in any of the forms above; UTC when it names no zone. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
