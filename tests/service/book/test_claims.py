"""Claims: a user asks for a player of a book, and its organizer approves or declines."""

from typing import Any

import pytest

import build
from silverball.service.core.access import AuthenticatedCaller
from silverball.store.database.engine import Store


@pytest.fixture
def night(store: Store) -> build.Night:
    return build.a_tournament(store, type="matchplay")


@pytest.fixture
def una(store: Store) -> AuthenticatedCaller:
    return build.caller(build.a_user(store, name="Una Ball"), ability="score")


def claim(
    store: Store, player_id: int, method: str = "POST", body: Any = None, **who: Any
) -> tuple[int, Any]:
    status, got, _ = build.do(store, method, f"/api/players/{player_id}/claim", body, **who)
    return status, got


def test_a_claim_waits_until_the_organizer_approves_it(
    store: Store, night: build.Night, una: AuthenticatedCaller
) -> None:
    player_id, organizer = night.player_ids[0], night.organizer_id
    status, got = claim(store, player_id, by=una)
    assert (status, got["data"]["claimedBy"]) == (201, None)
    waiting = [{"playerId": player_id, "userId": una.user_id, "createdAt": "2026-03-05T19:30:00.000000Z"}]
    for who in (organizer, una.user_id):
        assert build.ask(store, "/api/players/claims", by=who)[1]["data"] == waiting
    assert build.ask(store, "/api/players/claims", by=build.a_user(store))[1]["data"] == []
    status, got = claim(store, player_id, "PUT", {"userId": una.user_id}, by=organizer)
    assert (status, got["data"]["claimedBy"]) == (200, una.user_id)
    assert build.ask(store, "/api/players/claims", by=organizer)[1]["data"] == []


def test_only_the_organizer_approves_and_only_real_claims(
    store: Store, night: build.Night, una: AuthenticatedCaller
) -> None:
    player_id = night.player_ids[0]
    other = build.a_user(store, role="organizer")
    claim(store, player_id, by=una)
    approved = {"userId": una.user_id}
    assert claim(store, player_id, "PUT", approved, by=una)[0] == 403
    assert claim(store, player_id, "PUT", approved, by=other)[0] == 403
    status, got = claim(store, player_id, "PUT", {"userId": other}, by=night.organizer_id)
    assert (status, list(got["errors"])) == (422, ["userId"])
    assert claim(store, player_id, by=build.caller(una.user_id))[0] == 403
    assert claim(store, player_id)[0] == 401
    assert claim(store, 999, by=una)[0] == 404


def test_a_player_belongs_to_one_user_and_a_user_is_one_player_of_a_book(
    store: Store, night: build.Night, una: AuthenticatedCaller
) -> None:
    first, second, *_ = night.player_ids
    rival = build.caller(build.a_user(store), ability="score")
    for player_id, who in ((first, una), (first, rival), (second, una)):
        assert claim(store, player_id, by=who)[0] == 201
    assert claim(store, first, by=una)[0] == 409
    assert claim(store, first, "PUT", {"userId": una.user_id}, by=night.organizer_id)[0] == 200
    for player_id, user_id in ((first, rival.user_id), (first, una.user_id), (second, una.user_id)):
        status, got = claim(store, player_id, "PUT", {"userId": user_id}, by=night.organizer_id)
        assert (status, got["message"].endswith(("already.", "first."))) == (409, True)
    assert claim(store, first, by=rival)[0] == 409


@pytest.mark.both_databases
def test_a_claim_is_withdrawn_or_declined(store: Store, night: build.Night, una: AuthenticatedCaller) -> None:
    player_id, user = night.player_ids[0], una.user_id
    rival = build.caller(build.a_user(store), ability="score")
    claim(store, player_id, by=una)
    assert claim(store, player_id, "DELETE", by=rival)[0] == 404
    assert claim_of(store, player_id, user, by=rival) == 403
    assert claim(store, player_id, "DELETE", by=una)[0] == 200
    assert claim(store, player_id, "DELETE", by=una)[0] == 404
    claim(store, player_id, by=una)
    claim(store, player_id, "PUT", {"userId": user}, by=night.organizer_id)
    assert claim_of(store, player_id, user, by=night.organizer_id) == 200
    assert (
        build.ask(store, f"/api/players/resolve-unknown?players={player_id}", by=user)[1]["data"][0][
            "claimedBy"
        ]
        is None
    )


def claim_of(store: Store, player_id: int, user_id: int, **who: Any) -> int:
    return build.do(store, "DELETE", f"/api/players/{player_id}/claim?user={user_id}", **who)[0]


def test_an_organizer_claims_without_approval(store: Store, night: build.Night) -> None:
    status, got = claim(store, night.player_ids[0], by=night.organizer_id)
    assert (status, got["data"]["claimedBy"]) == (201, night.organizer_id)


def test_a_claim_shows_in_every_tournament_and_stays_when_something_before_it_is_undone(
    store: Store, una: AuthenticatedCaller
) -> None:
    night = build.a_tournament(store, type="best_game")
    tournament, player_id = f"/api/tournaments/{night.tournament_id}", night.player_ids[0]
    organizer = night.organizer_id

    def do(path: str, body: Any) -> int:
        status, got, headers = build.do(store, "POST", tournament + path, body, by=organizer)
        assert status in (200, 201), got
        return int(headers["x-tournament-revision"])

    do("/single-player-games", {"playerId": player_id, "arenaId": night.arena_ids[0], "score": 7})
    before = build.ask(store, f"{tournament}/standings", by=organizer)
    revision = do(f"/players/{player_id}/entries", {"quantity": 2})
    claim(store, player_id, by=una)
    claim(store, player_id, "PUT", {"userId": una.user_id}, by=organizer)
    # The claim raised the revision once, the undo does so again.
    assert do("/undo", {"action": 2}) == revision + 2
    assert build.ask(store, f"{tournament}/standings", by=organizer) == before
    shown = build.ask(store, f"{tournament}/players/resolve-unknown?players={player_id}", by=organizer)[1]
    assert shown["data"][0]["claimedBy"] == una.user_id
