"""Head-to-head match play. Source: formats, sections 9, 13.4, 14.3 and 20."""

from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import lineups
from silverball.rules.model import settings
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.registry import FORMATS

KEYS = (
    "scorekeeping seeding firstRoundPairing pairing playerOrder playerOrderOpen arenaAssignment suggestions "
    "duration gamesPerRound tiebreaker byes playoffsCutoffs"
)


def a_started_night(**given: Any) -> Night:
    night = a_night("matchplay", **given)
    night.start()
    return night


def test_the_settings_are_the_keys_of_the_payload() -> None:
    assert list(settings.default_values(FORMATS["matchplay"].settings)) == KEYS.split()


def test_a_won_game_is_a_point_and_every_game_of_a_round_counts() -> None:
    night = a_started_night(players=2, games_per_round=3)
    games = night.open_round()
    for game, winner in zip(games, (1, 2, 1), strict=True):
        night.record_order(game, winner, 3 - winner)
    assert [(row.player_id, row.points, row.games_played) for row in night.standings()] == [
        (1, "2.00", 3),
        (2, "1.00", 3),
    ]
    assert all(game.advantage_id == game.player_ids[0] for game in games)


@pytest.mark.parametrize(
    ("byes", "per_round", "points"), [("full", 1, "1.00"), ("half", 1, "0.50"), ("zero", 1, "0.00")]
)
def test_a_bye_is_worth_what_the_setting_says(byes: str, per_round: int, points: str) -> None:
    night = a_started_night(players=3, byes=byes, games_per_round=per_round)
    night.open_round()
    bye = next(game for game in night.tournament.games if game.is_bye)
    assert (bye.set_number, bye.game_index, bye.arena_id, bye.started_at) == (9999, None, None, None)
    assert (bye.result_positions, bye.advantage_id) == (bye.player_ids, bye.player_ids[0])
    row = night.row(bye.player_ids[0])
    assert (row.points, row.games_played) == (points, 0)


def test_a_bye_counts_once_per_round_for_all_its_games() -> None:
    night = a_started_night(players=3, games_per_round=3)
    night.open_round()
    byes = [game for game in night.tournament.games if game.is_bye]
    assert [bye.result_points for bye in byes] == [(Decimal("3.00"),)]


def test_equal_points_go_by_median_buchholz_and_solkoff() -> None:
    night = a_started_night(players=4, pairing="balanced", seeding="manual", first_round_pairing="adjacent")
    for _ in range(3):
        night.play_round()
    # Everybody met everybody, the lower id won: 3, 2, 1 and 0 points.
    assert [(row.player_id, row.tiebreakers) for row in night.standings()] == [
        (1, ("3.00", 1, 3)),
        (2, ("2.00", 1, 4)),
        (3, ("1.00", 2, 5)),
        (4, ("0.00", 2, 6)),
    ]


def test_the_seed_separates_equals_so_that_no_tie_remains() -> None:
    night = a_started_night(players=4, tiebreaker="seed", seeding="manual")
    night.play_round()
    assert sorted(night.places().values()) == [1, 2, 3, 4]
    assert night.row(1).tiebreakers == ("1.00", 1)


def test_a_forfeit_gives_the_game_to_the_other_and_is_marked() -> None:
    night = a_started_night(players=2)
    game = night.open_round()[0]
    night.record(GameOutcome(game_id=game.game_id, forfeited_by=1))
    after = night.game(game.game_id)
    assert (after.result_positions, after.forfeited_by) == ((2, 1), 1)
    assert night.row(2).points == "1.00"
    night.record_order(after, 2, 1)
    assert night.game(game.game_id).forfeited_by is None


def test_nobody_meets_again_before_it_is_unavoidable() -> None:
    night = a_started_night(players=8)
    met = set()
    for _ in range(7):
        for game in night.open_round():
            met.add(frozenset(game.player_ids))
        night.finish_round()
    assert len(met) == 28


@given(st.integers(3, 9), st.sampled_from(["balanced", "swiss", "strictswiss", "random"]), st.integers(0, 99))
@quick
def test_byes_differ_by_one_at_most_and_the_table_adds_up(players: int, pairing: str, seed: int) -> None:
    night = a_started_night(players=players, pairing=pairing)
    for _ in range(5):
        for game in night.open_round():
            night.record_order(game, *random_order(game, Random(seed)))
    counted = lineups.pairing_history(night.tournament)
    byes = [counted.bye_count(player_id) for player_id in night.tournament.active_ids]
    assert max(byes) - min(byes) <= 1
    games = len(night.tournament.games)
    assert sum(Decimal(str(row.points)) for row in night.standings()) == games


def test_tiers_are_not_for_games_of_two() -> None:
    with pytest.raises(Conflict, match="Tiers need groups of four"):
        a_started_night(players=16, pairing="tiers", duration=5)


def test_a_late_player_is_in_the_next_round_and_may_be_given_points() -> None:
    night = a_started_night(players=4)
    night.play_round()
    night.join(9, points_adjustment=Decimal(1))
    assert night.row(9).points == "1.00"
    night.open_round()
    assert sum(game.is_bye for game in night.tournament.games) == 1


def test_deleting_a_round_opens_the_one_before_again() -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    night.finish_round()
    newest = night.open_round()[0]
    assert newest.round_id is not None
    night.apply(tournament_commands.delete_round(night.tournament, newest.round_id))
    assert [round_.status for round_ in night.tournament.rounds] == ["started"]
    night.record_order(game, *sorted(game.player_ids, reverse=True))
    assert night.row(max(game.player_ids)).points == "1.00"


def test_closing_keeps_the_results_of_an_open_round_and_deletes_its_open_games() -> None:
    night = a_started_night(players=4)
    first, _second = night.open_round()
    night.record_order(first, *first.player_ids)
    night.complete()
    assert [game.game_id for game in night.tournament.games] == [first.game_id]
    assert [round_.status for round_ in night.tournament.rounds] == ["completed"]


def test_closing_deletes_a_round_without_any_result() -> None:
    night = a_started_night(players=3)
    night.open_round()
    night.complete()
    assert (night.tournament.games, night.tournament.rounds) == ((), ())


def test_taking_everything_back_leaves_the_planned_tournament() -> None:
    night = a_night("matchplay", players=5, games_per_round=2)
    planned = night.tournament
    night.start()
    night.play_round()
    night.leave(1)
    night.join(9)
    night.play_round()
    night.come_back(1)
    night.open_round()
    night.complete()
    night.undo_all()
    assert night.tournament == planned


@pytest.mark.parametrize(("duration", "without_repeats"), [(10, 5), (0, 6)])
def test_swiss_pairs_nobody_twice_in_a_row_nor_in_the_first_half(duration: int, without_repeats: int) -> None:
    """Twelve players; a night without a number of rounds counts as if everybody could meet everybody."""
    night, dice = a_night("matchplay", players=12, arenas=6, pairing="swiss", duration=duration), Random(7)
    night.start()
    played: list[set[frozenset[int]]] = []
    for _ in range(10):
        pairs = {frozenset(game.player_ids) for game in night.open_round()}
        assert not played or not pairs & played[-1]
        assert len(played) >= without_repeats or not pairs & set().union(*played)
        night.finish_round(lambda player_id: player_id + dice.gauss(0, 4))
        played.append(pairs)
    # Later, equals who have met meet again.
    assert len(set().union(*played)) < 60
