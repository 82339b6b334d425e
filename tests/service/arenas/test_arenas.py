"""Arenas and lineups. Source: interface 4.1 and 4.2; samples/resolve-arenas-scoped.json."""

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.both_databases
def test_an_arena_is_shown_as_its_organizer_has_it(store: Store) -> None:
    organizer = build.a_user(store)
    arena_id = build.an_arena(store, organizer, name="Meteor Shower", opdb_id="GRxPP-Ml91r", category_id=2)
    _, body = build.ask(store, "/api/arenas", by=organizer)
    assert body["data"] == [
        {
            "arenaId": arena_id,
            "name": "Meteor Shower",
            "status": "active",
            "opdbId": "GRxPP-Ml91r",
            "categoryId": 2,
            "organizerId": organizer,
            "labels": [],
            "labelColor": None,
        }
    ]


def test_an_arena_of_the_lineup_has_its_part_in_the_tournament(store: Store) -> None:
    night = build.a_tournament(store, arenas=0)
    arena_id = build.an_arena(store, night.organizer_id, status="inactive")
    build.row(
        store,
        tables.lineup_arena,
        tournament_id=night.tournament_id,
        arena_id=arena_id,
        preferred=True,
        amazing_race_seed=3,
        best_game_blocked=False,
        best_game_queue_closed=True,
        labels=["Left wall"],
        label_color="purple",
    )
    path = f"/api/tournaments/{night.tournament_id}/arenas/resolve-unknown?arenas={arena_id}"
    _, body = build.ask(store, path, by=night.organizer_id)
    assert body["data"][0]["status"] == "inactive"
    assert body["data"][0]["tournamentArena"] == {
        "status": "active",
        "preferred": True,
        "scorbitVenuemachineId": None,
        "scorbitVenuemachineUuid": None,
        "scorbitronInstalled": None,
        "amazingRaceSeed": 3,
        "bestGameBlocked": False,
        "bestGameQueueClosed": True,
        "labels": ["Left wall"],
        "labelColor": "purple",
    }


def test_arenas_of_other_tournaments_are_not_in_this_lineup(store: Store) -> None:
    night, other = build.a_tournament(store), build.a_tournament(store)
    asked = ",".join(str(arena_id) for arena_id in [*other.arena_ids, *reversed(night.arena_ids)])
    path = f"/api/tournaments/{night.tournament_id}/arenas/resolve-unknown?arenas={asked}"
    _, body = build.ask(store, path, by=other.organizer_id)
    assert [arena["arenaId"] for arena in body["data"]] == night.arena_ids
    _, body = build.ask(store, f"/api/arenas/resolve-unknown?arenas={asked}", by=night.organizer_id)
    assert [arena["arenaId"] for arena in body["data"]] == sorted([*night.arena_ids, *other.arena_ids])
