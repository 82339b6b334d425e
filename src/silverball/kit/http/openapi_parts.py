"""The headers, parameters and refusals that many operations of the OpenAPI document share."""

from collections.abc import Mapping
from typing import Any

from silverball.kit.http.json_schema import Schema

JSON = "application/json"
HEADERS: Schema = {
    "ETag": {
        "description": "The version of this answer. Send it as If-None-Match to learn when nothing changed.",
        "schema": {"type": "string"},
    },
    "Age": {
        "description": "The database cannot be reached, and this was the answer so many seconds ago; absent "
        "otherwise.",
        "schema": {"type": "integer", "minimum": 0, "maximum": 60},
    },
    "RateLimit": {"description": "Requests per minute.", "schema": {"type": "integer"}},
    "RateLimitRemaining": {"description": "Requests left in this minute.", "schema": {"type": "integer"}},
    "RateLimitReset": {
        "description": "When the minute ends and requests are accepted again, in Unix seconds.",
        "schema": {"type": "integer"},
    },
    "RetryAfter": {
        "description": "Seconds after which the same request can succeed.",
        "schema": {"type": "integer"},
    },
    "IgnoredParameters": {
        "description": "Names of the parameters that were ignored, because the route does not know them or "
        "their value; absent when there are none.",
        "schema": {"type": "string"},
    },
    "TournamentRevision": {
        "description": "The tournament's revision after the change. Send it with a read to see the change.",
        "schema": {"type": "integer"},
    },
    "TournamentTag": {
        "description": "The tournament's revision after the change, to be sent as If-Match. It also tells "
        "the revision from one with the same number that was lost when the database was restored.",
        "schema": {"type": "string"},
    },
    "IdempotencyReplayed": {
        "description": "`true` when this is the stored answer to an earlier request with the same key.",
        "schema": {"type": "string"},
    },
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
