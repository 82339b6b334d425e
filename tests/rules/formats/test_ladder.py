"""The ladder. Source: formats, sections 14.13, 20 and 24; ladders climbed by hand."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.bracket_night import pairs_of_round, play_to_the_end, record_win, standings_rows, start_night
from rules.night import Night, a_night, change_entrant, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.registry import FORMATS


def ladder(players: int = 8, **given: Any) -> Night:
    return start_night("ladder", players, **given)


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    assert settings.default_values(FORMATS["ladder"].settings) == {
        "scorekeeping": "disabled",
        "seeding": "manual",
        "ladderType": "regular",
        "playerOrder": "seed",
        "arenaAssignment": "balanced",
        "suggestions": "disabled",
    }


@pytest.mark.parametrize("given", [{"seeding": "random"}, {"ladderType": "slow"}])
def test_a_value_outside_its_limits_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=next(iter(given))):
        settings.read_settings(FORMATS["ladder"].settings, given)


def test_the_last_of_four_goes_and_the_next_seed_joins() -> None:
    night = ladder()
    assert pairs_of_round(night, 0) == [(5, 6, 7, 8)]
    record_win(night, 8, 7, 5, 6)
    assert pairs_of_round(night, 1) == [(4, 5, 7, 8)]
    assert standings_rows(night) == [(8, 6, 0)]
    record_win(night, 4, 8, 7, 5)
    record_win(night, 8, 3, 4, 7)
    assert pairs_of_round(night, 3) == [(2, 3, 4, 8)]
    record_win(night, 2, 3, 8, 4)
    # Seed 1 joins; then four, three and two are left.
    assert pairs_of_round(night, 4) == [(1, 2, 3, 8)]
    record_win(night, 1, 2, 8, 3)
    assert pairs_of_round(night, 5) == [(1, 2, 8)]
    record_win(night, 8, 1, 2)
    assert pairs_of_round(night, 6) == [(1, 8)]
    record_win(night, 8, 1)
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    assert standings_rows(night) == [
        (1, 8, 7),
        (2, 1, 6),
        (3, 2, 5),
        (4, 3, 4),
        (5, 4, 3),
        (6, 7, 2),
        (7, 5, 1),
        (8, 6, 0),
    ]
    assert {round_.status for round_ in night.tournament.rounds} == {"completed"}


def test_a_fast_ladder_drops_two_and_ends_with_a_game_of_four() -> None:
    night = ladder(ladder_type="fast")
    record_win(night, 8, 7, 6, 5)
    assert standings_rows(night) == [(7, 6, 1), (8, 5, 0)]
    assert pairs_of_round(night, 1) == [(3, 4, 7, 8)]
    record_win(night, 3, 4, 7, 8)
    assert pairs_of_round(night, 2) == [(1, 2, 3, 4)]
    record_win(night, 4, 2, 1, 3)
    assert [(position, player) for position, player, _ in standings_rows(night)] == [
        (1, 4),
        (2, 2),
        (3, 1),
        (4, 3),
        (5, 7),
        (6, 8),
        (7, 6),
        (8, 5),
    ]


def test_an_odd_fast_ladder_begins_with_three() -> None:
    night = ladder(7, ladder_type="fast")
    assert pairs_of_round(night, 0) == [(5, 6, 7)]
    record_win(night, 7, 6, 5)
    assert pairs_of_round(night, 1) == [(3, 4, 6, 7)]


@pytest.mark.parametrize(
    ("players", "kind", "games"),
    [
        (2, "regular", 1),
        (3, "regular", 2),
        (4, "regular", 3),
        (8, "regular", 7),
        (4, "fast", 1),
        (8, "fast", 3),
        (7, "fast", 3),
    ],
)
def test_a_ladder_has_as_many_games_as_its_field_needs(players: int, kind: str, games: int) -> None:
    night = ladder(players, ladder_type=kind)
    play_to_the_end(night)
    assert len(night.tournament.games) == len(night.tournament.rounds) == games


def test_the_top_seed_starts_and_no_game_is_head_to_head() -> None:
    night = ladder(4)
    assert night.open_games()[0].player_ids == (1, 2, 3, 4)
    play_to_the_end(night)
    assert {game.advantage_id for game in night.tournament.games} == {None}
    assert night.tournament.games[0].result_points == tuple(map(Decimal, (1, 0, 0, 0)))


def test_a_correction_deletes_the_games_played_because_of_it() -> None:
    night = ladder(6)
    first = record_win(night, 3, 4, 5, 6)
    record_win(night, 2, 3, 4, 5)
    assert pairs_of_round(night, 2) == [(1, 2, 3, 4)]
    night.correct(first, 3, 4, 6, 5)
    assert pairs_of_round(night, 1) == [(2, 3, 4, 6)]
    assert pairs_of_round(night, 2) == []
    assert standings_rows(night) == [(6, 5, 0)]


def test_a_correction_among_those_who_stay_deletes_nothing() -> None:
    night = ladder(6)
    first = record_win(night, 3, 4, 5, 6)
    record_win(night, 2, 3, 4, 5)
    night.correct(first, 5, 4, 3, 6)
    assert len(night.tournament.rounds) == 3
    assert standings_rows(night) == [(5, 5, 1), (6, 6, 0)]


def test_a_deleted_result_opens_its_game_and_takes_the_later_ones() -> None:
    night = ladder(6)
    first = record_win(night, 3, 4, 5, 6)
    record_win(night, 2, 3, 4, 5)
    night.clear(first)
    assert [(round_.status, game.status) for round_, game in zip_rounds(night)] == [("started", "started")]


def zip_rounds(night: Night) -> list[tuple[Any, Any]]:
    return [
        (round_, night.tournament.games_by_round[round_.round_id][0]) for round_ in night.tournament.rounds
    ]


def test_the_field_stands_once_it_has_begun() -> None:
    night = ladder(5)
    newest = night.tournament.rounds_in_order[-1]
    for move, sentence in (
        (lambda: night.join(9), "made at the start"),
        (lambda: night.adjust(1, 1), "correct a result"),
        (night.open_round, "comes up by itself"),
        (lambda: tournament_commands.delete_round(night.tournament, newest.round_id), "not deleted by hand"),
        (
            lambda: tournament_commands.complete_round(night.tournament, newest.round_id, night.now),
            "completes itself",
        ),
    ):
        with pytest.raises(Conflict, match=sentence):
            move()
    assert len(night.journal) == 1


def test_ties_and_strangers_are_refused() -> None:
    night = ladder(4)
    game = night.open_games()[0]
    for outcome in (
        GameOutcome(game_id=game.game_id, scores=dict.fromkeys((1, 2, 3, 4), 50)),
        GameOutcome(game_id=game.game_id, finishing_order=(1, 2, 3, 9)),
        GameOutcome(game_id=game.game_id, finishing_order=(1, 2, 3)),
        GameOutcome(game_id=game.game_id, forfeited_by=9),
    ):
        with pytest.raises(Invalid):
            night.record(outcome)
    with pytest.raises(Conflict, match="too few"):
        ladder(1)


def test_a_player_who_is_still_in_is_not_listed_and_reopening_goes_on() -> None:
    night = ladder(6)
    record_win(night, 3, 4, 5, 6)
    night.complete()
    assert standings_rows(night) == [(6, 6, 0)]
    night.apply(tournament_commands.reopen(night.tournament))
    assert [game.player_ids for game in night.open_games()] == [(2, 3, 4, 5)]


def test_a_ladder_that_was_drawn_elsewhere_is_left_alone() -> None:
    night = ladder(6)
    first = record_win(night, 3, 4, 5, 6)
    change_entrant(night, 1, seed_rank=6)
    change_entrant(night, 6, seed_rank=1)
    with pytest.raises(Conflict, match="drawn elsewhere"):
        night.correct(first, 6, 5, 4, 3)
    with pytest.raises(Conflict, match="drawn elsewhere"):
        night.clear(first)


@quick
@given(
    players=st.integers(2, 14),
    kind=st.sampled_from(("regular", "fast")),
    dice=st.randoms(use_true_random=False),
)
def test_every_ladder_places_everybody_once_and_can_be_taken_back(players: int, kind: str, dice: Any) -> None:
    night = a_night("ladder", players=players, arenas=3, ladder_type=kind)
    planned = night.tournament
    night.start()
    while night.open_games():
        game = night.open_games()[0]
        night.record_order(game, *random_order(game, dice))
        assert len(night.open_games()) <= 1
    rows = night.standings()
    assert [row.position for row in rows] == list(range(1, players + 1))
    assert {row.player_id for row in rows} == set(range(1, players + 1))
    assert all(row.points == players - row.position for row in rows)
    night.undo_all()
    assert night.tournament == planned
