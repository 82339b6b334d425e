"""The published description of the interface (OpenAPI 3.1), generated from the endpoint table.

Nothing is written twice: titles are the routes' docstrings, shapes are the Structs, limits are
those that the parsers of queries and bodies keep to.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from silverball.kit.http.async_routes import Stream
from silverball.kit.http.endpoints import (
    ID_MAX,
    JSON,
    SVG,
    TOURNAMENT,
    WORD_LETTERS_MAX,
    Access,
    Endpoint,
    FileDownload,
    SvgImage,
)

Schema = dict[str, Any]

SCHEMA_REFERENCE = "#/components/schemas/{name}"
CSV = "text/csv; charset=utf-8"
EVENT_STREAM = "text/event-stream; charset=utf-8"
# Answers that are no JSON.
TEXT_CONTENT_TYPES: dict[Any, str] = {FileDownload: CSV, SvgImage: SVG, Stream: EVENT_STREAM}
BEARER_SCHEME = "token"
FLAG_DESCRIPTION = "A flag: 1, true, on or yes in any case is true, everything else is false."
BODY_PARAMETERS_DESCRIPTION = (
    "Changes nothing. The parameters may also be the members of a JSON object in the body."
)
ID_LIST_DESCRIPTION = "Ids separated by commas, at most {most}."
LIMIT_HEADERS = {
    "x-ratelimit-limit": {"description": "Requests a minute.", "schema": {"type": "integer"}},
    "x-ratelimit-remaining": {"description": "Requests left in this minute.", "schema": {"type": "integer"}},
}
REVISION_HEADER = {
    "x-tournament-revision": {
        "description": "The tournament's revision after the change; a read that sends it sees the change.",
        "schema": {"type": "integer"},
    }
}
REPLAYED_HEADER = {
    "idempotency-replayed": {
        "description": "`true` when this is the stored answer to a request that was sent before.",
        "schema": {"type": "string"},
    }
}
IDEMPOTENCY_KEY_PARAMETER = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request that is sent again with the same key within 24 hours acts once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
IF_MATCH_PARAMETER = {
    "name": "If-Match",
    "in": "header",
    "description": "The tournament's revision as the caller knows it: refused with 412 when it has moved on.",
    "schema": {"type": "string"},
}
STATUS_DESCRIPTIONS = {
    304: "Not changed since the ETag that If-None-Match names. Costs nothing of the allowance.",
    400: "The body is not JSON, or the tournament is of a format that has no such thing.",
    401: "No valid token.",
    403: "Not for this caller, or the page is too deep.",
    404: "There is no such thing.",
    409: "The state of things forbids it; the message says what to do.",
    410: "What is asked for is kept no longer.",
    412: "The tournament has changed since the revision that If-Match names.",
    413: "The body is too large.",
    422: "Something is wrong with the parameters or the body; every fault is named.",
    429: "Too many requests; Retry-After says how long to wait.",
    503: "The database is busy or full; nothing was changed. Retry-After says how long to wait.",
}


@dataclass(frozen=True, kw_only=True)
class OpenApiInfo:
    """What the description says of the whole."""

    title: str
    version: str
    base_url: str
    # Whether routes that can be opened need no token.
    public_read: bool
    # The shapes of a refusal, and of one with faults by field.
    error: type
    validation_error: type


def build_document(endpoints: Iterable[Endpoint], about: OpenApiInfo) -> Schema:
    """The whole description."""
    table = sorted(endpoints, key=lambda one: one.path)
    shapes = [
        shape for one in table for shape in _response_types(one.returns) if shape not in TEXT_CONTENT_TYPES
    ]
    bodies = [body for body in map(_request_body_type, table) if body is not None]
    asked: list[Any] = [about.error, about.validation_error, *dict.fromkeys([*shapes, *bodies])]
    schemas, components = msgspec.json.schema_components(asked, ref_template=SCHEMA_REFERENCE)
    schema_of = dict(zip(asked, schemas, strict=True))
    paths: Schema = {}
    for one in table:
        paths.setdefault(documented_path(one), {})[one.method.lower()] = _operation(one, about, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": about.title, "version": about.version},
        "servers": [{"url": about.base_url}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {BEARER_SCHEME: {"type": "http", "scheme": "bearer"}},
        },
    }


def documented_path(endpoint: Endpoint) -> str:
    """The path as documents write it: `/api/tournaments/{tournamentId}/games`."""
    path = endpoint.path
    for name in endpoint.parameters:
        path = path.replace(f"{{{name}}}", f"{{{_camel_case(name)}}}")
    return path


def _operation(endpoint: Endpoint, about: OpenApiInfo, schema_of: dict[Any, Schema]) -> Schema:
    needs_token = not (
        endpoint.access is Access.ANYONE or (endpoint.access is Access.OPENABLE and about.public_read)
    )
    responses: Schema = {str(endpoint.status): _success_response(endpoint, schema_of)}
    for status in _error_statuses(endpoint, needs_token=needs_token):
        responses[str(status)] = {"description": STATUS_DESCRIPTIONS[status]}
        if status != 304:
            shape = about.validation_error if status == 422 else about.error
            responses[str(status)]["content"] = {JSON: {"schema": schema_of[shape]}}
    operation: Schema = {
        "operationId": endpoint.handler.__name__,
        "summary": endpoint.title,
        "tags": [endpoint.path.split("/")[2]],
        "parameters": [
            *_path_parameters(endpoint),
            *_query_parameters(endpoint),
            *_header_parameters(endpoint),
        ],
        "responses": responses,
        "security": [{BEARER_SCHEME: []}] if needs_token else [{BEARER_SCHEME: []}, {}],
    }
    if endpoint.is_write:
        operation["description"] = f"Needs a token with the ability `{endpoint.ability}`."
    elif endpoint.accepts_body_parameters:
        operation["description"] = BODY_PARAMETERS_DESCRIPTION
    body = _request_body_type(endpoint)
    if body is not None:
        # What is asked may stand in the query just as well.
        is_needed = endpoint.is_write and any(field.required for field in msgspec.structs.fields(body))
        content = {JSON: {"schema": schema_of[body]}}
        operation["requestBody"] = {"required": is_needed, "content": content}
    return operation


def _request_body_type(endpoint: Endpoint) -> type[msgspec.Struct] | None:
    """What a body is described as; the one of a GET is only mentioned, as HTTP gives it no meaning."""
    if endpoint.accepts_body_parameters:
        return None if endpoint.method == "GET" else endpoint.query
    return endpoint.body


def _success_response(endpoint: Endpoint, schema_of: dict[Any, Schema]) -> Schema:
    shapes = _response_types(endpoint.returns)
    if shapes[0] in TEXT_CONTENT_TYPES:
        content: Schema = {TEXT_CONTENT_TYPES[shapes[0]]: {"schema": {"type": "string"}}}
    elif len(shapes) == 1:
        content = {JSON: {"schema": schema_of[shapes[0]]}}
    else:
        content = {JSON: {"schema": {"anyOf": [schema_of[shape] for shape in shapes]}}}
    return {"description": endpoint.title, "headers": _response_headers(endpoint), "content": content}


def _response_headers(endpoint: Endpoint) -> Schema:
    if not endpoint.is_write:
        return LIMIT_HEADERS
    below_tournament = TOURNAMENT in endpoint.parameters
    return {**LIMIT_HEADERS, **REPLAYED_HEADER, **(REVISION_HEADER if below_tournament else {})}


def _error_statuses(endpoint: Endpoint, *, needs_token: bool) -> list[int]:
    """The other statuses that this route really can have."""
    below_tournament = endpoint.path.startswith("/api/tournaments/{")
    is_paged = any(field.name == "page" for field in msgspec.structs.fields(endpoint.query))
    is_write = endpoint.is_write
    possible = {
        304: endpoint.method == "GET",
        400: is_write
        or endpoint.accepts_body_parameters
        or (below_tournament and endpoint.path.count("/") > 3),
        401: needs_token,
        403: is_write or below_tournament or is_paged,
        # A body can name what is not there.
        404: is_write or endpoint.accepts_body_parameters or bool(endpoint.parameters),
        409: is_write,
        412: is_write and TOURNAMENT in endpoint.parameters,
        410: endpoint.is_async,
        413: True,
        # Any query string can have too many items.
        422: True,
        429: True,
        503: True,
    }
    return [status for status, can_be in possible.items() if can_be]


def _path_parameters(endpoint: Endpoint) -> list[Schema]:
    an_id = {"type": "integer", "minimum": 1, "maximum": ID_MAX}
    schemas: dict[str, Schema] = {
        name: {"type": "string", "pattern": f"^(?:{pattern})$", "maxLength": WORD_LETTERS_MAX}
        for name, pattern in endpoint.words.items()
    }
    return [
        {"name": _camel_case(name), "in": "path", "required": True, "schema": schemas.get(name, an_id)}
        for name in endpoint.parameters
    ]


def _header_parameters(endpoint: Endpoint) -> list[Schema]:
    if not endpoint.is_write:
        return []
    return [IDEMPOTENCY_KEY_PARAMETER, *([IF_MATCH_PARAMETER] if TOURNAMENT in endpoint.parameters else [])]


def _query_parameters(endpoint: Endpoint) -> list[Schema]:
    listed = []
    for field in msgspec.structs.fields(endpoint.query):
        schema, meaning = _parameter_schema(msgspec.inspect.type_info(field.type))
        parameter: Schema = {"name": field.encode_name, "in": "query", "schema": schema}
        if field.required:
            parameter["required"] = True
        elif isinstance(field.default, int) and not isinstance(field.default, bool):
            schema["default"] = field.default
        if meaning:
            parameter["description"] = meaning
        listed.append(parameter)
    return listed


def _parameter_schema(kind: msgspec.inspect.Type) -> tuple[Schema, str]:
    """A parameter as its reader takes it (kit/http/query.py), and what cannot be said in a schema."""
    if isinstance(kind, msgspec.inspect.UnionType):
        kind = next(one for one in kind.types if not isinstance(one, msgspec.inspect.NoneType))
    if isinstance(kind, msgspec.inspect.BoolType):
        return {"type": "string"}, FLAG_DESCRIPTION
    if isinstance(kind, msgspec.inspect.VarTupleType) and isinstance(kind.item_type, msgspec.inspect.StrType):
        items, _ = _parameter_schema(kind.item_type)
        return {"type": "array", "items": items, "maxItems": kind.max_length}, ""
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return {"type": "string"}, ID_LIST_DESCRIPTION.format(most=kind.max_length)
    if isinstance(kind, msgspec.inspect.LiteralType):
        return {"type": "string", "enum": list(kind.values)}, ""
    if isinstance(kind, msgspec.inspect.IntType):
        limits = {"minimum": kind.ge, "maximum": kind.le}
        return {"type": "integer", **{name: at for name, at in limits.items() if at is not None}}, ""
    if isinstance(kind, msgspec.inspect.StrType):
        return {"type": "string", **({} if kind.max_length is None else {"maxLength": kind.max_length})}, ""
    raise TypeError(f"no schema for a query field of {kind}")


def _response_types(shape: Any) -> list[Any]:
    """`Data[A | B]` as `Data[A]` and `Data[B]`: two Structs in one union have no schema of their own."""
    origin, arguments = get_origin(shape), get_args(shape)
    if isinstance(origin, type) and issubclass(origin, msgspec.Struct) and len(arguments) == 1:
        envelope: Any = origin
        return [envelope[one] for one in _union_members(arguments[0])]
    return _union_members(shape)


def _union_members(shape: Any) -> list[Any]:
    return list(get_args(shape)) if get_origin(shape) in (Union, UnionType) else [shape]


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
