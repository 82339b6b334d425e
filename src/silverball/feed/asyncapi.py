"""The published description of the feed (AsyncAPI 3.0), generated from the events' own shapes."""

from urllib.parse import urlsplit

from silverball.feed.messages import PREFIXES
from silverball.kit.http.json_schema import SCHEMA_REFERENCE, Schema, json_schemas
from silverball.wire.events import EVENTS, FeedEvent

CLIENT_MESSAGES: dict[str, tuple[str, Schema]] = {
    "pusher:subscribe": (
        "Follow a tournament; with `resume`, get the events missed since that number too.",
        {
            "type": "object",
            "required": ["channel"],
            "properties": {
                "channel": {"type": "string", "pattern": "^tournaments\\.[0-9]+$"},
                "auth": {"type": "string"},
                "resume": {
                    "type": "object",
                    "required": ["epoch", "seq"],
                    "properties": {"epoch": {"type": "string"}, "seq": {"type": "integer", "minimum": 0}},
                },
            },
        },
    ),
    "pusher:unsubscribe": (
        "Follow a tournament no longer. There is no answer.",
        {"type": "object", "required": ["channel"], "properties": {"channel": {"type": "string"}}},
    ),
    "pusher:ping": ("Are you there?", {"type": "object"}),
    "pusher:pong": ("The answer to a ping of the server.", {"type": "object"}),
}
SERVER_MESSAGES: dict[str, str] = {
    "pusher:connection_established": (
        "The first message; `data` is JSON text: `socket_id`, `activity_timeout`."
    ),
    "pusher_internal:subscription_succeeded": (
        "Confirms a subscription; `data` is JSON text, with `epoch`, `seq` and `recovered` after a resume."
    ),
    "pusher:subscription_error": "Refuses a subscription; `data` is an object: `type`, `error`, `status`.",
    "pusher:signin_error": "Refuses a sign-in: all channels are public. `data`: `type`, `error`, `status`.",
    "pusher:error": "Reports a fault of a message or the connection; `data`: `code`, `message`.",
    "pusher:ping": "Are you there? Answer with `pusher:pong`.",
    "pusher:pong": "The answer to a ping.",
    "silverball:tick": "The position of a quiet channel. Only sent to clients that resume.",
}


def document(*, title: str, version: str, base_url: str) -> Schema:
    """The AsyncAPI document."""
    shapes = list(dict.fromkeys([*EVENTS.values(), FeedEvent]))
    schemas, components = json_schemas(shapes)
    schema_of = dict(zip(shapes, schemas, strict=True))
    feed_events = {
        name: _event_message(name, schema_of[shape], str(shape.__doc__)) for name, shape in EVENTS.items()
    }
    server_messages = {
        _component_name(name): _server_message(name, meaning) for name, meaning in SERVER_MESSAGES.items()
    }
    client_messages = {
        f"client{_component_name(name)}": _client_message(name, *about)
        for name, about in CLIENT_MESSAGES.items()
    }
    messages = {**feed_events, **server_messages, **client_messages}
    address = urlsplit(base_url)
    key = {"default": "silverball", "description": "An app key; it chooses the style of the names."}
    channel = "#/channels/tournament"
    return {
        "asyncapi": "3.0.0",
        "info": {"title": f"{title} feed", "version": version},
        "servers": {
            "here": {
                "host": address.netloc,
                "pathname": f"{address.path}/app/{{key}}",
                "protocol": "wss" if address.scheme == "https" else "ws",
                "description": "The Pusher protocol, version 7: ?protocol=7&client=NAME&version=X.Y.Z",
                "variables": {"key": key},
            }
        },
        "channels": {
            "tournament": {
                "address": "tournaments.{tournamentId}",
                "parameters": {"tournamentId": {"description": "The id of the tournament."}},
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
            }
        },
        "operations": {
            "follow": {
                "action": "send",
                "summary": "Messages of the server.",
                "channel": {"$ref": channel},
                "messages": [
                    {"$ref": f"{channel}/messages/{name}"} for name in (*feed_events, *server_messages)
                ],
            },
            "ask": {
                "action": "receive",
                "summary": "Messages of a client.",
                "channel": {"$ref": channel},
                "messages": [{"$ref": f"{channel}/messages/{name}"} for name in client_messages],
            },
        },
        "components": {"messages": messages, "schemas": components},
    }


def _event_message(name: str, payload: Schema, meaning: str) -> Schema:
    """A feed event, whose `data` is the payload as JSON text."""
    styles = ", ".join(f"`{prefix}{name}`" for prefix in PREFIXES.values())
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": payload}
    envelope = {
        "allOf": [{"$ref": SCHEMA_REFERENCE.format(name="FeedEvent")}, {"properties": {"data": data}}]
    }
    summary = meaning.splitlines()[0]
    return {"name": name, "summary": summary, "description": f"Sent as {styles}.", "payload": envelope}


def _server_message(name: str, meaning: str) -> Schema:
    payload = {"type": "object", "required": ["event"], "properties": {"event": {"const": name}}}
    return {"name": name, "summary": meaning, "payload": payload}


def _client_message(name: str, meaning: str, data: Schema) -> Schema:
    properties = {"event": {"const": name}, "data": data}
    payload = {"type": "object", "required": ["event"], "properties": properties}
    return {"name": name, "summary": meaning, "payload": payload}


def _component_name(name: str) -> str:
    """A message's name as a component key, without characters that a reference has to escape."""
    return "".join(part[:1].upper() + part[1:] for part in name.replace(":", "_").split("_"))
