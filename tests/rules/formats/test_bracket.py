"""Single elimination. Source: formats, sections 14.10, 20 and 24; brackets played by hand."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.bracket_night import (
    games_of_round,
    pairs_of_round,
    play_to_the_end,
    record_win,
    standings_rows,
    start_night,
)
from rules.night import Night, a_night, change_entrant, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.changes import GameDeleted
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Suggestion
from silverball.rules.registry import FORMATS

MAPS = load.vectors("groups")["bracket_first_round"]


def bracket(players: int = 8, **given: Any) -> Night:
    return start_night("bracket", players, **given)


def size_of(night: Night) -> int:
    return int(getattr(night.tournament.settings, "bracket_size", 0))


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    assert settings.default_values(FORMATS["bracket"].settings) == {
        "scorekeeping": "disabled",
        "seeding": "manual",
        "bracketSize": 8,
        "gamesPerRound": 1,
        "playerOrder": "seed",
        "playerOrderOpen": "scorekeepers",
        "arenaAssignment": "balanced",
        "suggestions": "disabled",
    }


@pytest.mark.parametrize(
    "given", [{"seeding": "random"}, {"bracketSize": 12}, {"gamesPerRound": 2}, {"gamesPerRound": 11}]
)
def test_a_value_outside_its_limits_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=next(iter(given))):
        settings.read_settings(FORMATS["bracket"].settings, given)


@pytest.mark.parametrize("size", [size for size in MAPS if int(size) > 2])
def test_a_started_bracket_has_the_first_round_of_the_library(size: str) -> None:
    night = bracket(int(size), arenas=0)
    number = int(size) // 2
    made = {str(number + at_): list(pair) for at_, pair in enumerate(pairs_of_round(night, 0))}
    assert made == MAPS[size]


@pytest.mark.parametrize(("players", "size"), [(2, 4), (4, 4), (5, 8), (9, 16), (33, 64)])
def test_the_start_takes_the_size_that_fits(players: int, size: int) -> None:
    night = bracket(players)
    assert size_of(night) == size
    assert len(night.tournament.rounds) == size.bit_length() - 1
    night.undo()
    assert size_of(night) == 8


def test_missing_seeds_are_byes_for_the_best() -> None:
    night = bracket(5)
    assert pairs_of_round(night, 0) == [(4, 5), (1,), (3,), (2,)]
    byes = [game for game in games_of_round(night.tournament, 0) if game.is_bye]
    assert {(game.set_number, game.result_points[0]) for game in byes} == {(9999, Decimal(1))}
    assert [(game.game_index, game.player_ids) for game in byes] == [(4, (1,)), (6, (3,)), (7, (2,))]
    # Seeds 2 and 3 both have one, so they can meet at once.
    assert pairs_of_round(night, 1) == [(2, 3)]


def test_a_game_has_its_set_its_advantage_and_a_free_arena() -> None:
    night = bracket(8, arenas=4)
    games = games_of_round(night.tournament, 0)
    assert [(game.set_number, game.game_index) for game in games] == [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert [game.advantage_id for game in games] == [1, 4, 3, 2]
    assert len({game.arena_id for game in games}) == 4
    record_win(night, 1, 8)
    record_win(night, 4, 5)
    semifinal = games_of_round(night.tournament, 1)[0]
    assert semifinal.arena_id in {games[0].arena_id, games[1].arena_id}


def test_a_bracket_of_eight_is_played_to_the_end() -> None:
    # By hand: 8 upsets 1 and goes to the final, where 2 wins; 1 wins the game for fifth place.
    night = bracket()
    for winner, loser in ((8, 1), (4, 5), (3, 6), (2, 7)):
        record_win(night, winner, loser)
    assert pairs_of_round(night, 1) == [(4, 8), (2, 3), (1, 5, 6, 7)]
    assert standings_rows(night) == []
    record_win(night, 1, 5, 6, 7)
    assert standings_rows(night) == [(5, 1, 1), (6, 5, 0), (7, 6, 0), (8, 7, 0)]
    record_win(night, 8, 4)
    record_win(night, 2, 3)
    assert pairs_of_round(night, 2) == [(2, 8), (3, 4)]
    record_win(night, 2, 8)
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    # Third place is still to be played for: until then it is shared.
    assert standings_rows(night)[:4] == [(1, 2, 3), (2, 8, 2), (3, 3, 1), (3, 4, 1)]
    record_win(night, 4, 3)
    assert standings_rows(night)[:4] == [(1, 2, 3), (2, 8, 2), (3, 4, 2), (4, 3, 1)]
    assert {round_.status for round_ in night.tournament.rounds} == {"completed"}


def test_games_for_third_and_fifth_place_may_be_left_out() -> None:
    night = bracket()
    for winner, loser in ((1, 8), (4, 5), (3, 6), (2, 7), (1, 4), (2, 3), (1, 2)):
        record_win(night, winner, loser)
    night.complete()
    assert [(position, player) for position, player, _ in standings_rows(night)] == [
        (1, 1),
        (2, 2),
        (3, 3),
        (3, 4),
        (5, 5),
        (5, 6),
        (5, 7),
        (5, 8),
    ]


def test_the_game_for_fifth_place_gives_nothing_to_the_fourth() -> None:
    night = bracket()
    for winner, loser in ((1, 8), (4, 5), (3, 6), (2, 7)):
        record_win(night, winner, loser)
    game = record_win(night, 5, 6, 7, 8)
    assert night.game(game.game_id).result_points == tuple(map(Decimal, (1, 0, 0, 0)))
    assert game.advantage_id is None


def test_losers_before_the_quarterfinals_share_their_place() -> None:
    night = bracket(16)
    for game in games_of_round(night.tournament, 0):
        night.record_order(game, *game.player_ids)
    assert standings_rows(night) == [(9, player, 0) for player in range(9, 17)]


def test_the_rows_are_those_of_the_bracket_family() -> None:
    night = bracket(4)
    play_to_the_end(night)
    row = night.standings()[0]
    assert (row.points, row.points_with_tiebreaker, row.tiebreakers, row.adjustment) == (2, 2, None, None)
    assert (row.games_played, row.entries_played, row.entries_available, row.strike_count) == (None,) * 4


def test_a_corrected_result_deletes_what_was_played_because_of_it() -> None:
    night = bracket()
    quarter = record_win(night, 1, 8)
    for winner, loser in ((4, 5), (3, 6), (2, 7), (1, 4), (2, 3), (1, 2)):
        record_win(night, winner, loser)
    night.correct(quarter, 8, 1)
    # The other semifinal stands, the final and the game for third place go.
    assert pairs_of_round(night, 1) == [(4, 8), (2, 3), (1, 5, 6, 7)]
    assert pairs_of_round(night, 2) == []
    assert [round_.status for round_ in night.tournament.rounds_in_order] == [
        "completed",
        "started",
        "started",
    ]
    assert standings_rows(night) == []
    record_win(night, 8, 4)
    assert pairs_of_round(night, 2) == [(2, 8), (3, 4)]


def test_a_correction_that_changes_no_winner_deletes_nothing() -> None:
    night = bracket()
    for winner, loser in ((1, 8), (4, 5), (3, 6), (2, 7), (1, 4)):
        record_win(night, winner, loser)
    fifth = record_win(night, 5, 6, 7, 8)
    count = len(night.tournament.games)
    night.correct(fifth, 8, 7, 6, 5)
    game = games_of_round(night.tournament, 0)[0]
    night.record(GameOutcome(game_id=game.game_id, scores={1: 900, 8: 100}))
    assert len(night.tournament.games) == count
    assert standings_rows(night)[0][:2] == (5, 8)


def test_suggestions_for_deleted_games_go_with_them() -> None:
    night = bracket(4)
    semi = record_win(night, 1, 4)
    record_win(night, 2, 3)
    final = games_of_round(night.tournament, 1)[0]
    suggestion = Suggestion(suggestion_id=1, game_id=final.game_id, player_id=1, user_id=None, results=(1, 2))
    night.tournament = replace(night.tournament, suggestions=(suggestion,))
    night.correct(semi, 4, 1)
    assert night.tournament.suggestions == ()


def test_a_no_show_loses_every_match() -> None:
    night = bracket()
    night.leave(3)
    assert games_of_round(night.tournament, 0)[2].forfeited_by == 3
    night = bracket(2, games_per_round=5)
    night.apply(tournament_commands.forfeit_open_games(night.tournament, 2, night.dice(), night.now))
    assert [game.forfeited_by for game in games_of_round(night.tournament, 1)] == [2]
    assert standings_rows(night) == [(1, 1, 2), (2, 2, 1)]


def test_nobody_joins_returns_or_is_removed_after_the_start() -> None:
    night = a_night("bracket", players=5)
    night.leave(5)
    night.start()
    with pytest.raises(Conflict, match="made at the start"):
        night.join(9)
    with pytest.raises(Conflict, match="fixed at the start"):
        night.come_back(5)
    with pytest.raises(Conflict, match="made at the start"):
        tournament_commands.remove_entrant(night.tournament, 5, dice=night.dice(), now=night.now)


def test_places_follow_from_games_alone() -> None:
    night = bracket(4)
    play_to_the_end(night)
    with pytest.raises(Conflict, match="correct a result"):
        night.adjust(2, 1)
    with pytest.raises(Conflict, match="do not share a place"):
        tiebreak_commands.open_tiebreak(night.tournament, [1, 2], night.now)
    with pytest.raises(Conflict, match="follow from results"):
        game_commands.remove_player(bracket(4).tournament, 1003, 1)


def test_impossible_results_are_refused_and_change_nothing() -> None:
    night = bracket(5)
    before = night.tournament
    game = games_of_round(night.tournament, 0)[0]
    bye = games_of_round(night.tournament, 0)[1]
    cases: tuple[tuple[GameOutcome, type[Exception], str], ...] = (
        (GameOutcome(game_id=game.game_id, finishing_order=(4, 1)), Invalid, "Player 1 is not in"),
        (GameOutcome(game_id=game.game_id, finishing_order=(4,)), Invalid, "missing"),
        (GameOutcome(game_id=game.game_id, finishing_order=(4, 4)), Invalid, "twice"),
        (GameOutcome(game_id=game.game_id, scores={4: 10, 5: 10}), Invalid, "same score"),
        (GameOutcome(game_id=game.game_id, forfeited_by=1), Invalid, "not in game"),
        (GameOutcome(game_id=bye.game_id, finishing_order=bye.player_ids), Conflict, "is a bye"),
        (GameOutcome(game_id=999, finishing_order=(4, 5)), NotFound, "999"),
    )
    for outcome, meaning, sentence in cases:
        with pytest.raises(meaning, match=sentence):
            night.record(outcome)
    assert night.tournament is before
    night.complete()
    with pytest.raises(Conflict, match="Reopen it"):
        night.record(GameOutcome(game_id=game.game_id, finishing_order=(4, 5)))


@pytest.mark.parametrize(("players", "sentence"), [(1, "too few"), (129, "2 to 128")])
def test_a_field_that_does_not_fit_is_refused(players: int, sentence: str) -> None:
    with pytest.raises((Conflict, Invalid), match=sentence):
        bracket(players)


def test_rounds_are_not_opened_completed_or_deleted_by_hand() -> None:
    night = bracket()
    last = night.tournament.rounds_in_order[-1]
    with pytest.raises(Conflict, match="there already"):
        night.open_round()
    with pytest.raises(Conflict, match="completes itself"):
        tournament_commands.complete_round(night.tournament, last.round_id, night.now)
    with pytest.raises(Conflict, match="not deleted by hand"):
        tournament_commands.delete_round(night.tournament, last.round_id)


def test_closed_early_only_decided_places_are_listed_and_reopening_goes_on() -> None:
    night = bracket()
    for winner, loser in ((1, 8), (4, 5), (3, 6), (2, 7)):
        record_win(night, winner, loser)
    night.complete()
    assert [position for position, _, _ in standings_rows(night)] == [5, 5, 5, 5]
    night.apply(tournament_commands.reopen(night.tournament))
    assert pairs_of_round(night, 1) == [(1, 4), (2, 3), (5, 6, 7, 8)]
    assert [round_.status for round_ in night.tournament.rounds_in_order] == [
        "completed",
        "started",
        "started",
    ]


def test_a_bracket_that_was_drawn_elsewhere_is_left_alone() -> None:
    night = bracket()
    first = record_win(night, 1, 8)
    change_entrant(night, 1, seed_rank=8)
    change_entrant(night, 8, seed_rank=2)
    before = night.tournament
    for ask in (
        lambda: night.correct(first, 8, 1),
        lambda: night.clear(first),
        lambda: record_win(night, 4, 5),
    ):
        with pytest.raises(Conflict, match="drawn elsewhere"):
            ask()
    night.complete()
    with pytest.raises(Conflict, match="drawn elsewhere"):
        tournament_commands.reopen(night.tournament)
    night.undo()
    assert night.tournament == before


def test_the_time_of_a_round_is_that_of_its_last_result() -> None:
    night = bracket(4)
    record_win(night, 1, 4)
    record_win(night, 2, 3)
    assert night.tournament.rounds_in_order[0].completed_at == night.now


@quick
@given(
    players=st.integers(2, 20),
    best_of=st.sampled_from((1, 3)),
    dice=st.randoms(use_true_random=False),
)
def test_any_bracket_ends_with_everybody_placed_and_can_be_taken_back(
    players: int, best_of: int, dice: Any
) -> None:
    night = a_night("bracket", players=players, arenas=5, games_per_round=best_of)
    planned = night.tournament
    night.start()
    while night.open_games():
        game = dice.choice(night.open_games())
        night.record_order(game, *random_order(game, dice))
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    rows = night.standings()
    assert {row.player_id for row in rows} == set(range(1, players + 1))
    assert [row.position for row in rows[:4]] == [1, 2, 3, 4][:players]
    matches = {
        (game.round_id, game.set_number)
        for game in night.tournament.games
        if not game.is_bye and len(game.player_ids) == 2
    }
    # All players but the winner lose one match; the game for third place is one more.
    assert len(matches) >= players - 1
    assert len(matches) == sum(len(game.player_ids) == 2 for game in night.tournament.games)
    assert not any(isinstance(change, GameDeleted) for made in night.journal for change in made)
    night.undo_all()
    assert night.tournament == planned
