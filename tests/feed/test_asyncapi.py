"""The published description of the feed matches the messages that are sent."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft7Validator, Draft202012Validator

import asgi
import build
from mirror import Mirror
from service.desk import a_desk
from silverball import app
from silverball.feed import messages
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball_wire.events import EVENTS

SPECS = Path(__file__).parents[1] / "clients" / "node_modules" / "@asyncapi" / "specs" / "schemas"
DESCRIPTION: Any = json.loads(app.asyncapi_document(Settings(base_url=build.BASE_URL)))


def test_the_description_is_one_of_asyncapi_3() -> None:
    file = SPECS / "3.0.0-without-$id.json"
    if not file.exists():
        pytest.skip("tests/clients is not installed (npm ci --prefix tests/clients)")
    faults = [
        fault.message for fault in Draft7Validator(json.loads(file.read_text())).iter_errors(DESCRIPTION)
    ]
    assert faults == []


def test_it_is_public(store: Store) -> None:
    reply = asgi.get(app.build(store, Settings(base_url=build.BASE_URL)), "/asyncapi.json")
    assert reply.status == 200
    assert reply.json == DESCRIPTION


def test_every_text_of_the_protocol_is_described() -> None:
    names = {message["name"] for message in DESCRIPTION["components"]["messages"].values()}
    texts = (
        messages.connection_established("1.2"),
        messages.PING,
        messages.PONG,
        messages.error(4100, ""),
        messages.subscription_succeeded("c"),
        messages.subscription_resumed("c", "e", 1, recovered=True),
        messages.subscription_error("c", "NotFound", "", 404),
        messages.signin_error(""),
        messages.tick("c", "e", 1),
    )
    assert {json.loads(text)["event"] for text in texts} <= names


def test_every_event_is_described_and_every_sent_one_is_as_described(store: Store) -> None:
    described_as = DESCRIPTION["components"]["messages"]
    assert set(EVENTS) <= set(described_as)
    desk = a_desk(store, suggestions="restricted")
    game = desk.open_round()[0]
    desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    desk.ok("PATCH", "", {"name": "Friday"})
    desk.ok("POST", "/players", {"name": "Late Lena"})
    assert isinstance(desk.mirror, Mirror)
    assert len({event.name for event in desk.mirror.seen}) > 3
    for event in desk.mirror.seen:
        described = described_as[event.name]["payload"]["allOf"][1]["properties"]["data"]["contentSchema"]
        schema = {**described, "components": DESCRIPTION["components"]}
        Draft202012Validator(schema).validate(json.loads(event.data))
