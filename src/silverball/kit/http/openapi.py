"""The published description of the interface (OpenAPI 3.1), generated from the endpoint table.

Nothing is written twice: titles are the routes' docstrings, schemas come from the Structs, and limits
are those that the parsers of queries and bodies enforce.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from silverball.kit.http.async_routes import Stream
from silverball.kit.http.endpoints import (
    JSON,
    SVG,
    TOURNAMENT,
    WORD_LETTERS_MAX,
    Access,
    Endpoint,
    FileDownload,
    SvgImage,
)
from silverball.kit.http.fields import ID_MAX
from silverball.kit.http.json_schema import Schema, json_schemas

CSV = "text/csv; charset=utf-8"
EVENT_STREAM = "text/event-stream; charset=utf-8"
# Results that are not sent as JSON.
TEXT_CONTENT_TYPES: dict[Any, str] = {FileDownload: CSV, SvgImage: SVG, Stream: EVENT_STREAM}
BEARER_SCHEME = "token"
FLAG_DESCRIPTION = "A flag: 1, true, on and yes, in any case, are true; everything else is false."
BODY_PARAMETERS_DESCRIPTION = "Changes nothing. The parameters can also be sent as a JSON object in the body."
ID_LIST_DESCRIPTION = "Ids separated by commas, at most {count_max}."
LIMIT_HEADERS = {
    "x-ratelimit-limit": {"description": "Requests per minute.", "schema": {"type": "integer"}},
    "x-ratelimit-remaining": {
        "description": "Requests left in this minute.",
        "schema": {"type": "integer"},
    },
}
REVISION_HEADER = {
    "x-tournament-revision": {
        "description": "The tournament's revision after the change. Send it with a read to see the change.",
        "schema": {"type": "integer"},
    }
}
REPLAYED_HEADER = {
    "idempotency-replayed": {
        "description": "`true` when this is the stored answer to an earlier request with the same key.",
        "schema": {"type": "string"},
    }
}
IDEMPOTENCY_KEY_PARAMETER = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request repeated with the same key within 24 hours takes effect once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
IF_MATCH_PARAMETER = {
    "name": "If-Match",
    "in": "header",
    "description": "The tournament's revision as the client knows it; 412 when it has changed since.",
    "schema": {"type": "string"},
}
STATUS_DESCRIPTIONS = {
    304: "Unchanged since the ETag in If-None-Match. Not counted against the rate limit.",
    400: "The body is not JSON, or the tournament's format has no such thing.",
    401: "No valid token.",
    403: "The caller may not do this, or the page is too deep.",
    404: "Not found.",
    409: "The state of the thing does not allow it; the message says what to do.",
    410: "The thing existed once and is kept no longer.",
    412: "The tournament has changed since the revision in If-Match.",
    413: "The body is too large.",
    422: "The parameters or the body are invalid; every fault is listed.",
    429: "Too many requests; Retry-After says when to try again.",
    503: "The database is busy or full, and nothing was changed; Retry-After says when to try again.",
}


@dataclass(frozen=True, kw_only=True)
class OpenApiInfo:
    """The parts of the description that do not depend on an endpoint."""

    title: str
    version: str
    base_url: str
    # Whether routes with Access.OPENABLE need no token.
    public_read: bool
    # The bodies of a refusal, and of one with faults by field.
    error: type
    validation_error: type


def build_document(endpoints: Iterable[Endpoint], info: OpenApiInfo) -> Schema:
    """The OpenAPI document of these endpoints."""
    routes = sorted(endpoints, key=lambda endpoint: endpoint.path)
    results = [
        kind for route in routes for kind in _response_types(route.returns) if kind not in TEXT_CONTENT_TYPES
    ]
    bodies = [body for body in map(_request_body_type, routes) if body is not None]
    described: list[Any] = [info.error, info.validation_error, *dict.fromkeys([*results, *bodies])]
    schemas, components = json_schemas(described)
    schema_of = dict(zip(described, schemas, strict=True))
    paths: Schema = {}
    for route in routes:
        operations = paths.setdefault(documented_path(route), {})
        operations[route.method.lower()] = _operation(route, info, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": info.title, "version": info.version},
        "servers": [{"url": info.base_url}],
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


def _operation(endpoint: Endpoint, info: OpenApiInfo, schema_of: dict[Any, Schema]) -> Schema:
    needs_token = not (
        endpoint.access is Access.ANYONE or (endpoint.access is Access.OPENABLE and info.public_read)
    )
    responses: Schema = {str(endpoint.status): _success_response(endpoint, schema_of)}
    for status in _error_statuses(endpoint, needs_token=needs_token):
        responses[str(status)] = {"description": STATUS_DESCRIPTIONS[status]}
        if status != 304:
            error = info.validation_error if status == 422 else info.error
            responses[str(status)]["content"] = {JSON: {"schema": schema_of[error]}}
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
        # Parameters of a read are sent in the query just as well.
        is_needed = endpoint.is_write and any(field.required for field in msgspec.structs.fields(body))
        content = {JSON: {"schema": schema_of[body]}}
        operation["requestBody"] = {"required": is_needed, "content": content}
    return operation


def _request_body_type(endpoint: Endpoint) -> type[msgspec.Struct] | None:
    """The described type of the body. For a GET there is none, since HTTP gives its body no meaning."""
    if endpoint.accepts_body_parameters:
        return None if endpoint.method == "GET" else endpoint.query
    return endpoint.body


def _success_response(endpoint: Endpoint, schema_of: dict[Any, Schema]) -> Schema:
    results = _response_types(endpoint.returns)
    if results[0] in TEXT_CONTENT_TYPES:
        content: Schema = {TEXT_CONTENT_TYPES[results[0]]: {"schema": {"type": "string"}}}
    elif len(results) == 1:
        content = {JSON: {"schema": schema_of[results[0]]}}
    else:
        content = {JSON: {"schema": {"anyOf": [schema_of[result] for result in results]}}}
    return {"description": endpoint.title, "headers": _response_headers(endpoint), "content": content}


def _response_headers(endpoint: Endpoint) -> Schema:
    if not endpoint.is_write:
        return LIMIT_HEADERS
    below_tournament = TOURNAMENT in endpoint.parameters
    return {**LIMIT_HEADERS, **REPLAYED_HEADER, **(REVISION_HEADER if below_tournament else {})}


def _error_statuses(endpoint: Endpoint, *, needs_token: bool) -> list[int]:
    """The statuses other than success that this route can answer with."""
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
        # A body can name something that does not exist.
        404: is_write or endpoint.accepts_body_parameters or bool(endpoint.parameters),
        409: is_write,
        412: is_write and TOURNAMENT in endpoint.parameters,
        410: endpoint.is_async,
        413: True,
        # A query string can have too many items on any route.
        422: True,
        429: True,
        503: True,
    }
    return [status for status, can_be in possible.items() if can_be]


def _path_parameters(endpoint: Endpoint) -> list[Schema]:
    id_schema = {"type": "integer", "minimum": 1, "maximum": ID_MAX}
    schemas: dict[str, Schema] = {
        name: {"type": "string", "pattern": f"^(?:{pattern})$", "maxLength": WORD_LETTERS_MAX}
        for name, pattern in endpoint.words.items()
    }
    return [
        {"name": _camel_case(name), "in": "path", "required": True, "schema": schemas.get(name, id_schema)}
        for name in endpoint.parameters
    ]


def _header_parameters(endpoint: Endpoint) -> list[Schema]:
    if not endpoint.is_write:
        return []
    return [IDEMPOTENCY_KEY_PARAMETER, *([IF_MATCH_PARAMETER] if TOURNAMENT in endpoint.parameters else [])]


def _query_parameters(endpoint: Endpoint) -> list[Schema]:
    parameters = []
    for field in msgspec.structs.fields(endpoint.query):
        schema, description = _parameter_schema(msgspec.inspect.type_info(field.type))
        parameter: Schema = {"name": field.encode_name, "in": "query", "schema": schema}
        if field.required:
            parameter["required"] = True
        elif isinstance(field.default, int) and not isinstance(field.default, bool):
            schema["default"] = field.default
        if description:
            parameter["description"] = description
        parameters.append(parameter)
    return parameters


def _parameter_schema(kind: msgspec.inspect.Type) -> tuple[Schema, str]:
    """The schema of a parameter as `query.py` reads it, and a description of what a schema cannot express."""
    if isinstance(kind, msgspec.inspect.UnionType):
        kind = next(part for part in kind.types if not isinstance(part, msgspec.inspect.NoneType))
    if isinstance(kind, msgspec.inspect.Metadata):
        schema, description = _parameter_schema(kind.type)
        return {**schema, **(kind.extra_json_schema or {})}, description
    if isinstance(kind, msgspec.inspect.BoolType):
        return {"type": "string"}, FLAG_DESCRIPTION
    if isinstance(kind, msgspec.inspect.VarTupleType) and isinstance(kind.item_type, msgspec.inspect.StrType):
        items, _ = _parameter_schema(kind.item_type)
        return {"type": "array", "items": items, "maxItems": kind.max_length}, ""
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return {"type": "string"}, ID_LIST_DESCRIPTION.format(count_max=kind.max_length)
    if isinstance(kind, msgspec.inspect.LiteralType):
        return {"type": "string", "enum": list(kind.values)}, ""
    if isinstance(kind, msgspec.inspect.IntType):
        limits = {"minimum": kind.ge, "maximum": kind.le}
        given_limits = {name: limit for name, limit in limits.items() if limit is not None}
        return {"type": "integer", **given_limits}, ""
    if isinstance(kind, msgspec.inspect.StrType):
        return {"type": "string", **({} if kind.max_length is None else {"maxLength": kind.max_length})}, ""
    raise TypeError(f"no schema for a query field of {kind}")


def _response_types(result: Any) -> list[Any]:
    """`Data[A | B]` as `Data[A]` and `Data[B]`: two Structs in one union have no schema of their own."""
    origin, arguments = get_origin(result), get_args(result)
    if isinstance(origin, type) and issubclass(origin, msgspec.Struct) and len(arguments) == 1:
        envelope: Any = origin
        return [envelope[member] for member in _union_members(arguments[0])]
    return _union_members(result)


def _union_members(result: Any) -> list[Any]:
    return list(get_args(result)) if get_origin(result) in (Union, UnionType) else [result]


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
