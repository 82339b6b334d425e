"""Bodies of requests: strict, since a fault that is overlooked here changes a tournament.

Texts are trimmed and cleaned, and empty ones are null. All faulty fields are told at once, by the
path that the caller wrote (`results.3`). A field that may be left out has the type `X | UnsetType` and
the default UNSET: absent is not null. What depends on several fields is refused in `__post_init__`,
which may raise Invalid.
"""

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import msgspec

from silverball.kit import texts
from silverball.kit.errors import Invalid, Refusal
from silverball.kit.http.query import LIST_SUFFIX, Pairs, humanize_name

INTEGER_MAX = 2**63 - 1
DEPTH_MAX = 20
VALUES_MAX = 50_000
FAULTS_MAX = 20
NAME_CHARACTERS_MAX = 100
# Decimals are points.
AMOUNT_MAX = 10**9
AMOUNT_FAULT = f"must be a number between -{AMOUNT_MAX} and {AMOUNT_MAX} with at most two decimals."
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
WHOLE_BODY = "body"
KIND_NAMES = {
    "int": "an integer",
    "float": "a number",
    "decimal": "a number",
    "str": "a string",
    "array": "an array",
    "object": "an object",
    "bool": "true or false",
    "datetime": "a valid date",
    "date": "a valid date",
}
# What msgspec says about a value -> what existing clients know, after "The <name> field ".
FAULT_SENTENCES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"Expected `str` of length >= 1\Z"), "is required."),
    (re.compile(r"Expected `str` of length >= (\d+)"), r"must be at least \1 characters."),
    (re.compile(r"Expected `str` of length <= (\d+)"), r"must not be greater than \1 characters."),
    (re.compile(r"Expected `(?:array|object)` of length >= (\d+)"), r"must have at least \1 items."),
    (re.compile(r"Expected `(?:array|object)` of length <= (\d+)"), r"must not have more than \1 items."),
    (re.compile(r"Expected `\w+` >= ([-\d.]+)"), r"must be at least \1."),
    (re.compile(r"Expected `\w+` <= ([-\d.]+)"), r"must not be greater than \1."),
    (re.compile(r"Expected `\w+` > ([-\d.]+)"), r"must be greater than \1."),
    (re.compile(r"Expected `\w+` < ([-\d.]+)"), r"must be less than \1."),
    (re.compile(r"Expected `\w+` that's a multiple of ([\d.]+)"), r"must be a multiple of \1."),
    (re.compile(r"Expected `str` matching"), "format is invalid."),
    (re.compile(r"Expected `([^`]+)`"), lambda found: f"must be {_kind_names(found[1])}."),
    (re.compile(r"Invalid decimal"), "must be a number."),
    (re.compile(r"Invalid RFC3339"), "must be a valid date."),
)
MISSING_FIELD = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
FAULT_PATH = re.compile(r" - at (`key` in )?`\$(.*)`\Z", re.DOTALL)


class Body(msgspec.Struct, rename="camel", frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a writing route takes, and every object in it. Subclasses repeat `frozen=True, kw_only=True`."""


class MalformedBody(Refusal):
    """The body is not JSON."""

    sentence = "Bad request."


class BodyParser:
    """Turns bytes into one Struct. Built once per route."""

    def __init__(self, body: type[msgspec.Struct]) -> None:
        self.body = body
        self.fields = {one.encode_name: _BodyField(one) for one in msgspec.structs.fields(body)}

    def parse(self, sent: bytes) -> Any:
        """The Struct. Raises Malformed, or Invalid with the faults."""
        return self.parse_values(_decode_object(sent))

    def parse_values(self, values: dict[str, Any]) -> Any:
        """The Struct of values that are decoded already; their texts are trimmed in place. Raises Invalid."""
        faults = _clean_texts(values)
        read: dict[str, Any] = {}
        for name in values:
            if name not in self.fields:
                faults.setdefault(
                    _printable_name(name), [f"The {_printable_name(name)} field is prohibited."]
                )
        for name, one in self.fields.items():
            # What cannot be stored is told first.
            if not any(path == name or path.startswith(f"{name}.") for path in faults):
                one.read(values, read, faults)
        if faults:
            raise Invalid(dict(list(faults.items())[:FAULTS_MAX]))
        return self.body(**read)


class _BodyField:
    """One field, converted by itself so that each can have its fault."""

    def __init__(self, info: msgspec.structs.FieldInfo) -> None:
        self.name = info.name
        self.encoded_name = info.encode_name
        self.required = info.required
        self.holder = msgspec.defstruct(
            "Holder", [(info.name, info.type)], rename={info.name: info.encode_name}, kw_only=True
        )

    def read(self, values: dict[str, Any], read: dict[str, Any], faults: dict[str, list[str]]) -> None:
        if self.encoded_name not in values:
            if self.required:
                faults[self.encoded_name] = [f"The {humanize_name(self.encoded_name)} field is required."]
            return
        value = values[self.encoded_name]
        try:
            read[self.name] = converted = self._convert(value)
            if isinstance(converted, Decimal) and not _is_amount(converted):
                faults[self.encoded_name] = [f"The {humanize_name(self.encoded_name)} field {AMOUNT_FAULT}"]
        except msgspec.ValidationError as error:
            path, sentence = self._describe_fault(value, str(error))
            faults[path] = [sentence]

    def _convert(self, value: Any) -> Any:
        held = msgspec.convert({self.encoded_name: value}, self.holder, str_keys=True)
        return getattr(held, self.name)

    def _describe_fault(self, value: Any, said: str) -> tuple[str, str]:
        found = FAULT_PATH.search(said)
        inner = found[2] if found else f".{self.encoded_name}"
        said = said[: found.start()] if found else said
        if isinstance(value, dict) and found and (found[1] or "[...]" in inner):
            inner = inner.replace(
                f".{self.encoded_name}", f".{self.encoded_name}.{self._faulty_key(value)}", 1
            )
        path = inner.replace("[...]", "").replace("[", ".").replace("]", "").lstrip(".")
        for pattern, ending in ((MISSING_FIELD, "is required."), (UNKNOWN_FIELD, "is prohibited.")):
            named = pattern.match(said)
            if named:
                path = f"{path}.{_printable_name(named[1])}"
                return path, f"The {humanize_name(path)} field {ending}"
        if said.startswith(("Invalid enum value", "Invalid value")):
            return path, f"The selected {humanize_name(path)} is invalid."
        if value is None and self.required and path == self.encoded_name:
            return path, f"The {humanize_name(path)} field is required."
        return path, f"The {humanize_name(path)} field {_fault_sentence(said)}"

    def _faulty_key(self, value: dict[str, Any]) -> str:
        """The first key whose pair is refused alone: msgspec does not name it."""
        for key, item in value.items():
            try:
                self._convert({key: item})
            except msgspec.ValidationError as error:
                if "of length" not in str(error) or "[...]" in str(error):
                    return _printable_name(key)
        return "*"


def parse_pairs(sent: bytes) -> Pairs:
    """A JSON object as a query string would say it; a list is repeated. Raises Malformed or Invalid.

    For routes that only read: their parameters may stand in the body, and unknown ones are ignored there too.
    """
    values = _decode_object(sent)
    faults = _clean_texts(values)
    pairs: Pairs = []
    for name, value in values.items():
        is_list = isinstance(value, list)
        items = value if is_list else [value]
        if any(isinstance(item, dict | list) for item in items):
            faults.setdefault(
                _printable_name(name), [f"The {humanize_name(_printable_name(name))} field is invalid."]
            )
            continue
        sent_as = name + LIST_SUFFIX if is_list else name
        pairs += [(sent_as, _query_text(item)) for item in items if item is not None]
    if faults:
        raise Invalid(dict(list(faults.items())[:FAULTS_MAX]))
    return pairs


def _query_text(value: str | float | bool) -> str:
    """A JSON value as a query string writes it: `true`, not `True`."""
    return value if isinstance(value, str) else json.dumps(value)


def _decode_object(sent: bytes) -> dict[str, Any]:
    if not sent.strip():
        return {}
    try:
        value = msgspec.json.decode(sent)
    except msgspec.ValidationError as error:
        raise Invalid({WHOLE_BODY: ["The body has a number that is out of range."]}) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        value = _decode_with_surrogates(sent)
        if value is None:
            raise MalformedBody from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid({WHOLE_BODY: ["The body must be an object."]})
    return value


def _decode_with_surrogates(sent: bytes) -> Any:
    """The value, when half a character is all that is wrong with it: that is a fault of one text."""
    if ESCAPED_SURROGATE.search(sent) is None:
        return None
    try:
        return json.loads(sent, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _clean_texts(values: dict[str, Any]) -> dict[str, list[str]]:
    """Trim every text in place and find what no database can store. Raises Invalid when there is too much."""
    faults: dict[str, list[str]] = {}
    waiting: list[tuple[Any, str, int]] = [(values, "", 1)]
    count = 0
    while waiting and len(faults) < FAULTS_MAX:
        here, at, depth = waiting.pop()
        count += len(here)
        if count > VALUES_MAX:
            raise Invalid({WHOLE_BODY: [f"The body must not have more than {VALUES_MAX} items."]})
        if depth > DEPTH_MAX:
            raise Invalid({WHOLE_BODY: [f"The body must not be nested deeper than {DEPTH_MAX} levels."]})
        for key, value in _items(here):
            if isinstance(value, dict | list):
                waiting.append((value, f"{at}{key}.", depth + 1))
                continue
            path = f"{at}{key}"
            if isinstance(value, str):
                here[key] = texts.clean(value) or None
            if _is_unstorable(key) or _is_unstorable(value):
                faults[_printable_name(path)] = [
                    f"The {humanize_name(_printable_name(path))} field is not a text that can be stored."
                ]
            elif isinstance(value, int | float) and abs(value) > INTEGER_MAX:
                faults[_printable_name(path)] = [
                    f"The {humanize_name(_printable_name(path))} field must be between -{INTEGER_MAX} and {INTEGER_MAX}."  # noqa: E501
                ]
    return faults


def _items(here: Any) -> Iterator[tuple[Any, Any]]:
    return iter(list(here.items()) if isinstance(here, dict) else enumerate(here))


def _is_amount(value: Decimal) -> bool:
    return value.is_finite() and abs(value) <= AMOUNT_MAX and value == round(value, 2)


def _is_unstorable(value: Any) -> bool:
    return isinstance(value, str) and UNSTORABLE.search(value) is not None


def _printable_name(name: str) -> str:
    """A name that a stranger made up, as an answer can carry it."""
    return UNSTORABLE.sub("\ufffd", name)[:NAME_CHARACTERS_MAX]


def _fault_sentence(said: str) -> str:
    for pattern, ending in FAULT_SENTENCES:
        found = pattern.match(said)
        if found:
            return ending(found) if callable(ending) else found.expand(ending)
    return "is invalid."


def _kind_names(kinds: str) -> str:
    """`int | str | null` as a sentence says it: an integer or a string."""
    named = dict.fromkeys(KIND_NAMES.get(kind, "valid") for kind in kinds.split(" | ") if kind != "null")
    return " or ".join(named) or "null"
