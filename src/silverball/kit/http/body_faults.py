"""All faults in the value of one field of a body, nested lists and objects included, in known words."""

import re
import types
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.query import humanize_name
from silverball.kit.values import convert

NAME_CHARACTERS_MAX = 100
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
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
# msgspec's message -> the wording that existing clients know, after "The <name> field ". The first fault
# compiles the patterns, not each start.
FAULT_SENTENCES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"Expected `str` of length >= 1\Z", "is required."),
    (r"Expected `str` of length >= (\d+)", r"must be at least \1 characters."),
    (r"Expected `str` of length <= (\d+)", r"must not be greater than \1 characters."),
    (r"Expected `(?:array|object)` of length >= (\d+)", r"must have at least \1 items."),
    (r"Expected `(?:array|object)` of length <= (\d+)", r"must not have more than \1 items."),
    (r"Expected `\w+` >= ([-\d.]+)", r"must be at least \1."),
    (r"Expected `\w+` <= ([-\d.]+)", r"must not be greater than \1."),
    (r"Expected `\w+` > ([-\d.]+)", r"must be greater than \1."),
    (r"Expected `\w+` < ([-\d.]+)", r"must be less than \1."),
    (r"Expected `\w+` that's a multiple of ([\d.]+)", r"must be a multiple of \1."),
    (r"Expected `str` matching", "format is invalid."),
    (r"Expected `([^`]+)`", lambda match: f"must be {_kind_names(match[1])}."),
    (r"Invalid decimal", "must be a number."),
    (r"Invalid RFC3339", "must be a valid date."),
)
# Where in the value it is; the path is known by the time the message is read.
FAULT_PLACE = re.compile(r" - at (?:`key` in )?`\$.*`\Z", re.DOTALL)
Fault = tuple[str, str]
# What JSON holds the values of these kinds in; those of a Struct are in an object.
_HELD_IN: dict[Any, type] = {tuple: list, list: list, frozenset: list, set: list, dict: dict}


def faults_in(kind: Any, value: Any, path: str, *, is_required: bool = False) -> Iterator[Fault]:
    """Path and sentence of each fault of the value, innermost ones first; nothing where it has none."""
    try:
        convert(value, kind, str_keys=True)
    except Invalid as refusal:
        yield from _within(kind, value, path, refusal)
    except msgspec.ValidationError as error:
        inner = False
        for fault in _faults_of_parts(kind, value, path):
            inner = True
            yield fault
        if not inner:
            yield path, _sentence(str(error), value, path, is_required=is_required)


def _within(kind: Any, value: Any, path: str, refusal: Invalid) -> Iterator[Fault]:
    """The faults of the parts; of an object whose parts are right, what its fields say of each other."""
    inner = False
    for fault in _faults_of_parts(kind, value, path):
        inner = True
        yield fault
    for name, sentences in {} if inner else refusal.errors.items():
        yield from ((f"{path}.{name}", sentence) for sentence in sentences)


def _faults_of_parts(kind: Any, value: Any, path: str) -> Iterator[Fault]:
    """The faults of the items of a list, of the pairs of an object, or of the fields of a Struct."""
    # Which of two kinds of objects was meant, nobody can say.
    parts = [part for part in _alternatives(kind) if _may_hold(part, value)]
    for part in parts if len(parts) == 1 else ():
        origin, arguments = _origin(part), get_args(part)
        if origin in _HELD_IN and origin is not dict:
            if not arguments:
                return
            for place, item in enumerate(value):
                # A tuple of several kinds has one for each place.
                is_row = origin is tuple and Ellipsis not in arguments
                own = arguments[min(place, len(arguments) - 1)] if is_row else arguments[0]
                yield from faults_in(own, item, f"{path}.{place}")
        elif origin is dict and arguments:
            yield from _faults_of_pairs(arguments, value, path)
        elif isinstance(origin, type) and issubclass(origin, msgspec.Struct):
            yield from _faults_of_fields(origin, value, path)


def _may_hold(kind: Any, value: Any) -> bool:
    """Whether a value of this kind has parts that the value may have."""
    origin = _origin(kind)
    is_object = isinstance(origin, type) and issubclass(origin, msgspec.Struct)
    return isinstance(value, dict if is_object else _HELD_IN.get(origin, ()))


def _origin(kind: Any) -> Any:
    return get_origin(kind) or kind


def _faults_of_pairs(kinds: tuple[Any, ...], value: dict[str, Any], path: str) -> Iterator[Fault]:
    for key, member in value.items():
        own_path = f"{path}.{printable_name(key)}"
        try:
            convert({key: None}, dict[kinds[0], Any], str_keys=True)  # type: ignore[valid-type]
        except msgspec.ValidationError as error:
            yield own_path, _sentence(str(error), key, own_path)
            continue
        yield from faults_in(kinds[1], member, own_path)


def _faults_of_fields(kind: type[msgspec.Struct], value: dict[str, Any], path: str) -> Iterator[Fault]:
    fields = {info.encode_name: info for info in msgspec.structs.fields(kind)}
    for name in value:
        if name not in fields and kind.__struct_config__.forbid_unknown_fields:
            own_path = f"{path}.{printable_name(name)}"
            yield own_path, f"The {humanize_name(own_path)} field is prohibited."
    for name, info in fields.items():
        own_path = f"{path}.{name}"
        if name in value:
            yield from faults_in(info.type, value[name], own_path)
        elif info.required:
            yield own_path, f"The {humanize_name(own_path)} field is required."


def _alternatives(kind: Any) -> Iterator[Any]:
    """The kinds that a value may have, without marks, null and absence."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in {Union, types.UnionType}:
        for part in get_args(kind):
            yield from _alternatives(part)
    elif kind not in {type(None), UnsetType}:
        yield kind


def _sentence(message: str, value: Any, path: str, *, is_required: bool = False) -> str:
    """The sentence of msgspec's message about this value."""
    message = FAULT_PLACE.sub("", message)
    name = humanize_name(path)
    if message.startswith(("Invalid enum value", "Invalid value")):
        return f"The selected {name} is invalid."
    if value is None and is_required:
        return f"The {name} field is required."
    return f"The {name} field {_fault_sentence(message)}"


def printable_name(name: str) -> str:
    """A name that the client made up, in a form that an answer can contain."""
    return UNSTORABLE.sub("\ufffd", name)[:NAME_CHARACTERS_MAX]


def _fault_sentence(message: str) -> str:
    for pattern, ending in FAULT_SENTENCES:
        match = re.match(pattern, message)
        if match:
            return ending(match) if callable(ending) else match.expand(ending)
    return "is invalid."


def _kind_names(kinds: str) -> str:
    """`int | str | null` as a phrase: an integer or a string."""
    names = dict.fromkeys(KIND_NAMES.get(kind, "valid") for kind in kinds.split(" | ") if kind != "null")
    return " or ".join(names) or "null"
