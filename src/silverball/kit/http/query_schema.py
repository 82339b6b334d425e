"""The parameters of a route, described as `query.py` and the router read them."""

from collections.abc import Mapping

import msgspec
from msgspec import inspect

from silverball.kit import conversions
from silverball.kit.http.endpoints import WORD_LETTERS_MAX, Endpoint
from silverball.kit.http.field_texts import field_texts
from silverball.kit.http.fields import ID_MAX, marks_of
from silverball.kit.http.json_schema import Schema

ID_SCHEMA: Schema = {"type": "integer", "minimum": 1, "maximum": ID_MAX}
IGNORED_NOTE = "Any other value is ignored, and named in `X-Ignored-Parameters`."
ID_LIST_NOTE = "Ids separated by commas, at most {count_max}."


def path_parameters(endpoint: Endpoint, shared_texts: Mapping[str, str]) -> list[Schema]:
    """The ids and words in the path."""
    words: dict[str, Schema] = {
        name: {"type": "string", "pattern": f"^(?:{pattern})$", "maxLength": WORD_LETTERS_MAX}
        for name, pattern in endpoint.words.items()
    }
    parameters = []
    for name in endpoint.parameters:
        parameter: Schema = {"name": camel_case(name), "in": "path", "required": True}
        description = shared_texts.get(f"{name}_in_path") or shared_texts.get(name)
        if description:
            parameter["description"] = description
        parameters.append({**parameter, "schema": words.get(name, ID_SCHEMA)})
    return parameters


def query_parameters(endpoint: Endpoint, shared_texts: Mapping[str, str]) -> list[Schema]:
    """The fields of the query, with their sentences."""
    texts = {**shared_texts, **field_texts(endpoint.query)}
    parameters = []
    for field in msgspec.structs.fields(endpoint.query):
        schema, note = _parameter_schema(conversions.inspect(field.type))
        parameter: Schema = {"name": field.encode_name, "in": "query"}
        ignored = IGNORED_NOTE if marks_of(field.type).get("is_ignored_when_invalid") else ""
        description = " ".join(filter(None, (texts.get(field.name), note, ignored)))
        if description:
            parameter["description"] = description
        if field.required:
            parameter["required"] = True
        elif isinstance(field.default, int):
            schema["default"] = field.default
        parameters.append({**parameter, "schema": schema})
    return parameters


def camel_case(name: str) -> str:
    """`tournament_id` as the wire writes it: `tournamentId`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _parameter_schema(kind: inspect.Type) -> tuple[Schema, str]:
    """The schema of a parameter, and a sentence about what a schema cannot express."""
    if isinstance(kind, inspect.UnionType):
        kind = next(part for part in kind.types if not isinstance(part, inspect.NoneType))
    if isinstance(kind, inspect.Metadata):
        schema, note = _parameter_schema(kind.type)
        return {**schema, **(kind.extra_json_schema or {})}, note
    if isinstance(kind, inspect.BoolType):
        return {"type": "boolean"}, ""
    if isinstance(kind, inspect.VarTupleType) and isinstance(kind.item_type, inspect.StrType):
        items, _ = _parameter_schema(kind.item_type)
        return {"type": "array", "items": items, "maxItems": kind.max_length}, ""
    if isinstance(kind, inspect.VarTupleType):
        return {"type": "string"}, ID_LIST_NOTE.format(count_max=kind.max_length)
    if isinstance(kind, inspect.LiteralType):
        return {"type": "string", "enum": list(kind.values)}, ""
    if isinstance(kind, inspect.IntType):
        limits = {"minimum": kind.ge, "maximum": kind.le}
        given_limits = {name: limit for name, limit in limits.items() if limit is not None}
        return {"type": "integer", **given_limits}, ""
    if isinstance(kind, inspect.StrType):
        return {"type": "string", **({} if kind.max_length is None else {"maxLength": kind.max_length})}, ""
    raise TypeError(f"no schema for a query field of {kind}")
