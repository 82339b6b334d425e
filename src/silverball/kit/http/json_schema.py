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
    """A short name for a shape: `ArenaPage`, `ArenaData`, or `ArenaList` for a list under `data`."""
    match = ENVELOPE.fullmatch(title)
    if match is None:
        return title
    return match["item"] + ("List" if match["list"] else match["envelope"])


def _describe(component: Schema, struct: type[msgspec.Struct], shared_texts: Mapping[str, str]) -> None:
    """Give a shape and its properties their sentences."""
    component["description"] = summary_text(struct.__doc__ or "")
    if not component["required"]:
        del component["required"]
    texts = field_texts(struct)
    for field in msgspec.structs.fields(struct):
        text = texts.get(field.name) or shared_texts.get(field.name)
        if text:
            schema = component["properties"][field.encode_name]
            component["properties"][field.encode_name] = {**schema, "description": text}


def _struct_name(struct: Any) -> str:
    """The short name of a Struct, or of one with a type argument."""
    return struct.__name__ if isinstance(struct, type) else component_name(repr(struct))


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
    if tidied.get("type") == "array" and "items" not in tidied:
        # An array that is always empty.
        tidied["items"] = {}
    if isinstance(tidied.get("enum"), list) and "type" not in tidied:
        return {"type": _types_of(tidied["enum"]), **tidied}
    return {**NUMBER, **_without(tidied, DECIMAL)} if _has(tidied, DECIMAL) else tidied


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
    if len(parts) == 2 and NULL in parts:
        (part,) = [part for part in parts if part != NULL]
        if isinstance(part.get("type"), str):
            values = {"enum": [*part["enum"], None]} if "enum" in part else {}
            return {**part, "type": [part["type"], "null"], **values, **others}
    return {**others, "anyOf": parts}


def _types_of(values: list[Any]) -> str | list[str]:
    kinds = ["string"] if any(isinstance(value, str) for value in values) else ["integer"]
    return [*kinds, "null"] if None in values else kinds[0]


def _has(schema: Schema, part: Schema) -> bool:
    return part.items() <= {key: value for key, value in schema.items() if isinstance(value, str)}.items()


def _without(schema: Schema, part: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key not in part}
