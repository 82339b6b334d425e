"""Double elimination. Source: formats, sections 14.11, 20 and 24; the bracket of eight played by hand."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.bracket_night import (
    games_of_round,
    pairs_of_round,
    play_to_the_end,
    record_win,
    standings_rows,
    start_night,
)
from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.registry import FORMATS

# Rounds of a bracket of eight, in playing order.
WB1, LB1, WB2, LB2, LB3, WB3, LB4, GRAND_FINAL, RESET = range(9)


def bracket(players: int = 8, **given: Any) -> Night:
    return start_night("double_bracket", players, **given)


def play_to_the_grand_final(night: Night) -> None:
    """Eight players, the better seed wins each match: seed 1 meets seed 2 again in the end."""
    for games in ((1, 8), (4, 5), (3, 6), (2, 7), (5, 8), (6, 7), (1, 4), (2, 3)):
        record_win(night, *games)
    for games in ((3, 5), (4, 6), (3, 4), (1, 2), (2, 3)):
        record_win(night, *games)


def test_the_payload_has_the_keys_of_a_bracket() -> None:
    assert settings.default_values(FORMATS["double_bracket"].settings) == settings.default_values(
        FORMATS["bracket"].settings
    )
    with pytest.raises(msgspec.ValidationError, match="seeding"):
        settings.read_settings(FORMATS["double_bracket"].settings, {"seeding": "random"})


def test_a_bracket_of_eight_feeds_as_in_the_document() -> None:
    night = bracket()
    assert len(night.tournament.rounds) == 8
    assert pairs_of_round(night, WB1) == [(1, 8), (4, 5), (3, 6), (2, 7)]
    for games in ((1, 8), (4, 5), (3, 6), (2, 7)):
        record_win(night, *games)
    assert pairs_of_round(night, LB1) == [(5, 8), (6, 7)]
    assert pairs_of_round(night, WB2) == [(1, 4), (2, 3)]
    record_win(night, 5, 8)
    record_win(night, 6, 7)
    record_win(night, 1, 4)
    record_win(night, 2, 3)
    # The losers of the second round come in reversed order, so that rematches come late.
    assert pairs_of_round(night, LB2) == [(3, 5), (4, 6)]
    record_win(night, 3, 5)
    record_win(night, 4, 6)
    assert pairs_of_round(night, LB3) == [(3, 4)]
    assert pairs_of_round(night, WB3) == [(1, 2)]
    record_win(night, 3, 4)
    record_win(night, 1, 2)
    assert pairs_of_round(night, LB4) == [(2, 3)]
    record_win(night, 2, 3)
    assert pairs_of_round(night, GRAND_FINAL) == [(1, 2)]


def test_the_winner_of_the_winners_bracket_needs_one_more_win() -> None:
    night = bracket()
    play_to_the_grand_final(night)
    assert standings_rows(night) == [(3, 3, 3), (4, 4, 2), (5, 5, 1), (5, 6, 1), (7, 7, 0), (7, 8, 0)]
    record_win(night, 1, 2)
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    assert standings_rows(night)[:2] == [(1, 1, 4), (2, 2, 3)]
    assert len(night.tournament.games) == 14
    assert {round_.status for round_ in night.tournament.rounds} == {"completed"}


def test_a_win_of_the_losers_champion_needs_a_second_final() -> None:
    night = bracket()
    play_to_the_grand_final(night)
    first = record_win(night, 2, 1)
    assert not tournament_commands.format_of(night.tournament).is_over(night.tournament)
    assert len(night.tournament.rounds) == 9
    assert pairs_of_round(night, RESET) == [(1, 2)]
    # First and second place are open again.
    assert [position for position, _, _ in standings_rows(night)] == [3, 4, 5, 5, 7, 7]
    record_win(night, 2, 1)
    assert standings_rows(night)[:2] == [(1, 2, 5), (2, 1, 3)]
    assert len(night.tournament.games) == 15
    night.correct(first, 1, 2)
    assert (len(night.tournament.rounds), len(night.tournament.games)) == (8, 14)
    assert standings_rows(night)[:2] == [(1, 1, 4), (2, 2, 3)]


def test_a_corrected_first_match_takes_both_of_its_ways_back() -> None:
    night = bracket()
    play_to_the_grand_final(night)
    night.correct(games_of_round(night.tournament, WB1)[0], 8, 1)
    assert pairs_of_round(night, WB2) == [(4, 8), (2, 3)]
    assert pairs_of_round(night, LB1) == [(1, 5), (6, 7)]
    assert pairs_of_round(night, LB2) == []
    assert standings_rows(night) == [(7, 7, 0)]


def test_missing_seeds_are_byes_in_both_brackets() -> None:
    night = bracket(5)
    assert pairs_of_round(night, WB1) == [(4, 5), (1,), (3,), (2,)]
    record_win(night, 4, 5)
    # The loser meets nobody, and neither does who would meet the loser of a bye.
    assert pairs_of_round(night, LB1) == [(5,)]
    record_win(night, 1, 4)
    record_win(night, 2, 3)
    assert pairs_of_round(night, LB2) == [(3, 5), (4,)]
    play_to_the_end(night)
    assert [(position, player) for position, player, _ in standings_rows(night)] == [
        (1, 1),
        (2, 2),
        (3, 3),
        (4, 4),
        (5, 5),
    ]


def test_two_players_can_play_it() -> None:
    night = bracket(2)
    record_win(night, 1, 2)
    record_win(night, 2, 1)
    record_win(night, 2, 1)
    assert [(position, player) for position, player, _ in standings_rows(night)] == [(1, 2), (2, 1)]


def test_matches_may_be_best_of_three() -> None:
    night = bracket(4, games_per_round=3)
    play_to_the_end(night)
    # Six matches, seed 1 winning three of them.
    assert len(night.tournament.games) == 6
    assert standings_rows(night)[0] == (1, 1, 3)


def test_a_no_show_is_out_after_two_matches() -> None:
    night = bracket(4)
    night.apply(tournament_commands.forfeit_open_games(night.tournament, 1, night.dice(), night.now))
    assert [game.forfeited_by for game in night.tournament.games if 1 in game.player_ids] == [1]
    record_win(night, 2, 3)
    night.apply(tournament_commands.forfeit_open_games(night.tournament, 1, night.dice(), night.now))
    assert standings_rows(night) == [(4, 1, 0)]


def test_the_field_stands_once_it_has_begun() -> None:
    night = bracket(4)
    for move, sentence in (
        (lambda: night.join(9), "made at the start"),
        (lambda: night.adjust(1, 1), "correct a result"),
        (night.open_round, "there already"),
    ):
        with pytest.raises(Conflict, match=sentence):
            move()
    with pytest.raises(Invalid, match="same score"):
        night.record(GameOutcome(game_id=night.open_games()[0].game_id, scores={1: 5, 4: 5}))


def test_reopened_it_goes_on_where_it_was_closed() -> None:
    night = bracket()
    for games in ((1, 8), (4, 5), (3, 6), (2, 7)):
        record_win(night, *games)
    open_before = sorted(game.player_ids for game in night.open_games())
    night.complete()
    assert night.open_games() == []
    night.apply(tournament_commands.reopen(night.tournament))
    assert sorted(game.player_ids for game in night.open_games()) == open_before


@quick
@given(players=st.integers(2, 18), dice=st.randoms(use_true_random=False))
def test_everybody_but_the_winner_loses_twice(players: int, dice: Any) -> None:
    night = a_night("double_bracket", players=players, arenas=4)
    planned = night.tournament
    night.start()
    while night.open_games():
        game = dice.choice(night.open_games())
        night.record_order(game, *random_order(game, dice))
    lost = Counter(game.result_positions[1] for game in night.tournament.games if not game.is_bye)
    rows = night.standings()
    assert {lost[row.player_id] for row in rows[1:]} == {2}
    assert lost[rows[0].player_id] <= 1
    assert [row.position for row in rows[:4]] == [1, 2, 3, 4][:players]
    # No place is left out: 5, 5, 7, 7, 9, ... as many as there are players.
    assert len(rows) == players
    assert max(row.position for row in rows) <= players
    night.undo_all()
    assert night.tournament == planned
