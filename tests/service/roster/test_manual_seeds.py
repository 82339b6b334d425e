"""Manual seeds count from 0 on the wire and from 1 inside. Source: formats 4; 14.10, "On the wire"."""

from random import Random
from typing import Any

import pytest
from sqlalchemy import select, update

import build
from service import desk as desks
from silverball.rules.mechanics import seeding
from silverball.rules.registry import FORMATS
from silverball.service.moving import reads as moving_reads
from silverball.store import tables
from silverball.store.database.engine import Store

SEEDED = sorted(name for name, kind in FORMATS.items() if "seeding" in kind.settings.__struct_encode_fields__)

# Stored seed, stored rank, seed on the wire.
CASES = (
    (None, None, None),
    (0, None, None),
    (1, None, 0),
    (1, 1, 0),
    (24, 24, 23),
    # A late player has a rank only.
    (None, 9, 8),
)


@pytest.mark.parametrize(("value", "rank", "shown"), CASES)
def test_the_published_seed_is_the_stored_one_less_one(
    value: int | None, rank: int | None, shown: int | None
) -> None:
    assert seeding.published_seed(value, rank) == shown
    assert seeding.published_seed(seeding.stored_seed(shown), None) == shown


def a_manual_desk(
    store: Store, type_: str = "bracket", *, players: int = 4, starts: bool = False
) -> desks.Desk:
    desk = desks.a_desk(store, type_, players=players, starts=False)
    desk.ok("PATCH", "", {"seeding": "manual"})
    if starts:
        desk.ok("POST", "/start")
    return desk


def shown_seeds(desk: desks.Desk) -> dict[int, int | None]:
    tournament = desk.ok("GET", "?includePlayers=1")["data"]
    return {player["playerId"]: player["tournamentPlayer"]["seed"] for player in tournament["players"]}


def stored_seeds(store: Store) -> dict[int, tuple[int | None, int | None]]:
    entrant = tables.entrant.c
    with store.read() as db:
        rows = db.execute(select(entrant.player_id, entrant.seed, entrant.seed_rank)).all()
    return {row.player_id: (row.seed, row.seed_rank) for row in rows}


def journal_and_revision(desk: desks.Desk) -> tuple[int, int]:
    journal, tournament = tables.journal.c, tables.tournament.c
    with desk.store.read() as db:
        lines = db.execute(select(journal.journal_id)).all()
        revision = db.execute(select(tournament.revision)).scalar_one()
    return len(lines), revision


@pytest.mark.sample(4)
@pytest.mark.parametrize("type_", SEEDED)
def test_what_get_shows_can_be_sent_back_and_changes_nothing(store: Store, type_: str) -> None:
    desk = a_manual_desk(store, type_, players=8)
    for number, player_id in enumerate(reversed(desk.night.player_ids)):
        desk.ok("PATCH", f"/players/{player_id}", {"seed": number})
    for starts in (False, True):
        if starts:
            desk.ok("POST", "/start")
        seeds, before = shown_seeds(desk), journal_and_revision(desk)
        assert list(seeds.values()) == list(reversed(range(len(seeds))))
        for player_id, seed in seeds.items():
            desk.ok("PATCH", f"/players/{player_id}", {"seed": seed})
        listed = [{"playerId": player_id, "seed": seed} for player_id, seed in seeds.items()]
        desk.ok("PATCH", "/players", {"players": listed})
        assert shown_seeds(desk) == seeds
        assert journal_and_revision(desk) == before
    assert all(rank == (seeds[player_id] or 0) + 1 for player_id, (_, rank) in stored_seeds(store).items())


@pytest.mark.both_databases
def test_zero_is_the_first_seed_and_null_is_none(store: Store) -> None:
    desk = a_manual_desk(store)
    first, second, third, fourth = desk.night.player_ids
    desk.ok("PATCH", f"/players/{third}", {"seed": 0})
    desk.ok("PATCH", f"/players/{first}", {"seed": 1})
    added = desk.ok("POST", "/players", {"name": "Max", "seed": 2})["data"]
    assert added["tournamentPlayer"]["seed"] == 2
    assert shown_seeds(desk)[second] is None
    assert stored_seeds(store)[third] == (1, None)
    desk.ok("PATCH", f"/players/{first}", {"seed": None})
    assert shown_seeds(desk)[first] is None
    desk.ok("POST", "/start")
    # The unseeded follow in the order in which they were added.
    expected = {third: 0, added["playerId"]: 1, first: 2, second: 3, fourth: 4}
    assert shown_seeds(desk) == expected


def test_a_seed_below_zero_is_refused_and_a_frozen_one_is_too(store: Store) -> None:
    desk = a_manual_desk(store)
    path = f"/players/{desk.night.player_ids[0]}"
    assert list(desk.expect_refusal(422, "PATCH", path, {"seed": -1})["errors"]) == ["seed"]
    desk.ok("POST", "/start")
    desk.expect_refusal(409, "PATCH", path, {"seed": 3})


def test_other_seedings_show_what_they_showed(store: Store) -> None:
    desk = desks.a_desk(store, "group_knockout", starts=False)
    player_id = desk.night.player_ids[0]
    desk.ok("PATCH", "", {"seeding": "random"})
    for seed in (0, 1, 5, None):
        shown = desk.ok("PATCH", f"/players/{player_id}", {"seed": seed})["data"]
        assert shown["tournamentPlayer"]["seed"] == seed
    desk.ok("POST", "/start")
    assert sorted(seed or 0 for seed in shown_seeds(desk).values()) == [1, 2, 3, 4]


@pytest.mark.both_databases
def test_nobody_is_seeded_where_foreign_data_has_zero_for_everybody(store: Store) -> None:
    desk = a_manual_desk(store)
    with store.write(desk.night.tournament_id) as transaction:
        transaction.connection.execute(update(tables.entrant).values(seed=0))
    assert set(shown_seeds(desk).values()) == {None}


def test_csv_has_the_seeds_of_the_wire_and_a_bundle_counts_from_one(store: Store) -> None:
    desk = a_manual_desk(store, starts=True)
    seeds = shown_seeds(desk)
    _, text = build.ask(store, f"{desk.path}/players/csv", by=desk.callers["owner"])
    header, *lines = (line.split(",") for line in text.strip().splitlines())
    at = header.index("Seed")
    assert {int(line[0]): int(line[at]) for line in lines} == seeds
    with store.read() as db:
        bundle: Any = moving_reads.load_bundle(db, desk.night.tournament_id)
    exported = {player.player_id: player.tournament_player.seed for player in bundle.tournament.players}
    assert exported == {player_id: (seed or 0) + 1 for player_id, seed in seeds.items()}


def test_any_order_of_seeds_comes_back_as_it_was_sent(store: Store) -> None:
    desk = a_manual_desk(store)
    dice = Random(4)
    for _ in range(5):
        seeds = [None if dice.random() < 0.3 else seed for seed in dice.sample(range(50), 4)]
        listed = [
            {"playerId": player_id, "seed": seed}
            for player_id, seed in zip(desk.night.player_ids, seeds, strict=True)
        ]
        desk.ok("PATCH", "/players", {"players": listed})
        assert list(shown_seeds(desk).values()) == seeds
