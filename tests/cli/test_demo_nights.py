"""The demo's tournaments, played by robots in this process."""

import time
from random import Random
from typing import Any

import pytest

import build
from silverball.cli import demo_nights
from silverball.settings import Settings
from silverball.store.engine import Store

NO_PAUSE = (0.0, 0.0)
SECONDS_MAX = 120
CHOSEN = Settings(base_url=build.BASE_URL)


@pytest.fixture
def store(hurried_store: Store) -> Store:
    return hurried_store


@pytest.fixture
def organizer_id(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def nights(store: Store, organizer_id: int, name: str = demo_nights.LIVE.name) -> list[Any]:
    """Tournaments with this name, newest first."""
    _, answer = build.ask(store, f"/api/tournaments?owner={organizer_id}&limit=100", by=organizer_id)
    return [tournament for tournament in answer["data"] if tournament["name"] == name]


def results_in(store: Store, organizer_id: int, tournament_id: int) -> int:
    path = f"/api/tournaments/{tournament_id}/games?status=completed"
    return len(build.ask(store, path, by=organizer_id)[1]["data"])


def test_live_tournaments_follow_each_other_with_the_same_players(store: Store, organizer_id: int) -> None:
    live = demo_nights.LiveNight(store, CHOSEN, organizer_id, Random(3), NO_PAUSE)
    live.start()
    started = time.monotonic()
    while len(nights(store, organizer_id)) < 2:
        assert time.monotonic() - started < SECONDS_MAX
        time.sleep(0.1)
    live.stop()
    newest, first = nights(store, organizer_id)
    assert (newest["status"] in {"planned", "started"}, first["status"]) == (True, "completed")
    rounds = demo_nights.LIVE.settings["duration"]
    assert results_in(store, organizer_id, first["tournamentId"]) == rounds * 4
    _, players = build.ask(store, "/api/players", by=organizer_id)
    assert len(players["data"]) == demo_nights.PLAYERS_LIVE


def test_an_interrupted_live_tournament_continues(store: Store, organizer_id: int) -> None:
    for count in (3, 9):
        live = demo_nights.LiveNight(store, CHOSEN, organizer_id, Random(count), NO_PAUSE)
        live.start()
        started = time.monotonic()
        while not any(
            results_in(store, organizer_id, tournament["tournamentId"]) >= count
            for tournament in nights(store, organizer_id)
        ):
            assert time.monotonic() - started < SECONDS_MAX
            time.sleep(0.02)
        live.stop()
    assert len(nights(store, organizer_id)) == 1


def test_a_live_tournament_that_another_user_completes_is_followed_by_the_next(
    store: Store, organizer_id: int
) -> None:
    live = demo_nights.LiveNight(store, CHOSEN, organizer_id, Random(3), (0.05, 0.1))
    live.start()
    started = time.monotonic()
    closed: set[int] = set()
    while len(nights(store, organizer_id)) < 2:
        assert time.monotonic() - started < SECONDS_MAX
        for tournament in nights(store, organizer_id):
            if tournament["status"] == "started" and tournament["tournamentId"] not in closed:
                build.do(
                    store, "POST", f"/api/tournaments/{tournament['tournamentId']}/complete", by=organizer_id
                )
                closed.add(tournament["tournamentId"])
        time.sleep(0.1)
    live.stop()


def test_interrupted_tournaments_are_completed_and_finished_ones_left_alone(
    store: Store, organizer_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = demo_nights.FINISHED[:2]
    monkeypatch.setattr(demo_nights, "FINISHED", few)
    begun = {"name": few[0].name, "type": few[0].type}
    status, _, _ = build.do(store, "POST", "/api/tournaments", begun, by=organizer_id)
    assert status == 201
    for _ in range(2):
        demo_nights.play_nights(store, CHOSEN, organizer_id, Random(1))
        for plan in few:
            assert [tournament["status"] for tournament in nights(store, organizer_id, plan.name)] == [
                "completed"
            ]
        (queues,) = nights(store, organizer_id, demo_nights.QUEUES.name)
        path = f"/api/tournaments/{queues['tournamentId']}/queues"
        _, waiting = build.ask(store, path, by=organizer_id)
        assert sorted(len(each) for each in waiting["data"].values()) == [1, 2, 2]
