"""The first answer begun after an opt-out knows of it, whatever was kept before."""

import pytest

import asgi
import build
import canaries
from canaries import IFPA_CANARY
from silverball.kit.edge.front import FrontDoor
from silverball.store import tables
from silverball.store.database.engine import Store
from test_app import a_token, running_app

TRACES = ("canary", str(IFPA_CANARY))


def hide(front_door: FrontDoor, token: str, flag: str) -> None:
    body = b'{"%s":true}' % flag.encode()
    headers = {"content-length": str(len(body))}
    path = "/api/users/profile"
    reply = asgi.get(front_door, path, method="PATCH", token=token, body=body, headers=headers)
    assert reply.status == 200


def test_no_kept_answer_outlives_a_hidden_profile(store: Store) -> None:
    night = build.a_tournament(store)
    user_id = build.a_user(store, role="organizer", **canaries.PROFILE)
    player_id = build.a_player(store, night.organizer_id, claimed_by=user_id, ifpa_id=IFPA_CANARY)
    at = {"tournament_id": night.tournament_id}
    build.row(store, tables.entrant, **at, player_id=player_id, place=9)
    build.row(store, tables.scorekeeper, **at, user_id=user_id)
    stranger, own = a_token(store, build.a_user(store)), a_token(store, user_id, 8, "score")
    tournament = f"/api/tournaments/{night.tournament_id}"
    paths = (
        f"/api/users/{user_id}",
        f"{tournament}?includePlayers=1&includeScorekeepers=1",
        f"{tournament}/players",
        f"/api/players/resolve-unknown?players={player_id}",
    )
    with running_app(store) as front_door:
        kept = {path: asgi.get(front_door, path, token=stranger) for path in paths}
        for path, reply in kept.items():
            again = {"if-none-match": reply.headers["etag"]}
            assert asgi.get(front_door, path, token=stranger, headers=again).status == 304
            assert any(trace in reply.body.decode() for trace in TRACES)
        hide(front_door, own, "profileOptOut")
        for path, reply in kept.items():
            for headers in ({}, {"if-none-match": reply.headers["etag"]}):
                now = asgi.get(front_door, path, token=stranger, headers=headers)
                assert now.status == 200
                assert not any(trace in now.body.decode() for trace in TRACES)


def test_a_stored_reply_is_sent_again_without_what_was_hidden_since(store: Store) -> None:
    organizer_id, user_id = build.a_user(store, role="organizer"), build.a_user(store)
    player_id = build.a_player(store, organizer_id, claimed_by=user_id, ifpa_id=IFPA_CANARY)
    path, body = f"/api/players/{player_id}", {"labels": ["new"]}

    def change() -> object:
        status, reply, _ = build.do(store, "PATCH", path, body, by=organizer_id, key="once")
        assert status == 200
        return reply["data"]["ifpaId"]

    assert [change(), change()] == [IFPA_CANARY] * 2
    build.do(store, "PATCH", "/api/users/profile", {"profileOptOut": True}, by=user_id)
    assert change() is None


def test_another_node_shows_nothing_from_before_either(store: Store) -> None:
    """However late that node looks at the database again."""
    if store.is_sqlite:
        pytest.skip("an SQLite file has one server")
    user_id = build.a_user(store, role="organizer", **canaries.PROFILE)
    stranger, own = a_token(store, build.a_user(store)), a_token(store, user_id, 8, "score")
    path = f"/api/users/{user_id}"
    other_store = Store(store.url.render_as_string(hide_password=False))
    with running_app(store) as node, running_app(other_store) as other:
        for _ in range(2):
            assert b"canary" in asgi.get(other, path, token=stranger).body
        hide(node, own, "profileOptOut")
        assert b"canary" not in asgi.get(other, path, token=stranger).body
    other_store.close()
