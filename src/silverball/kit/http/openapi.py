"""The published description of the interface (OpenAPI 3.1), generated from the endpoint table.

Nothing is written twice: titles are the routes' docstrings, schemas and their sentences come from the
Structs, and limits are those that the parsers of queries and bodies enforce.
"""

from collections.abc import Callable, Iterable, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from silverball.kit.http import openapi_parts as parts
from silverball.kit.http.async_routes import Stream
from silverball.kit.http.endpoints import (
    JSON,
    SVG,
    TOURNAMENT,
    Access,
    Endpoint,
    FileDownload,
    SvgImage,
)
from silverball.kit.http.field_texts import details_text
from silverball.kit.http.json_schema import Schema, json_schemas
from silverball.kit.http.query_schema import camel_case, path_parameters, query_parameters

CSV = "text/csv; charset=utf-8"
EVENT_STREAM = "text/event-stream; charset=utf-8"
# Results that are not sent as JSON.
TEXT_CONTENT_TYPES: dict[Any, str] = {FileDownload: CSV, SvgImage: SVG, Stream: EVENT_STREAM}
BEARER_SCHEME = "token"
BODY_PARAMETERS_NOTE = "Changes nothing. The parameters can also be sent as a JSON object in the body."
ACCESS_NOTES = {
    Access.OWN: "Needs a token; the answer is about the account that owns it.",
    Access.TOKEN: "Needs a token.",
    Access.OPENABLE: "Needs a token, unless the server is open to readers.",
    Access.ANYONE: "Needs no token.",
}


class Trial(Struct, frozen=True, kw_only=True):
    """Values with which an operation succeeds on this server: of its parameters, and its body."""

    parameters: Mapping[str, Any] = msgspec.field(default_factory=dict)
    body: Any = None


class OpenApiInfo(Struct, frozen=True, kw_only=True):
    """The parts of the description that do not depend on an endpoint."""

    title: str
    version: str
    base_url: str
    description: str = "The HTTP interface of this server."
    # Whether routes with Access.OPENABLE need no token.
    public_read: bool
    # The bodies of a refusal, and of one with faults by field.
    error: type
    validation_error: type
    # Tag -> its description, in the order of the page; and the tag of a path.
    tags: Mapping[str, str] = msgspec.field(default_factory=dict)
    tag_of: Callable[[str], str] = lambda path: path.split("/")[2]
    # Field name -> its sentence, where no class has one of its own.
    shared_texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    # Name of a shape -> an example of it.
    examples: Mapping[str, Any] = msgspec.field(default_factory=dict)
    # operationId -> values to try it with.
    trials: Mapping[str, Trial] = msgspec.field(default_factory=dict)
    # Where more is written for people, below `base_url`.
    handbook_path: str = ""


def build_document(endpoints: Iterable[Endpoint], info: OpenApiInfo) -> Schema:
    """The OpenAPI document of these endpoints."""
    routes = sorted(endpoints, key=lambda endpoint: endpoint.path)
    results = [
        kind for route in routes for kind in _response_types(route.returns) if kind not in TEXT_CONTENT_TYPES
    ]
    bodies = [body for body in map(_request_body_type, routes) if body is not None]
    described: list[Any] = [info.error, info.validation_error, *dict.fromkeys([*results, *bodies])]
    schemas, components = json_schemas(described, info.shared_texts)
    for name, example in info.examples.items():
        if name in components:
            components[name]["examples"] = [example]
    schema_of = dict(zip(described, schemas, strict=True))
    paths: Schema = {}
    for route in routes:
        operations = paths.setdefault(documented_path(route), {})
        operations[route.method.lower()] = _operation(route, info, schema_of)
    responses = parts.refusal_responses(schema_of[info.error], schema_of[info.validation_error])
    shared = {
        "schemas": components,
        "parameters": parts.share_parameters(paths),
        "headers": parts.HEADERS,
        "responses": responses,
    }
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": info.title,
            "version": info.version,
            "description": info.description,
            "contact": {"name": "The people who run this server", "url": info.base_url or "/"},
        },
        "servers": [{"url": info.base_url or "/"}],
        **_link_to_handbook(info),
        "tags": _tags(paths, info),
        "paths": paths,
    }
    used = parts.only_used(shared, document)
    schemes = {BEARER_SCHEME: {"type": "http", "scheme": "bearer"}}
    return {**document, "components": {**used, "securitySchemes": schemes}}


def _link_to_handbook(info: OpenApiInfo) -> Schema:
    if not info.handbook_path:
        return {}
    link = {"description": "The handbook of Silverball", "url": info.base_url + info.handbook_path}
    return {"externalDocs": link}


def documented_path(endpoint: Endpoint) -> str:
    """The path as documents write it: `/api/tournaments/{tournamentId}/games`."""
    path = endpoint.path
    for name in endpoint.parameters:
        path = path.replace(f"{{{name}}}", f"{{{camel_case(name)}}}")
    return path


def _tags(paths: Schema, info: OpenApiInfo) -> list[Schema]:
    """The tags in use, in the order of the page."""
    used = {operation["tags"][0] for path in paths.values() for operation in path.values()}
    listed = [name for name in info.tags if name in used]
    names = [*listed, *sorted(used.difference(listed))]
    return [{"name": name, "description": info.tags.get(name, name)} for name in names]


def _operation(endpoint: Endpoint, info: OpenApiInfo, schema_of: dict[Any, Schema]) -> Schema:
    needs_token = not (
        endpoint.access is Access.ANYONE or (endpoint.access is Access.OPENABLE and info.public_read)
    )
    operation_id = endpoint.handler.__name__
    trial = info.trials.get(operation_id, Trial())
    responses: Schema = {str(endpoint.status): _success_response(endpoint, schema_of)}
    for status in _error_statuses(endpoint, needs_token=needs_token):
        responses[str(status)] = {"$ref": f"#/components/responses/{parts.REFUSALS[status][0]}"}
    operation: Schema = {
        "operationId": operation_id,
        "summary": endpoint.title,
        "description": _description(endpoint),
        "tags": [info.tag_of(endpoint.path)],
        "parameters": [
            {**parameter, "example": trial.parameters[parameter["name"]]}
            if parameter["name"] in trial.parameters
            else parameter
            for parameter in _parameters(endpoint, info)
        ],
        "responses": responses,
        "security": [{BEARER_SCHEME: []}] if needs_token else [{BEARER_SCHEME: []}, {}],
    }
    body = _request_body_type(endpoint)
    if body is not None:
        # Parameters of a read are sent in the query just as well.
        is_needed = endpoint.is_write and any(field.required for field in msgspec.structs.fields(body))
        content: Schema = {"schema": schema_of[body]}
        if trial.body is not None:
            content["example"] = trial.body
        operation["requestBody"] = {"required": is_needed, "content": {JSON: content}}
    return operation


def _description(endpoint: Endpoint) -> str:
    """Return the details that the title leaves out, and the access that a caller needs."""
    if endpoint.is_write:
        note = f"Needs a token with the ability `{endpoint.ability}`."
    elif endpoint.accepts_body_parameters:
        note = BODY_PARAMETERS_NOTE
    else:
        note = ACCESS_NOTES[endpoint.access]
    return "\n\n".join(filter(None, (details_text(endpoint.handler.__doc__ or ""), note)))


def _parameters(endpoint: Endpoint, info: OpenApiInfo) -> list[Schema]:
    own = [
        *path_parameters(endpoint, info.shared_texts),
        *query_parameters(endpoint, info.shared_texts),
    ]
    if endpoint.is_write:
        return [*own, parts.IDEMPOTENCY_KEY, *([parts.IF_MATCH] if TOURNAMENT in endpoint.parameters else [])]
    return [*own, parts.IF_NONE_MATCH] if _has_etag(endpoint) else own


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
    names = dict(parts.LIMIT_HEADERS)
    if _has_etag(endpoint):
        names |= parts.READ_HEADERS
    if endpoint.is_write:
        names |= parts.REPLAYED_HEADER
        if TOURNAMENT in endpoint.parameters:
            names |= parts.REVISION_HEADERS
    return parts.header_references(names)


def _has_etag(endpoint: Endpoint) -> bool:
    return endpoint.method == "GET" and endpoint.returns is not Stream


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
        409: is_write or endpoint.can_conflict,
        412: is_write and TOURNAMENT in endpoint.parameters,
        410: endpoint.is_async,
        413: True,
        414: True,
        415: is_write or endpoint.accepts_body_parameters,
        # A query string can have too many items on any route.
        422: True,
        429: True,
        431: True,
        503: True,
    }
    return [status for status, can_be in possible.items() if can_be]


def _response_types(result: Any) -> list[Any]:
    """`Data[A | B]` as `Data[A]` and `Data[B]`: two Structs in one union have no schema of their own."""
    origin, arguments = get_origin(result), get_args(result)
    if isinstance(origin, type) and issubclass(origin, msgspec.Struct) and len(arguments) == 1:
        envelope: Any = origin
        return [envelope[member] for member in _union_members(arguments[0])]
    return _union_members(result)


def _union_members(result: Any) -> list[Any]:
    return list(get_args(result)) if get_origin(result) in (Union, UnionType) else [result]
