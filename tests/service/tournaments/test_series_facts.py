"""Facts of a series that draws and seeds use. Source: formats, sections 4, 6.8 and 7."""

from decimal import Decimal
from typing import Any

import pytest

import build
from silverball.rules.model.tournament import Tournament
from silverball.service.core import loaded
from silverball.service.tournaments.reads import series_facts
from silverball.store import tables
from silverball.store.database.engine import Store

BALANCED_SERIES = {"pairing": "balanced_series"}


def a_series_of_two(store: Store, **settings: str) -> tuple[build.Night, build.Night]:
    """An earlier night and a planned one of the same series."""
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    series_id = build.row(store, tables.series, organizer_id=organizer_id)
    common: dict[str, Any] = {"organizer_id": organizer_id, "series_id": series_id, "type": "group_matchplay"}
    earlier = build.a_tournament(store, **common, status="completed")
    return earlier, build.a_tournament(store, **common, status="planned", settings=settings)


def with_facts(store: Store, night: build.Night) -> Tournament:
    with store.read() as db:
        return series_facts.with_series_facts(db, loaded.load_tournament(db, night.tournament_id))


def play_round(store: Store, night: build.Night) -> None:
    """One round: a group of three with two games, a bye, a tiebreak; then a game outside of it."""
    ann, bob, cy, dee = night.player_ids
    first, second = night.arena_ids
    round_id = build.a_round(store, night.tournament_id)
    common = {"round_id": round_id, "arena_id": first}
    build.a_game(store, night.tournament_id, [cy, ann, bob], **common)
    build.a_game(store, night.tournament_id, [ann, bob, cy], **{**common, "arena_id": second})
    build.a_game(store, night.tournament_id, [dee], round_id=round_id, bye=True, set_number=9999)
    build.a_game(store, night.tournament_id, [ann, dee], **common, is_tiebreak=True, set_number=1)
    build.a_game(store, night.tournament_id, [bob, dee])


def test_a_draw_balanced_over_the_series_knows_the_groups_of_other_nights(store: Store) -> None:
    earlier, tonight = a_series_of_two(store, **BALANCED_SERIES)
    play_round(store, earlier)
    ann, bob, cy, dee = earlier.player_ids
    state = with_facts(store, tonight).state
    assert sorted(state.series_groups) == sorted([(ann, bob, cy), (bob, dee)])


def test_arenas_balanced_over_the_series_know_the_plays_of_other_nights(store: Store) -> None:
    earlier, tonight = a_series_of_two(store, arenaAssignment="balanced_series")
    play_round(store, earlier)
    ann, bob, cy, dee = earlier.player_ids
    first, second = earlier.arena_ids
    plays = with_facts(store, tonight).state.series_plays
    assert plays == {
        ann: {first: 2, second: 1},
        bob: {first: 1, second: 1},
        cy: {first: 1, second: 1},
        dee: {first: 1},
    }


@pytest.mark.both_databases
def test_the_nights_own_games_are_not_counted_twice(store: Store) -> None:
    _earlier, tonight = a_series_of_two(store, **BALANCED_SERIES)
    play_round(store, tonight)
    state = with_facts(store, tonight).state
    assert (state.series_groups, state.series_plays) == ((), {})


def test_other_draws_do_not_look_at_the_series(store: Store) -> None:
    earlier, tonight = a_series_of_two(store)
    play_round(store, earlier)
    assert with_facts(store, tonight).state.series_groups == ()


def test_series_seeds_are_places_in_its_standings(store: Store) -> None:
    earlier, tonight = a_series_of_two(store, seeding="series_seed")
    for position, player_id in enumerate(earlier.player_ids[:3], start=1):
        points = Decimal(10 - position)
        where = {"tournament_id": earlier.tournament_id, "player_id": player_id}
        build.row(store, tables.standing, **where, position=position, points=points, row={})
    with store.read() as db:
        tournament = loaded.load_tournament(db, tonight.tournament_id)
        facts = series_facts.with_seed_facts(db, tournament).state.seed_facts
    assert facts == {player_id: float(at) for at, player_id in enumerate(earlier.player_ids[:3], start=1)}
