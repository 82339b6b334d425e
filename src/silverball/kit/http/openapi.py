"""The published description of the interface (OpenAPI 3.1), generated from the endpoint table.

Nothing is written twice: titles are the routes' docstrings, schemas and their sentences come from the
Structs, and limits are those that the parsers of queries and bodies enforce.
"""

from collections.abc import Callable, Iterable, Mapping
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct, inspect

from silverball.kit import values
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import (
    JSON,
    SVG,
    TOURNAMENT,
    WORD_LETTERS_MAX,
    Access,
    Endpoint,
    FileDownload,
    Stream,
    SvgImage,
)
from silverball.kit.http.fields import ID_MAX, marks_of
from silverball.kit.http.json_schema import (
    Schema,
    details_text,
    field_texts,
    json_schemas,
    with_default,
    with_sizes,
)
from silverball.kit.http.multipart import MULTIPART


def _header(kind: str, description: str, **limits: Any) -> Schema:
    """A header of answers."""
    return {"description": description, "schema": {"type": kind, **limits}}


HEADERS: Schema = {
    "ETag": _header(
        "string", "The version of this answer. Send it as If-None-Match to learn when nothing changed."
    ),
    "Age": _header(
        "integer",
        "This was the answer so many seconds ago: the database cannot be reached, or these are standings of"
        " a running tournament that you are given again. Absent otherwise.",
        minimum=0,
        maximum=60,
    ),
    "RateLimit": _header("integer", "Requests per minute."),
    "RateLimitRemaining": _header("integer", "Requests left in this minute."),
    "RateLimitReset": _header(
        "integer", "When the minute ends and requests are accepted again, in Unix seconds."
    ),
    "RetryAfter": _header("integer", "Seconds after which the same request can succeed."),
    "IgnoredParameters": _header(
        "string",
        "Names of the parameters that were ignored, because the route does not know them or their"
        " value; absent when there are none.",
    ),
    "TournamentRevision": _header(
        "integer",
        "The tournament's revision after the change, or that of standings with an age. Send it with a read"
        " to see at least that.",
    ),
    "TournamentTag": _header(
        "string",
        "The tournament's revision after the change, to be sent as If-Match. It also tells the"
        " revision from one with the same number that was lost when the database was restored.",
    ),
    "IdempotencyReplayed": _header(
        "string", "`true` when this is the stored answer to an earlier request with the same key."
    ),
}
# Header on the wire -> its name among the components.
LIMIT_HEADERS = {"X-RateLimit-Limit": "RateLimit", "X-RateLimit-Remaining": "RateLimitRemaining"}
READ_HEADERS = {"ETag": "ETag", "Age": "Age", "X-Ignored-Parameters": "IgnoredParameters"}
REVISION_HEADERS = {"X-Tournament-Revision": "TournamentRevision", "X-Tournament-Tag": "TournamentTag"}
REPLAYED_HEADER = {"Idempotency-Replayed": "IdempotencyReplayed"}
RETRY_HEADER = {"Retry-After": "RetryAfter"}
REFUSAL_HEADERS: dict[int, dict[str, str]] = {
    304: {"ETag": "ETag", "Age": "Age"},
    412: REVISION_HEADERS,
    429: {**LIMIT_HEADERS, "X-RateLimit-Reset": "RateLimitReset", **RETRY_HEADER},
    503: RETRY_HEADER,
}
IF_NONE_MATCH: Schema = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of the answer that the client has; 304 without a body when it still holds.",
    "schema": {"type": "string"},
}
IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request repeated with the same key within 24 hours takes effect once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
IF_MATCH: Schema = {
    "name": "If-Match",
    "in": "header",
    "description": "The tournament's tag, or revision, as the client knows it; 412 when it has changed.",
    "schema": {"type": "string"},
}
# Status -> name among the components, and meaning.
REFUSALS: dict[int, tuple[str, str]] = {
    304: ("NotModified", "Unchanged since the ETag in If-None-Match. Not counted against the rate limit."),
    400: ("BadRequest", "The body is not JSON, or the tournament's format has no such thing."),
    401: ("Unauthenticated", "No valid token."),
    403: ("NotAllowed", "The caller may not do this, or the page is too deep."),
    404: ("NotFound", "Not found."),
    409: ("Conflict", "The state of the thing does not allow it; the message says what to do."),
    410: ("Gone", "The thing existed once and is kept no longer."),
    412: ("Outdated", "The tournament has changed since the revision in If-Match."),
    413: ("TooLarge", "The body is too large."),
    414: ("AddressTooLong", "The address is longer than 64 KB."),
    415: ("BodyIsForm", "The body is a form; JSON is wanted."),
    422: ("Invalid", "The parameters or the body are invalid; every fault is listed."),
    429: ("TooManyAttempts", "Too many requests; Retry-After says when to try again."),
    431: ("HeadTooLarge", "The headers are larger than 64 KB, or more than 100 lines."),
    503: (
        "Unavailable",
        "The database is busy or full, and nothing was changed; Retry-After says when to try again.",
    ),
}


def header_references(names: Mapping[str, str]) -> Schema:
    """Headers as a response lists them."""
    return {wire_name: {"$ref": f"#/components/headers/{name}"} for wire_name, name in names.items()}


def refusal_responses(error: Schema, validation_error: Schema) -> Schema:
    """Every refusal, by its name among the components."""
    responses: Schema = {}
    for status, (name, meaning) in REFUSALS.items():
        response: Schema = {"description": meaning}
        if status in REFUSAL_HEADERS:
            response["headers"] = header_references(REFUSAL_HEADERS[status])
        if status != 304:
            response["content"] = {JSON: {"schema": validation_error if status == 422 else error}}
        responses[name] = response
    return responses


def share_parameters(paths: Schema) -> Schema:
    """Move parameters that several operations have in one form to the components, and return those."""
    operations = [operation for path in paths.values() for operation in path.values()]
    forms: dict[str, list[Schema]] = {}
    for operation in operations:
        for parameter in operation["parameters"]:
            forms.setdefault(_shared_name(parameter), []).append(parameter)
    shared = {name: max(given, key=given.count) for name, given in forms.items()}
    shared = {name: form for name, form in sorted(shared.items()) if forms[name].count(form) > 1}
    for operation in operations:
        operation["parameters"] = [_shared_or_own(parameter, shared) for parameter in operation["parameters"]]
    return shared


def _shared_or_own(parameter: Schema, shared: Schema) -> Schema:
    name = _shared_name(parameter)
    return {"$ref": f"#/components/parameters/{name}"} if shared.get(name) == parameter else parameter


def _shared_name(parameter: Schema) -> str:
    name: str = parameter["name"]
    words = "".join(word[:1].upper() + word[1:] for word in name.split("-"))
    return words if parameter["in"] != "path" else f"{words}InPath"


def only_used(components: Schema, document: Schema) -> Schema:
    """The components that the document refers to, directly or through others."""
    waiting: list[Any] = [document]
    used: set[str] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            reference = node.get("$ref")
            if isinstance(reference, str) and reference not in used:
                used.add(reference)
                _, _, section, name = reference.split("/")
                waiting.append(components[section][name])
    return {
        section: {name: part for name, part in listed.items() if f"#/components/{section}/{name}" in used}
        for section, listed in components.items()
    }


# The parameters of a route, described as `query.py` and the router read them.


ID_SCHEMA: Schema = {"type": "integer", "minimum": 1, "maximum": ID_MAX}
IGNORED_NOTE = "Any other value is ignored, and named in `X-Ignored-Parameters`."
IGNORED_WORD_NOTE = "A word in place of the id is ignored, and named in `X-Ignored-Parameters`."
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
        schema, note = _parameter_schema(values.inspect(field.type))
        parameter: Schema = {"name": field.encode_name, "in": "query"}
        marks = marks_of(field.type)
        ignored = IGNORED_NOTE if marks.get("is_ignored_when_invalid") else ""
        ignored = IGNORED_WORD_NOTE if marks.get("is_ignored_when_a_word") else ignored
        # A false flag is as good as none.
        default = field.default if isinstance(field.default, int) and field.default else None
        text = with_default(texts.get(field.name, ""), default)
        description = " ".join(filter(None, (text, note, ignored)))
        if description:
            parameter["description"] = description
        if field.required:
            parameter["required"] = True
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


CSV = "text/csv; charset=utf-8"
EVENT_STREAM = "text/event-stream; charset=utf-8"
# The component of a body as a form, and the file in one.
FORM_SUFFIX = "Form"
FILE_SCHEMA = {"format": "binary", "contentMediaType": "application/octet-stream"}
FILE_TEXT = "The file as it is, with its name."
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
    for body in dict.fromkeys(route.body for route in routes if route.takes_file and route.body):
        name = _referred_name(schema_of[body])
        components[name + FORM_SUFFIX] = _form_schema(components[name], body)
    paths: Schema = {}
    for route in routes:
        operations = paths.setdefault(documented_path(route), {})
        operations[route.method.lower()] = _operation(route, info, schema_of)
    responses = refusal_responses(schema_of[info.error], schema_of[info.validation_error])
    shared = {
        "schemas": components,
        "parameters": share_parameters(paths),
        "headers": HEADERS,
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
    used = only_used(shared, document)
    schemes = {BEARER_SCHEME: {"type": "http", "scheme": "bearer"}}
    described_document: Schema = with_sizes({**document, "components": {**used, "securitySchemes": schemes}})
    return described_document


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
        responses[str(status)] = {"$ref": f"#/components/responses/{REFUSALS[status][0]}"}
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
        contents: Schema = {JSON: content}
        if endpoint.takes_file:
            contents[MULTIPART.decode()] = {"schema": {"$ref": schema_of[body]["$ref"] + FORM_SUFFIX}}
        operation["requestBody"] = {"required": is_needed, "content": contents}
    return operation


def _referred_name(reference: Schema) -> str:
    """The name of the component that a reference leads to."""
    return str(reference["$ref"]).rpartition("/")[2]


def _form_schema(component: Schema, body: type[Body]) -> Schema:
    """The form with a file that is read as this body: a field that is no text is JSON."""
    properties: Schema = {}
    needed = []
    for field in msgspec.structs.fields(body):
        if field.name in body.instead_of_file:
            continue
        schema = component["properties"][field.encode_name]
        if schema.get("contentEncoding") == "base64":
            schema = {"type": "string", **FILE_SCHEMA, "description": FILE_TEXT}
            needed.append(field.encode_name)
        elif schema.get("type") in ("array", "object"):
            # Generators would send a part for each element.
            text = {"type": "string", "contentMediaType": JSON, "contentSchema": schema}
            sentence = " ".join(filter(None, (schema.get("description"), "As JSON.")))
            schema = {**text, "description": sentence}
        properties[field.encode_name] = schema
    description = f"{component.get('description', '')} As a form with a file.".strip()
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }


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
        return [*own, IDEMPOTENCY_KEY, *([IF_MATCH] if TOURNAMENT in endpoint.parameters else [])]
    return [*own, IF_NONE_MATCH] if _has_etag(endpoint) else own


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
    names = dict(LIMIT_HEADERS)
    if _has_etag(endpoint):
        names |= READ_HEADERS
    if endpoint.is_write:
        names |= REPLAYED_HEADER
        if TOURNAMENT in endpoint.parameters:
            names |= REVISION_HEADERS
    return header_references(names)


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
