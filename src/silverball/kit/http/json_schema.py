"""JSON schemas of Structs, as the OpenAPI and AsyncAPI documents publish them."""

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as msgspec_inspect

from silverball.kit import values

# The sentences below the fields of a Struct, as string literals, are what the published descriptions show.
# Python keeps no such texts, so they are read from the source, when the first description is built.


# What follows these in a docstring is for the project's own readers.
OWN_NOTES = (" Source: ", " Our addition")


def field_texts(struct: type) -> dict[str, str]:
    """Field name -> the sentence below it, in this class or in one that it inherits from."""
    texts: dict[str, str] = {}
    for kind in reversed(getattr(struct, "__origin__", struct).__mro__):
        texts |= _texts_of_module(kind.__module__).get(kind.__qualname__, {})
    return texts


def summary_text(docstring: str) -> str:
    """The first paragraph of a docstring on one line, without the note of its source."""
    paragraph = " ".join(inspect.cleandoc(docstring).split("\n\n")[0].split())
    for note in OWN_NOTES:
        paragraph = paragraph.partition(note)[0]
    return paragraph


def details_text(docstring: str) -> str:
    """The paragraphs after the first."""
    return "\n\n".join(inspect.cleandoc(docstring).split("\n\n")[1:])


@cache
def _texts_of_module(name: str) -> dict[str, dict[str, str]]:
    """Class name -> field name -> text, for the classes of one module."""
    try:
        source = inspect.getsource(sys.modules[name])
    except (KeyError, OSError, TypeError):
        # A module without source: the interpreter's own, or one typed into it.
        return {}
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return {node.name: _texts_of_class(node) for node in classes}


def _texts_of_class(node: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for field, below in zip(node.body, node.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        match below:
            case ast.Expr(value=ast.Constant(value=str(text))):
                texts[field.target.id] = " ".join(text.split())
    return texts


Schema = dict[str, Any]

SCHEMA_REFERENCE = "#/components/schemas/{name}"
REFERENCE = "$ref"
# `Data[tuple[silverball_wire.arenas.Arena, ...]]`: envelope, whether it holds a list, and what it holds.
ENVELOPE = re.compile(
    r"(?:\w+\.)*(?P<envelope>\w+)\[(?P<list>tuple\[)?(?:\w+\.)*(?P<item>\w+)(?:, \.\.\.\])?\]"
)
NUMBER = {"type": "number"}
# msgspec describes a Decimal by its text; a JSON number is read as well, and that is what clients send.
DECIMAL = {"type": "string", "format": "decimal"}
NULL = {"type": "null"}
ONLY_NULL = {"type": ["null"]}
# `NewArena` is the body that makes an `Arena`. In Go that is the name of the function that makes one.
INPUT = re.compile(r"New(?P<item>[A-Z]\w*)")
INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
# Their values are samples, not schemas.
SAMPLES = frozenset({"example", "examples"})
# What a schema says of one type only, so that a list of types may say it too.
NO_LIST = frozenset({REFERENCE, "anyOf", "enum", "const"})


def json_schemas(
    kinds: Iterable[Any], shared_texts: Mapping[str, str] | None = None
) -> tuple[tuple[Schema, ...], Schema]:
    """The schemas of these types in order, and the components that they refer to.

    A property's sentence is the text below its field, else the text of its name in `shared_texts`.
    """
    described = list(kinds)
    schemas, components = msgspec.json.schema_components(described, ref_template=SCHEMA_REFERENCE)
    structs = {_struct_name(struct): struct for struct in _structs_in(described)}
    names = {key: component_name(component.get("title", key)) for key, component in components.items()}
    assert len(set(names.values())) == len(names), "two schemas have one name"
    for key, component in components.items():
        component.pop("title", None)
        if names[key] in structs:
            _describe(component, structs[names[key]], shared_texts or {})
    references = {SCHEMA_REFERENCE.format(name=key): name for key, name in names.items()}
    tidied = tuple(_tidy(schema, references) for schema in schemas)
    return tidied, {names[key]: _tidy(component, references) for key, component in components.items()}


def component_name(title: str) -> str:
    """A short name for a shape: `ArenaPage`, `ArenaData`, `ArenaInput`, or `ArenaList` for a list."""
    match = ENVELOPE.fullmatch(title)
    if match is not None:
        return match["item"] + ("List" if match["list"] else match["envelope"])
    made = INPUT.fullmatch(title)
    return title if made is None else made["item"] + "Input"


def _describe(component: Schema, struct: type[msgspec.Struct], shared_texts: Mapping[str, str]) -> None:
    """Give a shape and its properties their sentences."""
    component["description"] = summary_text(struct.__doc__ or "")
    if not component["required"]:
        del component["required"]
    texts = field_texts(struct)
    for field in msgspec.structs.fields(struct):
        # Generators make a field with a default one that is always there.
        schema = dict(component["properties"][field.encode_name])
        text = with_default(
            texts.get(field.name) or shared_texts.get(field.name) or "", schema.pop("default", None)
        )
        component["properties"][field.encode_name] = {**schema, "description": text} if text else schema


def with_default(text: str, default: Any) -> str:
    """The sentence of a field with what it is when it is left out, unless that is nothing."""
    if default in (None, [], {}, "") or "default" in text:
        return text
    return f"{text} By default `{msgspec.json.encode(default).decode()}`.".strip()


def with_sizes(node: Any) -> Any:
    """The same document with the size of each integer, which many languages take for 32 bits otherwise."""
    if isinstance(node, list):
        return [with_sizes(part) for part in node]
    if not isinstance(node, dict):
        return node
    sized = {key: value if key in SAMPLES else with_sizes(value) for key, value in node.items()}
    kind = sized.get("type")
    if kind != "integer" and not (isinstance(kind, list) and "integer" in kind):
        return sized
    maximum = sized.get("maximum", INT64_MAX)
    # Clients that read numbers as floating point cannot hold this one.
    limits = {key: value for key, value in sized.items() if key != "maximum" or value != INT64_MAX}
    return {**limits, "format": "int32" if maximum <= INT32_MAX else "int64"}


def _struct_name(struct: Any) -> str:
    """The short name of a Struct, or of one with a type argument."""
    return component_name(struct.__name__ if isinstance(struct, type) else repr(struct))


def _structs_in(kinds: Iterable[Any]) -> Iterator[Any]:
    """Every Struct in these types, with its type arguments, once."""
    waiting: list[Any] = list(values.inspect_all(kinds))
    seen: set[Any] = set()
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, msgspec_inspect.StructType):
            if kind.cls in seen:
                continue
            seen.add(kind.cls)
            yield kind.cls
            waiting += [field.type for field in kind.fields]
        elif isinstance(kind, msgspec_inspect.UnionType):
            waiting += kind.types
        elif isinstance(kind, msgspec_inspect.Metadata):
            waiting.append(kind.type)
        elif isinstance(kind, msgspec_inspect.DictType):
            waiting += [kind.key_type, kind.value_type]
        elif isinstance(kind, msgspec_inspect.TupleType):
            waiting += kind.item_types
        elif isinstance(kind, msgspec_inspect.CollectionType):
            waiting.append(kind.item_type)


def _tidy(node: Any, references: Mapping[str, str]) -> Any:
    """The same schema in one spelling for each type, under the short names."""
    if isinstance(node, list):
        return [_tidy(part, references) for part in node]
    if not isinstance(node, dict):
        return node
    tidied: Schema = {key: _tidy(value, references) for key, value in node.items()}
    if isinstance(tidied.get(REFERENCE), str):
        target = tidied[REFERENCE]
        tidied[REFERENCE] = SCHEMA_REFERENCE.format(name=references.get(target, target))
    if isinstance(tidied.get("anyOf"), list):
        return _tidy_union(tidied)
    if tidied.get("type") == "array":
        _tidy_items(tidied)
    if isinstance(tidied.get("enum"), list) and "type" not in tidied:
        return {"type": _types_of(tidied["enum"]), **tidied}
    return {**NUMBER, **_without(tidied, DECIMAL)} if _has(tidied, DECIMAL) else tidied


def _tidy_items(array: Schema) -> None:
    """Say `items` in each array: generators know no list of what stands at each place."""
    first, *others = array.pop("prefixItems", [{}])
    if not array.get("items"):
        # Without a first, an array that is always empty.
        array["items"] = first if all(other == first for other in others) else {}


def _tidy_union(union: Schema) -> Schema:
    """A union with `number` for integers and numbers, and without `anyOf` where a list of types will do."""
    parts: list[Schema] = union["anyOf"]
    numbers = [part for part in parts if part.get("type") in ("integer", "number")]
    if len(numbers) > 1 and any(part["type"] == "number" for part in numbers):
        merged = {**numbers[0], **numbers[1], **NUMBER}
        parts = [merged, *(part for part in parts if part not in numbers)]
    others = _without(union, {"anyOf": None})
    if len(parts) == 1:
        return {**parts[0], **others}
    if NULL not in parts:
        return {**others, "anyOf": parts}
    shown = [part for part in parts if part != NULL]
    if len(shown) == 1 and isinstance(shown[0].get("type"), str):
        (part,) = shown
        values = {"enum": [*part["enum"], None]} if "enum" in part else {}
        return {**part, "type": [part["type"], "null"], **values, **others}
    kinds = [part.get("type") for part in shown]
    is_listable = NO_LIST.isdisjoint(key for part in shown for key in part)
    if is_listable and "integer" in kinds and len(kinds) > 1:
        # In a list of types, generators forget the size of the number; of a part that may be null, the null.
        number = next(part for part in shown if part["type"] == "integer")
        return {**others, "anyOf": [number, *(part for part in shown if part is not number), ONLY_NULL]}
    if is_listable and len(set(map(str, kinds))) == len(kinds):
        # Each of the limits holds for one of the types only.
        merged = {key: value for part in shown for key, value in part.items()}
        return {**merged, "type": [*kinds, "null"], **others}
    return {**others, "anyOf": parts}


def _types_of(values: list[Any]) -> str | list[str]:
    present = [value for value in values if value is not None]
    names = {bool: "boolean", int: "integer"}
    kind = next(
        (name for type_, name in names.items() if all(type(each) is type_ for each in present)), "string"
    )
    return [kind, "null"] if None in values else kind


def _has(schema: Schema, part: Schema) -> bool:
    return part.items() <= {key: value for key, value in schema.items() if isinstance(value, str)}.items()


def _without(schema: Schema, part: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key not in part}
