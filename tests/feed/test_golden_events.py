"""The frames that are sent, member by member: a sample of each event, as it was first published.

A difference is a change of the wire: add a line to the CHANGELOG before you write the sample again.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.feed import messages
from silverball.store.database.engine import Store
from silverball_wire.events import EVENTS

GOLDEN = Path(__file__).parents[1] / "golden" / "events.json"


@pytest.mark.both_databases
def test_every_event_is_sent_as_its_sample(store: Store) -> None:
    assert frames(store) == json.loads(GOLDEN.read_text(encoding="utf-8"))


def frames(store: Store) -> dict[str, Any]:
    """Name -> the first frame of that event in three small nights, with `data` decoded."""
    frames_by_name: dict[str, Any] = {}
    for desk in (_run_games(store), _run_cards(store)):
        for event in desk.mirror.seen:
            frame = json.loads(messages.event(event, "plain"))
            shows_tournament = event.name == "TournamentUpdated"
            head = ["journalHead"] if shows_tournament else []
            assert list(frame) == ["event", "data", "channel", "id", "seq", "epoch", "revision", *head]
            if shows_tournament:
                # Each run has other salts.
                assert re.fullmatch("[0-9a-f]{64}", frame["journalHead"])
                frame["journalHead"] = "0" * 64
            frames_by_name.setdefault(event.name, {**frame, "data": json.loads(frame["data"])})
    assert set(frames_by_name) == set(EVENTS)
    return frames_by_name


def _run_games(store: Store) -> Desk:
    desk = a_desk(store, suggestions="restricted")
    game = desk.open_round()[0]
    desk.ok("PATCH", "", {"name": "Friday Strikes"})
    desk.ok("POST", "/players", {"name": "Late Lena"})
    comet = build.an_arena(store, desk.night.organizer_id, name="Comet")
    desk.ok("POST", "/arenas", {"arenaId": comet})
    desk.ok("PATCH", f"/arenas/{desk.night.arena_ids[0]}", {"labels": ["loud"]})
    desk.ok("DELETE", f"/rounds/{game['roundId']}")
    return desk


def _run_cards(store: Store) -> Desk:
    desk = a_desk(store, "card_best_game", suggestions="disabled", useQueues=True)
    player, arena = desk.night.player_ids[0], desk.night.arena_ids[0]
    desk.ok("POST", "/queues", {"playerId": player, "arenaId": arena})
    score = {"playerId": player, "arenaId": desk.night.arena_ids[1], "score": 1_000_000}
    game = desk.ok("POST", "/single-player-games", score)["data"]
    desk.ok("DELETE", f"/cards/{game['cardId']}")
    return desk
