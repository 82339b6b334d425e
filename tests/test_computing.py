"""The whole program with its computing process: real processes over a real database."""

import asyncio
import json
from typing import Any

import asgi
import build
from silverball.kit.edge.front import FrontDoor
from silverball.store.database.engine import Store
from test_app import a_token, front_door

EVENING = {"players": 24, "machines": 12, "types": ["matchplay", "knockout"]}

__all__ = ["front_door"]


async def ask_for_plan(door: FrontDoor, token: str, **sent: Any) -> asgi.Reply:
    body = json.dumps({**EVENING, **sent}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    return await asgi.send(door, "/api/plan", method="POST", token=token, body=body, headers=headers)


def test_a_plan_is_the_same_from_the_computing_process(store: Store, front_door: FrontDoor) -> None:
    user_id = build.a_user(store)
    reply = asyncio.run(ask_for_plan(front_door, a_token(store, user_id)))
    assert reply.status == 200, reply.body
    _, here, _ = build.do(store, "POST", "/api/plan", EVENING, by=user_id)
    assert reply.json == here
    refused = asyncio.run(ask_for_plan(front_door, a_token(store, user_id, seed=8), players=501))
    assert (refused.status, list(refused.json["errors"])) == (422, ["players"])
