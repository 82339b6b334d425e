"""Query strings: lenient where clients are sloppy, strict where silence would hide a fault.

Flags: 1, true, on, yes in any case are true, everything else is false. Lists are one parameter
with commas, or the parameter repeated (`ids=1&ids=2`, `ids[]=1&ids[]=2`); a list of texts is only
repeated, since a text may have a comma. Numbers outside their limits are refused, never clamped.
All faults are told at once.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec

from silverball.kit.errors import Invalid

TRUE_WORDS = frozenset({"1", "true", "on", "yes"})
PAIRS_MAX = 200
NUMBER = re.compile(r"[+-]?[0-9]{1,25}", re.ASCII)
Pairs = list[tuple[str, str]]
# What a list's name may end in, and nothing else's.
LIST_SUFFIX = "[]"
# The `page` of a list; how deep it may go is told by service/pages.py.
PageNumber = Annotated[int, msgspec.Meta(ge=1)]


class Query(msgspec.Struct, rename="camel", frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Parameters of a route. Every subclass repeats `frozen=True, kw_only=True`."""


class _FieldFault(Exception):
    """A sentence about one field."""


def parse_query(query_string: bytes) -> Pairs:
    """The parameters as they were sent: trimmed, without empty ones."""
    # Some clients send their letters as they are.
    text = query_string.decode("utf-8", "replace")
    try:
        sent = parse_qsl(text, keep_blank_values=True, errors="replace", max_num_fields=PAIRS_MAX)
    except ValueError as error:
        raise Invalid({"query": ["The query must not have more than 200 items."]}) from error
    # A database cannot store a zero byte, so nobody can look for one.
    cleaned = [(name, value.replace("\x00", "").strip()) for name, value in sent]
    return [(name, value) for name, value in cleaned if value]


class QueryParser:
    """Turns pairs into one Struct. Built once per route."""

    def __init__(self, query: type[Query]) -> None:
        self.query = query
        self.fields = [_QueryField(one) for one in msgspec.structs.fields(query)]

    def parse(self, pairs: Pairs) -> Any:
        """The Struct. Raises Invalid with every fault, by the name the caller wrote."""
        sent: dict[str, list[str]] = {}
        for name, value in pairs:
            sent.setdefault(name, []).append(value)
        values: dict[str, Any] = {}
        faults: dict[str, list[str]] = {}
        for one in self.fields:
            try:
                found = one.find_value(sent)
                if found is not None:
                    values[one.name] = found
                elif one.required:
                    faults[one.encoded_name] = [f"The {one.human_name} field is required."]
            except _FieldFault as fault:
                faults[one.encoded_name] = [f"The {fault}"]
        if faults:
            raise Invalid(faults)
        return self.query(**values)


class _QueryField:
    def __init__(self, info: msgspec.structs.FieldInfo) -> None:
        self.name = info.name
        self.encoded_name = info.encode_name
        self.required = info.required
        self.human_name = humanize_name(info.encode_name)
        kind = _without_none(msgspec.inspect.type_info(info.type))
        self.items = kind if isinstance(kind, msgspec.inspect.VarTupleType) else None
        self.read = _make_reader(self.items.item_type if self.items else kind, self.human_name)

    def find_value(self, sent: dict[str, list[str]]) -> Any:
        """The value among what was sent, by name; None when it is not there. Raises _Fault."""
        texts, listed = sent.get(self.encoded_name, []), sent.get(self.encoded_name + LIST_SUFFIX, [])
        if self.items is not None:
            return self._read_list([*texts, *listed], self.items) if texts or listed else None
        if listed:
            raise _FieldFault(f"{self.human_name} field must not be a list.")
        # Of a parameter that is there twice, the last one counts.
        return self.read(texts[-1]) if texts else None

    def _read_list(self, texts: list[str], kind: msgspec.inspect.VarTupleType) -> tuple[Any, ...]:
        if not isinstance(kind.item_type, msgspec.inspect.StrType):
            texts = [word for text in texts for word in text.split(",")]
        words = [word.strip() for word in texts if word.strip()]
        if kind.max_length is not None and len(words) > kind.max_length:
            raise _FieldFault(f"{self.human_name} field must not have more than {kind.max_length} items.")
        return tuple(self.read(word) for word in words)


def humanize_name(name: str) -> str:
    """`tournamentId` as a sentence says it: tournament id."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).replace("_", " ").lower()


def _without_none(kind: msgspec.inspect.Type) -> msgspec.inspect.Type:
    if isinstance(kind, msgspec.inspect.UnionType):
        return next(one for one in kind.types if not isinstance(one, msgspec.inspect.NoneType))
    return kind


def _make_reader(kind: msgspec.inspect.Type, spoken: str) -> Callable[[str], Any]:
    if isinstance(kind, msgspec.inspect.BoolType):
        return lambda text: text.lower() in TRUE_WORDS
    if isinstance(kind, msgspec.inspect.IntType):
        return lambda text: _parse_integer(text, kind, spoken)
    if isinstance(kind, msgspec.inspect.LiteralType):
        return lambda text: _parse_choice(text, kind, spoken)
    if isinstance(kind, msgspec.inspect.StrType):
        return lambda text: _parse_text(text, kind, spoken)
    raise TypeError(f"no reader for the query field {spoken}: {kind}")


def _parse_integer(text: str, kind: msgspec.inspect.IntType, spoken: str) -> int:
    if not NUMBER.fullmatch(text):
        raise _FieldFault(f"{spoken} field must be an integer.")
    value = int(text)
    if kind.ge is not None and value < kind.ge:
        raise _FieldFault(f"{spoken} field must be at least {kind.ge}.")
    if kind.le is not None and value > kind.le:
        raise _FieldFault(f"{spoken} field must not be greater than {kind.le}.")
    return value


def _parse_choice(text: str, kind: msgspec.inspect.LiteralType, spoken: str) -> str:
    if text not in kind.values:
        raise _FieldFault(f"selected {spoken} is invalid.") from None
    return text


def _parse_text(text: str, kind: msgspec.inspect.StrType, spoken: str) -> str:
    if kind.max_length is not None and len(text) > kind.max_length:
        raise _FieldFault(f"{spoken} field must not be greater than {kind.max_length} characters.")
    return text
