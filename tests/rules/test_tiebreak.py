"""Ties broken by a game or by hand. Source: formats, sections 11, 13.4 and 20; tables by hand."""

from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import lineups
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import GameOpened, opposite_changes
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game, PrizePlan
from silverball.rules.registry import FORMATS


def tied_night(players: int = 4, **given: Any) -> Night:
    """A group match play before its first round: everybody is tied."""
    night = a_night("group_matchplay", players=players, tiebreaker="disabled", **given)
    night.start()
    return night


def open_tiebreak(night: Night, *player_ids: int) -> Game:
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, player_ids, night.now))
    return night.tournament.games[-1]


def order(night: Night, *player_ids: int) -> None:
    night.apply(tiebreak_commands.set_manual_order(night.tournament, player_ids))


def rows(night: Night) -> list[tuple[int, int, Any]]:
    return [(row.position, row.player_id, row.points_with_tiebreaker) for row in night.standings()]


def test_a_tiebreak_game_adds_a_half_a_quarter_and_an_eighth() -> None:
    night = tied_night()
    game = open_tiebreak(night, 1, 2, 3, 4)
    assert (game.is_tiebreak, game.round_id, game.status) == (True, None, "started")
    night.record_order(game, 3, 1, 4, 2)
    points = dict(zip(game.player_ids, night.game(game.game_id).result_points, strict=True))
    assert points == {3: Decimal("0.50"), 1: Decimal("0.25"), 4: Decimal("0.12"), 2: Decimal("0.00")}
    assert rows(night) == [(1, 3, "0.50"), (2, 1, "0.25"), (3, 4, "0.12"), (4, 2, "0.00")]
    assert {row.points for row in night.standings()} == {"0.00"}


def test_a_player_who_did_not_play_the_tiebreak_stands_with_its_last() -> None:
    night = tied_night()
    night.record_order(open_tiebreak(night, 1, 2), 2, 1)
    assert rows(night) == [(1, 2, "0.50"), (2, 1, "0.00"), (2, 3, None), (2, 4, None)]


def test_a_tiebreak_counts_for_nothing_else() -> None:
    night = tied_night()
    night.record_order(open_tiebreak(night, 1, 2), 2, 1)
    assert {row.games_played for row in night.standings()} == {0}
    night.open_round()
    past = lineups.pairing_history(night.tournament)
    night.finish_round()
    assert past.bye_count(1) == 0
    assert sum(row.games_played or 0 for row in night.standings()) == 4


def test_during_a_round_it_stands_beside_its_games() -> None:
    night = tied_night(6)
    night.open_round()
    game = open_tiebreak(night, 1, 2)
    assert game.round_id == night.tournament.rounds[0].round_id
    assert game.set_number == 2
    night.finish_round()
    night.complete_round()
    assert night.game(game.game_id).result_points == (Decimal("0.50"), Decimal("0.00"))


def test_a_map_of_the_organizer_is_used() -> None:
    night = tied_night()
    rows = (("2",), ("2", "1"), ("3", "2", "1"), ("3", "2", "1", "0"))
    night.tournament = replace(night.tournament, tiebreaker_points_map=rows)
    night.record_order(open_tiebreak(night, 1, 2), 1, 2)
    assert [row.points_with_tiebreaker for row in night.standings()][:2] == ["2.00", "1.00"]


@pytest.mark.parametrize(
    ("players", "meaning", "sentence"),
    [
        ((1,), Invalid, "at least two"),
        ((1, 1), Invalid, "named twice"),
        ((1, 99), NotFound, "99"),
        ((1, 2, 3, 4, 99), NotFound, "99"),
    ],
)
def test_players_named_wrongly_are_refused(
    players: tuple[int, ...], meaning: type[Exception], sentence: str
) -> None:
    night = tied_night(6)
    with pytest.raises(meaning, match=sentence):
        open_tiebreak(night, *players)


def play_joint(night: Night, scores: dict[int, int]) -> None:
    """Open a tiebreak of these players, and record all its games."""
    changes = tiebreak_commands.open_tiebreak(night.tournament, list(scores), night.now)
    for change in night.apply(changes):
        assert isinstance(change, GameOpened)
        game = change.subject
        own = {player_id: scores[player_id] for player_id in game.player_ids}
        night.record(GameOutcome(game_id=game.game_id, scores=own))


def test_more_than_four_play_several_games_that_are_compared_by_score() -> None:
    night = tied_night(7)
    scores = {1: 500, 2: 900, 3: 100, 4: 300, 5: 700, 6: 800, 7: 200}
    play_joint(night, scores)
    games = [game for game in night.tournament.games if game.is_tiebreak]
    assert [len(game.player_ids) for game in games] == [4, 3]
    assert len({game.set_number for game in games}) == 1
    places = night.places()
    assert sorted(places, key=lambda player_id: places[player_id]) == [2, 6, 5, 1, 4, 7, 3]
    assert sorted(places.values()) == [1, 2, 3, 4, 5, 6, 7]
    # 0.50 for beating all six others, and a sixth of it for each of them.
    added = [row.points_with_tiebreaker for row in night.standings()]
    assert added == ["0.50", "0.42", "0.33", "0.25", "0.17", "0.08", "0.00"]
    assert_verified(night)
    night.undo()
    assert set(night.places().values()) == {1}
    assert_verified(night)


def test_equal_scores_of_two_games_of_a_tiebreak_are_refused() -> None:
    night = tied_night(6)
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, range(1, 7), night.now))
    first, second = (game for game in night.tournament.games if game.is_tiebreak)
    scores = dict(zip(first.player_ids, (1, 2, 3), strict=True))
    night.record(GameOutcome(game_id=first.game_id, scores=scores))
    equal = dict(zip(second.player_ids, (4, 5, 3), strict=True))
    with pytest.raises(Invalid, match="the score of another player"):
        night.record(GameOutcome(game_id=second.game_id, scores=equal))
    assert set(night.places().values()) == {1}


def test_two_tiebreaks_may_have_the_same_scores() -> None:
    night = tied_night(10)
    for first in (1, 6):
        play_joint(night, {player_id: 100 * (player_id - first) for player_id in range(first, first + 5)})
    places = night.places()
    assert [places[player_id] for player_id in range(1, 11)] == [9, 7, 5, 3, 1, 9, 7, 5, 3, 1]


def test_a_game_of_a_larger_tiebreak_needs_its_scores() -> None:
    night = tied_night(5)
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, [1, 2, 3, 4, 5], night.now))
    game = next(game for game in night.tournament.games if game.is_tiebreak)
    with pytest.raises(Invalid, match="enter all scores"):
        night.record_order(game, *game.player_ids)


def test_too_many_for_a_tiebreak_draw_or_are_put_in_order_by_hand() -> None:
    night = tied_night(49)
    with pytest.raises(Invalid, match="at most 48 players"):
        open_tiebreak(night, *range(1, 50))
    dice = Random(7)
    night.apply(tiebreak_commands.draw_order(night.tournament, range(1, 50), dice))
    assert sorted(night.places().values()) == list(range(1, 50))
    assert_verified(night)


def assert_verified(night: Night) -> None:
    """The verifier's table, computed apart, has the same places and points."""
    table = FORMATS[night.tournament.type].verify.standings(night.tournament)
    assert {row["playerId"]: (row["position"], row["pointsWithTiebreaker"]) for row in table} == {
        row.player_id: (row.position, row.points_with_tiebreaker) for row in night.standings()
    }


def test_only_the_tied_break_ties() -> None:
    night = tied_night()
    night.adjust(1, 5)
    for ask in (open_tiebreak, order):
        with pytest.raises(Conflict, match="share"):
            ask(night, 1, 2)
    game = open_tiebreak(night, 2, 3)
    with pytest.raises(Conflict, match=f"Tiebreak game {game.game_id} is open"):
        open_tiebreak(night, 3, 4)
    night.apply(game_commands.delete_game(night.tournament, game.game_id, night.dice(), night.now))
    open_tiebreak(night, 3, 4)
    with pytest.raises(Invalid, match="same score"):
        night.record(GameOutcome(game_id=night.tournament.games[-1].game_id, scores={3: 1, 4: 1}))
    planned = a_night("group_matchplay")
    with pytest.raises(Conflict, match="not started"):
        open_tiebreak(planned, 1, 2)


def test_a_tiebreak_result_can_be_corrected_and_undone() -> None:
    night = tied_night()
    before = night.tournament
    game = open_tiebreak(night, 1, 2)
    night.record_order(game, 1, 2)
    night.correct(night.game(game.game_id), 2, 1)
    assert rows(night)[0][1] == 2
    for _ in range(3):
        night.undo()
    assert night.tournament == before


def test_an_order_by_hand_ranks_last_of_all() -> None:
    night = tied_night()
    order(night, 3, 1, 4, 2)
    assert [(row.position, row.player_id) for row in night.standings()] == [(1, 3), (2, 1), (3, 4), (4, 2)]
    assert {row.manual_tiebreaker_group for row in night.standings()} == {1}
    night.adjust(2, 1)
    # Points come first again; the order still holds among the others.
    assert [row.player_id for row in night.standings()] == [2, 3, 1, 4]


def test_ordering_again_replaces_the_order_and_keeps_its_number() -> None:
    night = tied_night(6)
    for player_id in (1, 2, 3):
        night.adjust(player_id, 1)
    order(night, 3, 2, 1)
    order(night, 6, 5, 4)
    order(night, 1, 2, 3)
    assert [(row.player_id, row.manual_tiebreaker_group) for row in night.standings()] == [
        (1, 1),
        (2, 1),
        (3, 1),
        (6, 2),
        (5, 2),
        (4, 2),
    ]


def test_a_given_up_order_leaves_the_tie() -> None:
    night = tied_night()
    order(night, 3, 1, 4, 2)
    night.apply(tiebreak_commands.clear_manual_order(night.tournament, [1, 2, 3, 4]))
    assert {row.position for row in night.standings()} == {1}
    assert {row.manual_tiebreaker_group for row in night.standings()} == {None}


def test_all_who_share_the_place_are_ordered_together() -> None:
    night = tied_night()
    with pytest.raises(Conflict, match="all players who share one place"):
        order(night, 3, 1)


@pytest.mark.parametrize("kind", ["knockout", "group_knockout", "matchplay", "round_robin", "target"])
def test_other_formats_break_ties_the_same_way(kind: str) -> None:
    night = a_night(kind, players=4, seeding="manual")
    night.start()
    night.record_order(open_tiebreak(night, 1, 2), 2, 1)
    assert night.places() == {2: 1, 1: 2, 3: 2, 4: 2}
    assert {row.strike_count for row in night.standings()} == {0}
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament) is False


@quick
@given(st.permutations([1, 2, 3, 4, 5]))
def test_any_order_by_hand_is_the_order_of_the_table(wanted: list[int]) -> None:
    night = tied_night(5)
    before = night.tournament
    order(night, *wanted)
    assert [row.player_id for row in night.standings()] == wanted
    night.undo()
    assert night.tournament == before


def a_played_night(players: int, **given: Any) -> Night:
    """A group match play in which the first of each group of four won its only game."""
    night = tied_night(players, **given)
    for game in night.open_round():
        night.record_order(game, *game.player_ids)
    return night


def a_band(last: int) -> dict[str, Any]:
    return {"index": 0, "value": last, "cumulative": last, "text": "A", "color": None}


# Eight in two groups: places 1, 3, 5 and 7 are shared by two each.
@pytest.mark.parametrize(
    ("cut", "shares", "decided"),
    [
        (None, None, [(1, "first")]),
        (4, None, [(1, "first")]),
        (3, None, [(1, "first"), (3, "cut")]),
        (1, None, [(1, "cut")]),
        (None, (5_000, 3_000, 2_000), [(1, "first"), (3, "prize")]),
        (None, (4_000, 4_000, 1_000, 1_000), [(1, "first")]),
        (7, (10_000,), [(1, "first"), (7, "cut")]),
    ],
)
def test_a_tie_decides_across_a_cut_for_the_first_place_and_where_prizes_differ(
    cut: int | None, shares: tuple[int, ...] | None, decided: list[tuple[int, str]]
) -> None:
    night = a_played_night(8, **({} if cut is None else {"playoffsCutoffs": [a_band(cut)]}))
    plan = None if shares is None else PrizePlan(shares=shares, entry_fee=500)
    night.tournament = replace(night.tournament, prizes=plan)
    ties = tiebreak_commands.deciding_ties(night.tournament)
    assert [(tie.position, tie.reason) for tie in ties] == decided
    assert all(len(tie.player_ids) == 2 for tie in ties)


def test_nothing_is_tied_any_more_once_it_is_drawn() -> None:
    night = a_played_night(8)
    (tie,) = tiebreak_commands.deciding_ties(night.tournament)
    before = night.tournament
    changes = night.apply(tiebreak_commands.draw_order(before, tie.player_ids, Random(7)))
    assert tiebreak_commands.deciding_ties(night.tournament) == []
    drawn = {entrant.player_id for entrant in night.tournament.entrants if entrant.is_tie_drawn}
    assert drawn == set(tie.player_ids)
    assert apply_changes(night.tournament, opposite_changes(changes)) == before
