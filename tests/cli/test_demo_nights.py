"""The demo's tournaments, played by robots in this process."""

from random import Random
from typing import Any

import pytest

import build
from silverball.demo import nights as demo_nights
from silverball.settings import Settings
from silverball.store.database.engine import Store

CHOSEN = Settings(base_url=build.BASE_URL)


@pytest.fixture
def store(hurried_store: Store) -> Store:
    return hurried_store


@pytest.fixture
def organizer_id(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def nights(store: Store, organizer_id: int, name: str) -> list[Any]:
    """Tournaments with this name, newest first."""
    _, answer = build.ask(store, f"/api/tournaments?owner={organizer_id}&limit=100", by=organizer_id)
    return [tournament for tournament in answer["data"] if tournament["name"] == name]


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
