"""Pingolf elimination. Source: formats, sections 14.17, 16, 20 and 24; strokes added up by hand."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.bracket_night import holes_of_player, putt, standings_rows, start_night
from rules.night import Night, a_night
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.tournament import SinglePlayerGame
from silverball.rules.registry import FORMATS
from silverball.rules.verify import groups as verify_groups


def bracket(size: int = 8, **given: Any) -> Night:
    """A running golf bracket with its first round of two holes open."""
    night = start_night("golf_bracket", size, bracket_size=size, **{"games_per_round": 2, **given})
    night.open_round()
    return night


def play_all(night: Night, strokes: Mapping[int, Sequence[int]], round_index: int = 0) -> None:
    for player_id, card in strokes.items():
        putt(night, player_id, card, round_index)


def players_of_round(night: Night, index: int) -> list[int]:
    round_id = night.tournament.rounds_in_order[index].round_id
    return sorted(
        {game.player_id for game in night.tournament.single_player_games if game.round_id == round_id}
    )


def play_by_seed(night: Night, round_index: int = 0) -> None:
    """Record strokes by seed, so that no players of a group are tied."""
    for player_id in players_of_round(night, round_index):
        high = min(6, 1 + player_id // 2)
        putt(night, player_id, (high, min(6, 1 + (player_id + 1) // 2)), round_index)


# Groups 1, 4, 5, 8 and 2, 3, 6, 7: totals 3, 5, 7, 9 and 4, 6, 8, 8.
FIRST = {1: (1, 2), 4: (2, 3), 5: (3, 4), 8: (4, 5), 2: (2, 2), 3: (3, 3), 6: (4, 4), 7: (5, 3)}


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    assert settings.default_values(FORMATS["golf_bracket"].settings) == {
        "scorekeeping": "disabled",
        "roundCount": 2,
        "bracketSize": 8,
        "groupBracketDoubleByes": 0,
        "gamesPerRound": 3,
        "seeding": "manual",
        "playerOrder": "seed",
        "playerOrderOpen": "scorekeepers",
        "arenaAssignment": "balanced",
        "suggestions": "disabled",
        "golfStrokeLimit": 6,
    }


@pytest.mark.parametrize(
    "given",
    [{"bracketSize": 129}, {"golfStrokeLimit": 11}, {"gamesPerRound": 0}, {"groupBracketDoubleByes": 3}],
)
def test_a_value_outside_its_limits_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=next(iter(given))):
        settings.read_settings(FORMATS["golf_bracket"].settings, given)


def test_a_round_is_made_of_waiting_holes_and_no_games() -> None:
    night = bracket()
    assert night.tournament.games == ()
    assert len(night.tournament.single_player_games) == 16
    for group in ((1, 4, 5, 8), (2, 3, 6, 7)):
        arenas = [[hole.arena_id for hole in holes_of_player(night, player, 0)] for player in group]
        # A group plays a hole on one machine, and its holes on different ones.
        assert all(each == arenas[0] for each in arenas)
        assert len(set(arenas[0])) == 2
    first_hole = holes_of_player(night, 1, 0)[0]
    assert (first_hole.status, first_hole.game_index, first_hole.score, first_hole.points) == (
        "pending",
        0,
        None,
        None,
    )


def test_the_two_with_the_fewest_strokes_go_on() -> None:
    night = bracket()
    play_all(night, FIRST)
    assert standings_rows(night) == [(5, 5, 7), (6, 6, 8), (6, 7, 8), (8, 8, 9)]
    night.open_round()
    assert players_of_round(night, 1) == [1, 2, 3, 4]
    play_all(night, {1: (3, 3), 2: (1, 1), 3: (2, 2), 4: (5, 5)}, 1)
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    assert standings_rows(night)[:4] == [(1, 2, 2), (2, 3, 4), (3, 1, 6), (4, 4, 10)]


def test_nobody_gets_a_machine_again_while_others_are_new() -> None:
    night = bracket(arenas=6)
    play_all(night, FIRST)
    used = {game.arena_id for game in night.tournament.single_player_games}
    night.open_round()
    assert len(used) == 4
    assert used.isdisjoint(hole.arena_id for hole in holes_of_player(night, 1, 1))


def test_strokes_above_the_limit_count_the_limit() -> None:
    night = bracket(4, golf_stroke_limit=6)
    putt(night, 1, (10, 3))
    assert [hole.points for hole in holes_of_player(night, 1, 0)] == [Decimal(6), Decimal(3)]
    for strokes in (0, 11):
        with pytest.raises(Invalid, match="1 to 10 strokes"):
            putt(night, 2, (strokes,))


def test_a_score_may_stand_beside_the_strokes() -> None:
    night = bracket(4)
    hole = holes_of_player(night, 1, 0)[0]
    night.record(
        AttemptOutcome(
            single_player_game_id=hole.single_player_game_id, strokes=2, score=5_000_000, recorded_by=7
        )
    )
    after = holes_of_player(night, 1, 0)[0]
    assert (after.status, after.points) == ("completed", Decimal(2))
    assert (after.score, after.scorekeeper_id) == (5_000_000, 7)


def test_a_tie_for_an_advancing_place_needs_a_tiebreak_hole() -> None:
    night = bracket()
    # 4, 5 and 8 need 6 strokes each.
    play_all(night, {**FIRST, 4: (3, 3), 5: (4, 2), 8: (5, 1)})
    with pytest.raises(Conflict, match="Players 4, 5 and 8 are tied"):
        night.open_round()
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, [4, 5, 8], night.now))
    assert [hole.game_index for hole in holes_of_player(night, 4, 0)] == [0, 1, 2]
    with pytest.raises(Conflict, match="open games"):
        night.complete_round()
    with pytest.raises(Conflict, match="a hole to finish"):
        tiebreak_commands.open_tiebreak(night.tournament, [4, 5, 8], night.now)
    play_all(night, {4: (3,), 5: (2,), 8: (3,)})
    night.open_round()
    assert players_of_round(night, 1) == [1, 2, 3, 5]
    row = night.row(4)
    # Twice three strokes share the value of the better place.
    assert (row.position, row.points, row.points_with_tiebreaker) == (5, 6, Decimal("5.75"))


def test_equal_strokes_on_a_tiebreak_hole_need_another_one() -> None:
    night = bracket(4, games_per_round=1)
    play_all(night, {1: (2,), 2: (2,), 3: (2,), 4: (5,)})
    assert standings_rows(night) == [(1, 1, 2), (1, 2, 2), (1, 3, 2), (4, 4, 5)]
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, [1, 2, 3], night.now))
    play_all(night, {1: (4,), 2: (1,), 3: (4,)})
    assert [(position, player) for position, player, _ in standings_rows(night)] == [
        (1, 2),
        (2, 1),
        (2, 3),
        (4, 4),
    ]
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, [1, 3], night.now))
    play_all(night, {1: (6,), 3: (1,)})
    rows = [(row.position, row.player_id, row.points_with_tiebreaker) for row in night.standings()]
    # The second hole decides between the two; who won the first stays ahead.
    assert rows == [(1, 2, Decimal("1.5")), (2, 3, Decimal("1.75")), (3, 1, 2), (4, 4, 5)]


def test_a_tiebreak_hole_opened_by_mistake_can_be_deleted() -> None:
    night = bracket()
    play_all(night, {**FIRST, 5: (2, 3)})
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, [4, 5], night.now))
    extra = holes_of_player(night, 4, 0)[-1]
    night.apply(
        single_player_commands.delete_attempt(night.tournament, extra.single_player_game_id, night.now)
    )
    assert len(night.tournament.single_player_games) == 16
    with pytest.raises(Conflict, match="no result to delete"):
        waiting = holes_of_player(bracket(), 1, 0)[0]
        single_player_commands.delete_attempt(bracket().tournament, waiting.single_player_game_id, night.now)


def test_a_correction_deletes_the_round_that_others_have_to_play() -> None:
    night = bracket()
    play_all(night, FIRST)
    night.open_round()
    hole = holes_of_player(night, 5, 0)[1]
    night.record(AttemptOutcome(single_player_game_id=hole.single_player_game_id, strokes=3))
    # 6 strokes instead of 7: still behind 4, who has 5.
    assert len(night.tournament.rounds) == 2
    night.record(AttemptOutcome(single_player_game_id=hole.single_player_game_id, strokes=1))
    assert [round_.status for round_ in night.tournament.rounds] == ["started"]
    night.open_round()
    assert players_of_round(night, 1) == [1, 2, 3, 5]


def test_deleted_strokes_open_the_round_again() -> None:
    night = bracket()
    play_all(night, FIRST)
    night.complete_round()
    hole = holes_of_player(night, 5, 0)[1]
    night.apply(
        single_player_commands.delete_attempt(night.tournament, hole.single_player_game_id, night.now)
    )
    assert [round_.status for round_ in night.tournament.rounds] == ["started"]
    assert holes_of_player(night, 5, 0)[1].status == "pending"


def test_requests_for_features_the_format_lacks_are_refused() -> None:
    night = bracket()
    hole = holes_of_player(night, 1, 0)[0]
    key = hole.single_player_game_id
    asked: tuple[tuple[Any, str], ...] = (
        (lambda: single_player_commands.void_attempt(night.tournament, key, night.now), "cannot be voided"),
        (
            lambda: single_player_commands.open_attempt(
                night.tournament, NewAttempt(player_id=1, arena_id=501), night.now
            ),
            "there already",
        ),
        (lambda: night.join(9), "made at the start"),
        (lambda: night.adjust(1, 1), "correct a result"),
        (night.open_round, "open games"),
    )
    for ask, sentence in asked:
        with pytest.raises(Conflict, match=sentence):
            ask()
    for outcome in (
        AttemptOutcome(single_player_game_id=key, score=5),
        AttemptOutcome(single_player_game_id=key, rolls=(3, 4)),
        AttemptOutcome(single_player_game_id=key, strokes=2, is_advanced=True),
    ):
        with pytest.raises(Invalid, match="strokes"):
            night.record(outcome)
    with pytest.raises(NotFound):
        night.record(AttemptOutcome(single_player_game_id=1, strokes=2))


def test_a_hole_can_be_begun_before_it_is_recorded() -> None:
    night = bracket(4)
    hole = holes_of_player(night, 1, 0)[0]
    night.apply(single_player_commands.start_attempt(night.tournament, hole.single_player_game_id, night.now))
    night.tick(60)
    putt(night, 1, (2,))
    assert holes_of_player(night, 1, 0)[0].duration_seconds is not None


@pytest.mark.parametrize(
    ("players", "first", "second"),
    [
        (2, [1, 2], None),
        (3, [1, 2, 3], None),
        (5, [3, 4, 5], [1, 2, 3, 4]),
        (7, [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4]),
    ],
)
def test_any_number_plays_and_an_odd_one_has_a_group_of_three(
    players: int, first: list[int], second: list[int] | None
) -> None:
    night = bracket(players)
    assert players_of_round(night, 0) == first
    play_by_seed(night)
    if second is not None:
        night.open_round()
        assert players_of_round(night, 1) == second
        play_by_seed(night, 1)
    assert sorted(player_id for _, player_id, _ in standings_rows(night)) == list(range(1, players + 1))
    expected = verify_groups.hole_bracket_table(night.tournament)
    assert {row["playerId"]: row["position"] for row in expected} == {
        row.player_id: row.position for row in night.standings()
    }


def test_those_with_a_bye_join_later() -> None:
    night = bracket(6)
    assert players_of_round(night, 0) == [3, 4, 5, 6]
    play_by_seed(night)
    night.open_round()
    assert players_of_round(night, 1) == [1, 2, 3, 4]


def test_closed_early_and_reopened_the_missing_holes_are_there_again() -> None:
    night = bracket()
    play_all(night, {1: (1, 2), 4: (2,)})
    arenas = [hole.arena_id for hole in holes_of_player(night, 4, 0)]
    night.complete()
    assert len(night.tournament.single_player_games) == 3
    assert standings_rows(night) == []
    night.apply(tournament_commands.reopen(night.tournament))
    assert len(night.tournament.single_player_games) == 16
    assert [hole.status for hole in holes_of_player(night, 4, 0)] == ["completed", "pending"]
    assert [holes_of_player(night, player, 0)[0].arena_id for player in (1, 4, 5, 8)] == [arenas[0]] * 4
    play_all(night, {4: (3,), **{player: FIRST[player] for player in (5, 8, 2, 3, 6, 7)}})
    night.open_round()
    assert players_of_round(night, 1) == [1, 2, 3, 4]


def pending_holes(night: Night) -> list[SinglePlayerGame]:
    return [game for game in night.tournament.single_player_games if game.status != "completed"]


@quick
@given(
    size=st.sampled_from((4, 6, 8, 10, 16)),
    games=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_any_bracket_ends_with_everybody_placed_and_can_be_taken_back(
    size: int, games: int, seed: int
) -> None:
    night = a_night("golf_bracket", players=size, bracket_size=size, games_per_round=games)
    planned, dice = night.tournament, Random(seed)
    night.start()
    form = tournament_commands.format_of(night.tournament)
    while not form.is_over(night.tournament):
        tied = tiebreak_commands.tied_groups(night.tournament)
        if pending_holes(night):
            hole = dice.choice(pending_holes(night))
            outcome = AttemptOutcome(
                single_player_game_id=hole.single_player_game_id, strokes=dice.randint(1, 6)
            )
            night.record(outcome)
        elif tied and len(tied[0]) <= 4:
            night.apply(tiebreak_commands.open_tiebreak(night.tournament, tied[0], night.now))
        else:
            night.open_round()
    rows = night.standings()
    assert {row.player_id for row in rows} == set(range(1, size + 1))
    finalists = [row for row in rows if row.position <= 4]
    totals = [Decimal(str(row.points_with_tiebreaker)) for row in finalists]
    assert totals == sorted(totals)
    night.undo_all()
    assert night.tournament == planned
