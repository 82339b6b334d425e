"""A recorded result reads as a story: the path in docs/how-it-works.md is the one that the code takes."""

import asyncio
import json
import re
from pathlib import Path

import asgi
import build
from house.call_path import CallPath, traceable_threads, traced
from silverball.store.database.engine import Store
from test_app import a_token, running_app

FILES_MAX = 20
PAGE = Path(__file__).parents[2] / "docs" / "how-it-works.md"
LISTED = re.compile(r"<!-- call path -->\n```\n(.*?)```", re.DOTALL)


def recorded_result(store: Store) -> CallPath:
    """The path of a result in the middle of a round of group match play, sent by its organizer."""
    organizer_id = build.a_user(store, role="organizer")
    token = a_token(store, organizer_id, ability="manage")
    created = {"name": "Thursday", "type": "group_matchplay"}
    _, answer, _ = build.do(store, "POST", "/api/tournaments", created, by=organizer_id)
    path = f"/api/tournaments/{answer['data']['tournamentId']}"
    players = [{"name": name} for name in "ABCDEFGHIJKL"]
    build.do(store, "POST", f"{path}/players", {"players": players}, by=organizer_id)
    build.do(store, "POST", f"{path}/start", by=organizer_id)
    _, drawn, _ = build.do(store, "POST", f"{path}/rounds", by=organizer_id)
    first, game, _ = drawn["games"]
    result = {"resultPositions": first["playerIds"]}
    body = json.dumps({"resultPositions": game["playerIds"]}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    with traceable_threads() as steps, running_app(store) as door:
        # The caller and the tournament are in memory from here on, as in mid-night.
        asgi.get(door, path, token=token)
        build.do(store, "PUT", f"{path}/games/{first['gameId']}/result", result, by=organizer_id)
        with traced(steps):
            address = f"{path}/games/{game['gameId']}/result"
            sent = asgi.send(door, address, method="PUT", token=token, body=body, headers=headers)
            reply = asyncio.run(sent)
    assert reply.status == 200, reply.body
    return steps


def listed_path() -> list[str]:
    """The steps in the document, without their comments."""
    block = LISTED.search(PAGE.read_text(encoding="utf-8"))
    assert block is not None, "docs/how-it-works.md has no <!-- call path -->"
    return [line.split("  #", maxsplit=1)[0].rstrip() for line in block[1].splitlines()]


def test_the_documented_path_of_a_result_is_the_one_that_it_takes(empty_sqlite: Path, tmp_path: Path) -> None:
    database = tmp_path / "silverball.db"
    database.write_bytes(empty_sqlite.read_bytes())
    store = Store(f"sqlite:///{database}")
    try:
        steps = recorded_result(store)
    finally:
        store.close()
    assert len(steps.files) <= FILES_MAX
    assert listed_path() == steps.steps, "the path is now:\n" + "\n".join(steps.steps)
