"""Bodies of requests: strict, since a mistake that is overlooked here changes a tournament.

Texts are trimmed and cleaned, and empty ones become null. A refusal lists all faulty fields at once,
by the path that the client wrote (`results.3`). A field that may be left out has the type
`X | UnsetType` and the default UNSET: absent is not null. Rules about several fields are checked in
`__post_init__`, which may raise Invalid.
"""

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Any, ClassVar

import msgspec

from silverball.kit import values as kit_values
from silverball.kit.errors import Invalid, Refusal
from silverball.kit.http import body_faults
from silverball.kit.http.body_faults import UNSTORABLE, printable_name
from silverball.kit.http.fields import choices_of
from silverball.kit.http.multipart import FormPart
from silverball.kit.http.query import LIST_SUFFIX, Pairs, humanize_name
from silverball.kit.values import lay_out

INTEGER_MAX = 2**63 - 1
DEPTH_MAX = 20
VALUES_MAX = 50_000
FAULTS_MAX = 20
# Decimals are points.
AMOUNT_MAX = 10**9
AMOUNT_FAULT = f"must be a number between -{AMOUNT_MAX} and {AMOUNT_MAX} with at most two decimals."
ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
WHOLE_BODY = "body"
TOO_DEEP = f"The body must not be nested deeper than {DEPTH_MAX} levels."
FORM_TYPES = frozenset({b"application/x-www-form-urlencoded", b"multipart/form-data"})
# The end of msgspec's message about a fault of the syntax, and its messages that need other words.
FAULT_BYTE = re.compile(r" \(byte (\d+)\)\Z")
JSON_CAUSES = {"Input data was truncated": "it ends before it is complete"}


class Body(msgspec.Struct, rename="camel", frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a writing route, or an object in one. Subclasses repeat `frozen=True, kw_only=True`."""

    # Fields that are sent in place of a file, where a route takes one as a form.
    instead_of_file: ClassVar[tuple[str, ...]] = ()


class MalformedBody(Refusal):
    """The body is not JSON."""

    sentence = "The body is not JSON: line {line}, column {column}: {cause}."


class BodyIsForm(Refusal):
    """The body is a form where JSON is wanted."""

    sentence = "The body is a form. Send JSON, with `Content-Type: application/json`."


class BodyParser:
    """Converts bytes into one Struct. Built once per route."""

    def __init__(self, body: type[msgspec.Struct]) -> None:
        self.body = body
        self.fields = {info.encode_name: _BodyField(info) for info in msgspec.structs.fields(body)}

    def parse(self, content: bytes, content_type: bytes = b"") -> Any:
        """The Struct. Raises MalformedBody, BodyIsForm, or Invalid with the faults."""
        return self.parse_values(_decode_object(content, content_type))

    def parse_form(self, parts: Iterable[FormPart]) -> Any:
        """The Struct of a form with a file: a field that is no text is JSON. Raises Invalid."""
        values: dict[str, Any] = {}
        for part in parts:
            field = self.fields.get(part.name)
            if part.is_file or field is None or field.is_text:
                values[part.name] = part.content if part.is_file else part.text
            else:
                try:
                    values[part.name] = msgspec.json.decode(part.content)
                except (msgspec.DecodeError, RecursionError):
                    # The fault is found as that of any other wrong value.
                    values[part.name] = part.text
        return self.parse_values(values)

    def parse_values(self, values: dict[str, Any]) -> Any:
        """The Struct of decoded values, whose texts are trimmed in place. Raises Invalid."""
        faults = _clean_texts(values)
        converted: dict[str, Any] = {}
        for name in values:
            if name not in self.fields:
                faults.setdefault(printable_name(name), [f"The {printable_name(name)} field is prohibited."])
        for name, field in self.fields.items():
            # One that is absent and may be keeps the default of the Struct.
            if name not in values and not field.required:
                continue
            # A text that cannot be stored is the only fault reported of its field.
            if not any(path == name or path.startswith(f"{name}.") for path in faults):
                field.read(values, converted, faults)
        if faults:
            raise Invalid(dict(list(faults.items())[:FAULTS_MAX]))
        return self.body(**converted)


class _BodyField:
    """One field, converted by itself so that each field can have its fault."""

    def __init__(self, info: msgspec.structs.FieldInfo) -> None:
        self.name = info.name
        self.encoded_name = info.encode_name
        self.human_name = humanize_name(info.encode_name)
        self.required = info.required
        self.kind = info.type
        self.is_text = _is_text(info.type)
        self.choices = choices_of(info.type)
        self.holder = msgspec.defstruct(
            "Holder", [(info.name, info.type)], rename={info.name: info.encode_name}, kw_only=True
        )
        lay_out(self.holder)

    def read(self, values: dict[str, Any], converted: dict[str, Any], faults: dict[str, list[str]]) -> None:
        """Convert this field of `values` into `converted`, or add its fault to `faults`."""
        if self.encoded_name not in values:
            faults[self.encoded_name] = [f"The {self.human_name} field is required."]
            return
        value = values[self.encoded_name]
        try:
            converted[self.name] = field_value = self._convert(value)
        except (msgspec.ValidationError, Invalid):
            found = body_faults.faults_in(self.kind, value, self.encoded_name, is_required=self.required)
            listed = list(islice(found, FAULTS_MAX))
            # A value that is right by itself is refused by something beside it.
            for path, sentence in listed or [(self.encoded_name, f"The {self.human_name} field is invalid.")]:
                faults.setdefault(path, []).append(sentence)
            return
        if isinstance(field_value, Decimal) and not _is_amount(field_value):
            faults[self.encoded_name] = [f"The {self.human_name} field {AMOUNT_FAULT}"]
        elif self.choices and isinstance(field_value, str) and field_value not in self.choices():
            faults[self.encoded_name] = [f"The selected {self.human_name} is invalid."]

    def _convert(self, value: Any) -> Any:
        holder = msgspec.convert({self.encoded_name: value}, self.holder, str_keys=True)
        return getattr(holder, self.name)


def _is_text(kind: Any) -> bool:
    """Whether values of this type are texts, or words of a set."""
    info = kit_values.inspect(kind)
    if isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    if isinstance(info, msgspec.inspect.LiteralType):
        return all(isinstance(value, str) for value in info.values)
    if isinstance(info, msgspec.inspect.UnionType):
        return any(
            isinstance(part, msgspec.inspect.StrType | msgspec.inspect.LiteralType) for part in info.types
        )
    return isinstance(info, msgspec.inspect.StrType)


def parse_pairs(content: bytes, content_type: bytes = b"") -> Pairs:
    """The members of a JSON object as query parameters; a list becomes a repeated parameter.

    For routes that only read and accept their parameters in the body, where unknown ones are ignored
    as well. Raises MalformedBody, BodyIsForm or Invalid.
    """
    values = _decode_object(content, content_type)
    faults = _clean_texts(values)
    pairs: Pairs = []
    for name, value in values.items():
        is_list = isinstance(value, list)
        items = value if is_list else [value]
        if any(isinstance(item, dict | list) for item in items):
            printable = printable_name(name)
            faults.setdefault(printable, [f"The {humanize_name(printable)} field is invalid."])
            continue
        encoded_name = name + LIST_SUFFIX if is_list else name
        pairs += [(encoded_name, _query_text(item)) for item in items if item is not None]
    if faults:
        raise Invalid(dict(list(faults.items())[:FAULTS_MAX]))
    return pairs


def _query_text(value: str | float | bool) -> str:
    """A JSON value as a query string writes it: `true`, not `True`."""
    return value if isinstance(value, str) else json.dumps(value)


def _decode_object(content: bytes, content_type: bytes) -> dict[str, Any]:
    if not content.strip():
        return {}
    try:
        value = msgspec.json.decode(content)
    except msgspec.ValidationError as error:
        raise Invalid({WHOLE_BODY: ["The body has a number that is out of range."]}) from error
    except RecursionError as error:
        raise Invalid({WHOLE_BODY: [TOO_DEEP]}) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        value = _decode_with_surrogates(content)
        if value is None:
            # Many programs call JSON a form, so only what cannot be read is refused as one.
            if content_type.partition(b";")[0].strip().lower() in FORM_TYPES:
                raise BodyIsForm from error
            raise _malformed_body(content, str(error)) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid({WHOLE_BODY: ["The body must be an object."]})
    return value


def _malformed_body(content: bytes, message: str) -> MalformedBody:
    """The refusal with line and column, both from 1, of the first fault, and its cause in words."""
    try:
        content.decode()
        place = FAULT_BYTE.search(message)
        offset = int(place[1]) if place else len(content)
        cause = (message[: place.start()] if place else message).removeprefix("JSON is malformed: ")
    except UnicodeDecodeError as error:
        offset, cause = error.start, "this is no text in UTF-8"
    if cause == "invalid character":
        cause = f"{content[offset:].decode('utf-8', 'replace')[:1]!r} is not allowed here"
    before = content[:offset].decode("utf-8", "replace")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    return MalformedBody(line=line, column=column, cause=JSON_CAUSES.get(cause, cause))


def _decode_with_surrogates(content: bytes) -> Any:
    """The value of JSON whose only fault is a lone surrogate: that is the fault of one text."""
    if ESCAPED_SURROGATE.search(content) is None:
        return None
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _clean_texts(values: dict[str, Any]) -> dict[str, list[str]]:
    """Trim every text in place and return the values that cannot be stored, as faults.

    Raises Invalid when the body is too large or too deep.
    """
    faults: dict[str, list[str]] = {}
    waiting: list[tuple[Any, str, int]] = [(values, "", 1)]
    count = 0
    while waiting and len(faults) < FAULTS_MAX:
        container, prefix, depth = waiting.pop()
        count += len(container)
        if count > VALUES_MAX:
            raise Invalid({WHOLE_BODY: [f"The body must not have more than {VALUES_MAX} items."]})
        if depth > DEPTH_MAX:
            raise Invalid({WHOLE_BODY: [TOO_DEEP]})
        for key, value in _items(container):
            if type(value) is int and type(key) is int and abs(value) <= INTEGER_MAX:
                # Most lists are ids.
                continue
            if isinstance(value, dict | list):
                waiting.append((value, f"{prefix}{key}.", depth + 1))
                continue
            if isinstance(value, str):
                container[key] = kit_values.clean(value) or None
            if _is_unstorable(key) or _is_unstorable(value):
                path = printable_name(f"{prefix}{key}")
                faults[path] = [f"The {humanize_name(path)} field is not a text that can be stored."]
            elif isinstance(value, int | float) and abs(value) > INTEGER_MAX:
                path = printable_name(f"{prefix}{key}")
                faults[path] = [
                    f"The {humanize_name(path)} field must be between -{INTEGER_MAX} and {INTEGER_MAX}."
                ]
    return faults


def _items(container: Any) -> Iterator[tuple[Any, Any]]:
    """Keys or indexes and values; the container may be changed meanwhile."""
    return iter(list(container.items()) if isinstance(container, dict) else enumerate(container))


def _is_amount(value: Decimal) -> bool:
    return value.is_finite() and abs(value) <= AMOUNT_MAX and value == round(value, 2)


def _is_unstorable(value: Any) -> bool:
    return isinstance(value, str) and UNSTORABLE.search(value) is not None
