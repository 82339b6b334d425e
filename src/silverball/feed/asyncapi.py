"""The published description of the feed (AsyncAPI 3.0), generated from the events' own shapes."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from silverball.feed.messages import PREFIXES
from silverball.kit.http.json_schema import SCHEMA_REFERENCE, Schema, json_schemas, summary_text, with_sizes
from silverball_wire.events import EVENTS, FeedEvent

DESCRIPTION = (
    "Changes of tournaments as they happen, over the Pusher protocol. Subscribe to `tournaments.ID`; every "
    "event has a number, and a client that returns names the newest one it has to get those it missed."
)
CHANNEL: Schema = {
    "type": "string",
    "pattern": "^tournaments\\.[0-9]+$",
    "description": "Channel of a tournament, such as `tournaments.1`.",
}
CLIENT_MESSAGES: dict[str, tuple[str, Schema]] = {
    "pusher:subscribe": (
        "Follow a tournament; with `resume`, get the events missed since that number too.",
        {
            "type": "object",
            "required": ["channel"],
            "properties": {
                "channel": CHANNEL,
                "auth": {"type": "string", "description": "Not needed: all channels are public."},
                "resume": {
                    "type": "object",
                    "description": "The newest event that the client has; later ones are sent first.",
                    "required": ["epoch", "seq"],
                    "properties": {
                        "epoch": {"type": "string", "description": "Numbering that the number belongs to."},
                        "seq": {"type": "integer", "minimum": 0, "description": "Number of that event."},
                    },
                },
                "compact": {
                    "type": "boolean",
                    "description": "Of too many missed events, send the newest of each thing that changed.",
                },
            },
        },
    ),
    "pusher:unsubscribe": (
        "Follow a tournament no longer. There is no answer.",
        {"type": "object", "required": ["channel"], "properties": {"channel": CHANNEL}},
    ),
    "pusher:ping": ("Are you there?", {"type": "object"}),
    "pusher:pong": ("The answer to a ping of the server.", {"type": "object"}),
}
SERVER_MESSAGES: dict[str, str] = {
    "pusher:connection_established": (
        "The first message; `data` is JSON text: `socket_id`, `activity_timeout`."
    ),
    "pusher_internal:subscription_succeeded": (
        "Confirms a subscription; `data` is JSON text, with `epoch`, `seq` and `recovered` after a resume,"
        " and `compacted` if only the newest event of each thing follows."
    ),
    "pusher:subscription_error": "Refuses a subscription; `data` is an object: `type`, `error`, `status`.",
    "pusher:signin_error": "Refuses a sign-in: all channels are public. `data`: `type`, `error`, `status`.",
    "pusher:error": "Reports a fault of a message or the connection; `data`: `code`, `message`.",
    "pusher:ping": "Are you there? Answer with `pusher:pong`.",
    "pusher:pong": "The answer to a ping.",
    "silverball:tick": "The position of a quiet channel. Only sent to clients that resume.",
}


class AsyncApiInfo(Struct, frozen=True, kw_only=True):
    """The parts of the description that are not the feed's own."""

    title: str
    version: str
    base_url: str
    # Field name -> its sentence, where no class has one of its own.
    shared_texts: Mapping[str, str] = msgspec.field(default_factory=dict)
    # Name of an event -> an example of it.
    examples: Mapping[str, Any] = msgspec.field(default_factory=dict)


def document(info: AsyncApiInfo) -> Schema:
    """The AsyncAPI document."""
    shapes = list(dict.fromkeys([*EVENTS.values(), FeedEvent]))
    schemas, components = json_schemas(shapes, info.shared_texts)
    schema_of = dict(zip(shapes, schemas, strict=True))
    feed_events = {
        name: _event_message(name, schema_of[shape], str(shape.__doc__), info.examples.get(name))
        for name, shape in EVENTS.items()
    }
    server_messages = {
        _component_name(name): _server_message(name, meaning) for name, meaning in SERVER_MESSAGES.items()
    }
    client_messages = {
        f"client{_component_name(name)}": _client_message(name, *about)
        for name, about in CLIENT_MESSAGES.items()
    }
    messages = {**feed_events, **server_messages, **client_messages}
    channel = "#/channels/tournament"
    described: Schema = {
        "asyncapi": "3.0.0",
        "info": _about(info),
        "servers": {"here": _server(info.base_url)},
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
                "description": "Every change of the tournament, in the order of `seq`, and the answers to a "
                "client's messages.",
                "channel": {"$ref": channel},
                "messages": [
                    {"$ref": f"{channel}/messages/{name}"} for name in (*feed_events, *server_messages)
                ],
            },
            "ask": {
                "action": "receive",
                "summary": "Messages of a client.",
                "description": "A client subscribes to tournaments, and pings when the line is quiet.",
                "channel": {"$ref": channel},
                "messages": [{"$ref": f"{channel}/messages/{name}"} for name in client_messages],
            },
        },
        "components": {"messages": messages, "schemas": components},
    }
    return with_sizes(described)  # type: ignore[no-any-return]  # a dict of a dict


def _about(info: AsyncApiInfo) -> Schema:
    return {
        "title": f"{info.title} feed",
        "version": info.version,
        "description": DESCRIPTION,
        "contact": {
            "name": "The people who run this server",
            "url": info.base_url or "/",
            # The mailbox that every domain has (RFC 2142).
            "email": f"postmaster@{urlsplit(info.base_url).hostname or 'localhost'}",
        },
        "license": {"name": "MIT"},
        "tags": [{"name": "feed", "description": "Changes of tournaments as they happen."}],
    }


def _server(base_url: str) -> Schema:
    address = urlsplit(base_url)
    key = {"default": "silverball", "description": "An app key; it chooses the style of the names."}
    return {
        "host": address.netloc,
        "pathname": f"{address.path}/app/{{key}}",
        "protocol": "wss" if address.scheme == "https" else "ws",
        "description": "The Pusher protocol, version 7: ?protocol=7&client=NAME&version=X.Y.Z",
        "variables": {"key": key},
    }


def _event_message(name: str, payload: Schema, meaning: str, example: Any) -> Schema:
    """A feed event, whose `data` is the payload as JSON text."""
    styles = ", ".join(f"`{prefix}{name}`" for prefix in PREFIXES.values())
    data = {
        "type": "string",
        "description": "The payload, as JSON in a string.",
        "contentMediaType": "application/json",
        "contentSchema": payload,
    }
    envelope = {
        "allOf": [{"$ref": SCHEMA_REFERENCE.format(name="FeedEvent")}, {"properties": {"data": data}}]
    }
    message: Schema = {
        "name": name,
        "summary": summary_text(meaning),
        "description": f"Sent as {styles}.",
        "payload": envelope,
    }
    return {**message, "examples": [{"name": name, "payload": example}]} if example else message


def _server_message(name: str, meaning: str) -> Schema:
    payload = {"type": "object", "required": ["event"], "properties": {"event": _event_name(name)}}
    return {"name": name, "summary": meaning, "payload": payload}


def _client_message(name: str, meaning: str, data: Schema) -> Schema:
    properties = {"event": _event_name(name), "data": {"description": "What the message says.", **data}}
    payload = {"type": "object", "required": ["event"], "properties": properties}
    return {"name": name, "summary": meaning, "payload": payload}


def _event_name(name: str) -> Schema:
    return {"type": "string", "const": name, "description": "Name of the message."}


def _component_name(name: str) -> str:
    """A message's name as a component key, without characters that a reference has to escape."""
    return "".join(part[:1].upper() + part[1:] for part in name.replace(":", "_").split("_"))
