"""Standings of strike formats. Source: formats, sections 12 to 14.2, and hand-checked nights."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules import knockouts
from rules.knockouts import knockout_tournament
from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.rules.model.tournament import Entrant
from silverball.rules.ranking.standing import Bubble
from silverball.rules.registry import FORMATS

VECTORS = load.vectors("knockouts")
HEAD_TO_HEAD = ("1.00", "0.00")


def _chosen(vector: Any) -> dict[str, Any]:
    return {
        "knockoutStrikeCount": vector["knockoutStrikeCount"],
        "knockoutFair": vector["knockoutFair"],
        "knockoutFourPlayerStrikes": vector["four"],
        "knockoutThreePlayerStrikes": vector["three"],
    }


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_a_real_night_replays_to_its_strikes_and_places(vector: Any) -> None:
    rounds = [
        [dict(zip(game["players"], game["points"], strict=True)) for game in games]
        for games in vector["rounds"]
    ]
    rows = knockouts.standings(knockout_tournament(rounds, vector["type"], **_chosen(vector)))
    expected = vector["expected"]
    assert {str(row.player_id): row.strike_count for row in rows} == expected["strikes"]
    assert {str(row.player_id): row.position for row in rows} == expected["positions"]


# Position, player, strikes; worked out by hand from the rounds.
TABLES: dict[str, tuple[dict[str, Any], list[list[dict[int, str]]], list[tuple[int, int, int]]]] = {
    "one strike of four, limit one": (
        {"knockoutStrikeCount": 1, "knockoutFourPlayerStrikes": 1},
        [
            [{1: "1.00", 2: "1.00", 3: "1.00", 4: "0.00"}],
            [{1: "1.00", 2: "1.00", 3: "0.00"}],
            [{1: "0.00", 2: "1.00"}],
        ],
        [(1, 2, 0), (2, 1, 1), (3, 3, 1), (4, 4, 1)],
    ),
    "three strikes of four, limit two": (
        {"knockoutStrikeCount": 2, "knockoutFourPlayerStrikes": 3},
        [
            [{1: "1.00", 2: "0.00", 3: "0.00", 4: "0.00"}],
            [{1: "0.00", 2: "1.00", 3: "0.00", 4: "0.00"}],
            [{1: "1.00", 2: "0.00"}],
        ],
        [(1, 1, 1), (2, 2, 2), (3, 3, 2), (3, 4, 2)],
    ),
    "progressive, limit six": (
        {"knockoutStrikeCount": 6, "knockoutProgressive": True, "knockoutFourPlayerStrikes": 100},
        [
            [{1: "1.00", 2: "0.03", 3: "0.02", 4: "0.01"}],
            [{1: "0.03", 2: "1.00", 3: "0.02", 4: "0.01"}],
            [{1: "0.02", 2: "1.00", 3: "0.01"}],
            [{1: "0.01", 2: "1.00"}],
        ],
        # 4 has 3 + 3 = 6 after round 2; 3 has 2 + 2 + 2 = 6 after round 3: out later, so before 4.
        [(1, 2, 1), (2, 1, 3), (3, 3, 6), (4, 4, 6)],
    ),
    "two strikes in a group of three": (
        {"knockoutStrikeCount": 1, "knockoutThreePlayerStrikes": 0},
        [[{1: "1.00", 2: "0.00", 3: "0.00"}]],
        [(1, 1, 0), (2, 2, 1), (2, 3, 1)],
    ),
    "one strike in a group of three": (
        {"knockoutStrikeCount": 1, "knockoutThreePlayerStrikes": 1},
        [[{1: "1.00", 2: "1.00", 3: "0.00"}], [{1: "0.00", 2: "1.00"}]],
        [(1, 2, 0), (2, 1, 1), (3, 3, 1)],
    ),
    "fair, overshoot is kept": (
        {"knockoutStrikeCount": 3, "knockoutFair": True, "knockoutFourPlayerStrikes": 101},
        [
            [{1: "1.00", 2: "0.02", 3: "0.02", 4: "0.01"}],
            [{1: "1.00", 2: "0.02", 3: "0.02", 4: "0.01"}],
            [{1: "1.00", 2: "0.02", 3: "0.01"}],
        ],
        # 4 is out after round 2 with 4 of 3; 2 and 3 after round 3 with 3 and 4.
        [(1, 1, 0), (2, 2, 3), (3, 3, 4), (4, 4, 4)],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_night_ends_in_the_table_worked_out_by_hand(name: str) -> None:
    chosen, rounds, expected = TABLES[name]
    assert knockouts.standings_with_strikes(knockout_tournament(rounds, **chosen)) == expected


def test_the_row_of_a_real_knockout_winner_has_points_strikes_and_games_as_observed() -> None:
    """Position 1, "9.00", 2 strikes, 11 games; position 2, "8.00", 3 strikes, 10 games and a bye."""
    rounds: list[list[dict[int, str]]] = [[{1: "1.00", 2: "0.00"}] for _ in range(2)]
    rounds += [[{1: "0.00", 2: "1.00"}] for _ in range(2)]
    rounds += [[{1: "1.00", 3: "0.00"}, {2: "1.00", 4: "0.00"}] for _ in range(5)]
    rounds += [[{1: "1.00", 3: "0.00"}, {2: "1.00"}], [{1: "1.00", 2: "0.00"}]]
    rows = {row.player_id: row for row in knockouts.standings(knockout_tournament(rounds, "knockout"))}
    first, second = rows[1], rows[2]
    assert (first.position, first.points, first.strike_count, first.games_played) == (1, "9.00", 2, 11)
    assert (second.position, second.points, second.strike_count) == (2, "8.00", 3)
    assert (second.games_played, second.tiebreakers) == (10, ("8.00",))


def test_strikes_of_the_open_round_are_shown_but_put_nobody_out_yet() -> None:
    rounds = [[{1: "1.00", 2: "0.00"}, {3: "1.00", 4: "0.00"}], [{1: "0.00", 3: "1.00"}]]
    played = knockout_tournament(rounds, "knockout", status="started", open_rounds=1, knockoutStrikeCount=1)
    rows = {row.player_id: row for row in knockouts.standings(played)}
    assert (rows[1].strike_count, rows[1].position) == (1, 2)
    assert not FORMATS["knockout"].is_over(played)
    assert FORMATS["knockout"].is_over(knockout_tournament(rounds, "knockout", knockoutStrikeCount=1))


def test_a_started_game_is_shown_as_active_in_green() -> None:
    rounds = [[{1: "1.00", 2: "0.00"}], [{2: "-", 1: "-"}]]
    played = knockout_tournament(rounds, "knockout", status="started", open_rounds=1)
    assert [(row.active_games, row.active_game_color) for row in knockouts.standings(played)] == [
        ((2000,), "green"),
        ((2000,), "green"),
    ]


def test_a_strike_by_hand_counts_at_once_and_one_taken_back_brings_a_player_back() -> None:
    rounds = [[{1: "1.00", 2: "0.00"}], [{1: "1.00", 2: "0.00"}]]
    struck = Entrant(player_id=2, points_adjustment=Decimal(1))
    assert FORMATS["knockout"].is_over(knockout_tournament(rounds, "knockout", entrants=[struck]))
    spared = Entrant(player_id=2, points_adjustment=Decimal(-1))
    rounds += [[{1: "1.00", 2: "0.00"}]]
    assert not FORMATS["knockout"].is_over(knockout_tournament(rounds, "knockout", entrants=[spared]))


def test_an_adjusted_strike_does_not_put_a_player_out_before_their_last_game() -> None:
    rounds = [[{1: "1.00", 2: "0.00"}, {3: "1.00", 4: "0.00"}] for _ in range(2)]
    rounds += [[{1: "1.00", 3: "0.00"}, {2: "1.00", 4: "0.00"}]]
    struck = Entrant(player_id=2, points_adjustment=Decimal(1))
    # 2 would have had three strikes after round 2, but played round 3: out with 4, in the same round.
    assert knockouts.standings_with_strikes(knockout_tournament(rounds, "knockout", entrants=[struck])) == [
        (1, 1, 0),
        (2, 3, 1),
        (3, 2, 3),
        (3, 4, 3),
    ]


def test_a_late_player_starts_with_the_strikes_given_to_them() -> None:
    late = Entrant(player_id=3, points_adjustment=Decimal(2))
    started = knockout_tournament([[{1: "1.00", 2: "0.00"}]], "knockout", status="started", entrants=[late])
    assert knockouts.standings_with_strikes(started) == [(1, 1, 0), (2, 2, 1), (3, 3, 2)]


def test_when_strikes_by_hand_leave_nobody_those_who_were_left_share_first_place() -> None:
    rounds = [[{1: "1.00", 2: "0.00"}, {4: "1.00", 3: "0.00"}] for _ in range(2)]
    rounds += [[{1: "1.00", 4: "0.00"}]]
    hit = [
        Entrant(player_id=1, points_adjustment=Decimal(5)),
        Entrant(player_id=4, points_adjustment=Decimal(1)),
    ]
    played = knockout_tournament(rounds, "knockout", entrants=hit, knockoutStrikeCount=2)
    assert [row[:2] for row in knockouts.standings_with_strikes(played)] == [(1, 1), (1, 4), (3, 2), (3, 3)]


def test_a_player_who_leaves_is_out_in_the_round_of_the_last_game_whatever_the_strikes() -> None:
    rounds = [
        [{1: "1.00", 2: "0.00"}, {3: "1.00", 4: "0.00"}],
        [{1: "1.00", 3: "0.00"}, {2: "1.00", 4: "0.00"}],
        # 3 went home with one strike.
        [{1: "0.00", 2: "1.00"}, {4: "1.00"}],
        [{1: "1.00", 4: "0.00"}, {2: "1.00"}],
    ]
    played = knockout_tournament(rounds, "knockout", knockoutStrikeCount=3)
    assert [row[:2] for row in knockouts.standings_with_strikes(played)] == [(1, 1), (1, 2), (3, 4), (4, 3)]


def test_a_player_who_was_set_inactive_is_out_and_a_returned_player_is_not() -> None:
    rounds = [[{1: "1.00", 2: "0.00"}, {3: "1.00", 4: "0.00"}]]
    left = Entrant(player_id=3, is_active=False)
    played = knockout_tournament(rounds, "knockout", status="started", entrants=[left])
    assert knockouts.standings_with_strikes(played)[-1][:2] == (4, 3)
    rounds += [[{1: "1.00", 2: "0.00"}, {4: "1.00"}], [{1: "-", 3: "-"}, {2: "-", 4: "-"}]]
    back = knockout_tournament(rounds, "knockout", status="started", open_rounds=1)
    assert knockouts.standings_with_strikes(back)[0][:2] == (1, 1)
    assert knockouts.standings_with_strikes(back)[1][:2] == (1, 3)


def test_the_survivor_stays_first_when_set_inactive_after_the_end() -> None:
    rounds = [[{1: "1.00", 2: "0.00"}]]
    gone = [Entrant(player_id=1, is_active=False), Entrant(player_id=2, is_active=False)]
    assert knockouts.standings_with_strikes(
        knockout_tournament(rounds, "knockout", entrants=gone, knockoutStrikeCount=1)
    )[0] == (1, 1, 0)


def test_a_player_who_never_came_is_last_once_the_tournament_is_completed() -> None:
    absent = Entrant(player_id=9)
    played = knockout_tournament(
        [[{1: "1.00", 2: "0.00"}]], "knockout", entrants=[absent], knockoutStrikeCount=1
    )
    assert knockouts.standings_with_strikes(played) == [(1, 1, 0), (2, 2, 1), (3, 9, 0)]


def test_a_player_who_is_inactive_and_never_played_is_not_listed() -> None:
    absent = Entrant(player_id=9, is_active=False)
    assert (
        len(
            knockouts.standings_with_strikes(
                knockout_tournament([[{1: "1.00", 2: "0.00"}]], "knockout", entrants=[absent])
            )
        )
        == 2
    )
    assert knockouts.standings_with_strikes(knockout_tournament([], "knockout", status="planned")) == []


def test_fair_and_progressive_show_rounds_and_strikes_as_tiebreakers() -> None:
    """A real row of a fair knockout reads [10, 7]: ten rounds, seven strikes."""
    rounds: list[list[dict[int, str]]] = [[{1: "1.00", 2: "0.01"}], [{1: "1.00", 2: "0.01"}]]
    rows = knockouts.standings(knockout_tournament(rounds, knockoutFair=True, knockoutStrikeCount=3))
    assert [(row.tiebreakers, row.points) for row in rows] == [((2, 0), "2.00"), ((2, 4), "0.02")]


def test_a_correction_of_the_score_is_shown_beside_the_strikes() -> None:
    corrected = Entrant(player_id=1, score_adjustment=Decimal(-2))
    rows = knockouts.standings(
        knockout_tournament([[{1: "1.00", 2: "0.00"}]], "knockout", entrants=[corrected])
    )
    assert [row.adjustment for row in rows] == [Decimal(-2), Decimal(0)]


def test_players_tied_across_a_border_are_on_the_bubble() -> None:
    band = {"index": 0, "value": 2, "cumulative": 2, "text": "Final", "color": "green"}
    rounds = [[{1: "1.00", 2: "0.00", 3: "0.00"}]]
    rows = knockouts.standings(
        knockout_tournament(
            rounds, knockoutStrikeCount=1, knockoutThreePlayerStrikes=0, playoffsCutoffs=[band]
        )
    )
    assert [row.bubble for row in rows] == [Bubble(), Bubble(True, "green"), Bubble(True, "green")]


@pytest.mark.parametrize(
    ("result", "chosen"),
    [({1: "7.00", 2: "1.00"}, {}), ({1: "1.00", 2: "0.00"}, {"knockoutFair": True})],
)
def test_points_that_mean_no_strikes_are_refused_with_the_game(
    result: dict[int, str], chosen: dict[str, Any]
) -> None:
    with pytest.raises(Invalid) as refused:
        knockouts.standings(knockout_tournament([[result]], **chosen))
    assert list(refused.value.errors) == ["games.1000.resultPoints"]


def test_a_completed_game_without_points_is_refused() -> None:
    played = knockout_tournament([[{1: "1.00", 2: "0.00"}]], "knockout")
    broken = replace(played.games[0], result_points=(None, None))
    with pytest.raises(Invalid, match="Game 1000 is completed"):
        knockouts.standings(replace(played, games=(broken,)))


@st.composite
def strike_nights(draw: st.DrawFn) -> tuple[list[list[dict[int, str]]], int]:
    """A knockout played to its end: random winners of pairs, a bye for an odd number."""
    count = draw(st.integers(1, 3))
    strikes = dict.fromkeys(range(1, draw(st.integers(2, 9)) + 1), 0)
    rounds: list[list[dict[int, str]]] = []
    while sum(given < count for given in strikes.values()) > 1:
        alive = draw(
            st.permutations(
                [player_id for player_id, strike_count in strikes.items() if strike_count < count]
            )
        )
        games = [dict(zip(alive[n : n + 2], HEAD_TO_HEAD, strict=True)) for n in range(0, len(alive) - 1, 2)]
        if len(alive) % 2:
            games.append({alive[-1]: "1.00"})
        for game in games:
            if len(game) == 2:
                strikes[list(game)[1]] += 1
        rounds.append(games)
    return rounds, count


@quick
@given(strike_nights())
def test_the_survivor_is_first_and_points_agree_with_the_places(
    evening: tuple[list[list[dict[int, str]]], int],
) -> None:
    rounds, count = evening
    rows = knockouts.standings(knockout_tournament(rounds, "knockout", knockoutStrikeCount=count))
    assert (rows[0].position, (rows[0].strike_count or 0) < count) == (1, True)
    assert all((row.strike_count or 0) >= count for row in rows[1:])
    # Without adjustments the order is that of the points (formats, 14.1).
    points = [Decimal(str(row.points)) for row in rows]
    assert points == sorted(points, reverse=True)
    assert [row.position for row in rows] == [1 + sum(other > own for other in points) for own in points]


@quick
@given(strike_nights())
def test_strikes_never_become_fewer_from_round_to_round(
    evening: tuple[list[list[dict[int, str]]], int],
) -> None:
    rounds, count = evening
    before: dict[int, int] = {}
    for n in range(1, len(rounds) + 1):
        played = knockout_tournament(rounds[:n], "knockout", status="started", knockoutStrikeCount=count)
        after = {row.player_id: row.strike_count or 0 for row in knockouts.standings(played)}
        assert all(after[player_id] >= given for player_id, given in before.items())
        before = after


@quick
@given(strike_nights(), st.randoms(use_true_random=False))
def test_the_order_of_games_and_entrants_does_not_matter(
    evening: tuple[list[list[dict[int, str]]], int], dice: Any
) -> None:
    rounds, count = evening
    played = knockout_tournament(rounds, "knockout", knockoutStrikeCount=count)
    games, entrants = list(played.games), list(played.entrants)
    dice.shuffle(games)
    dice.shuffle(entrants)
    mixed = replace(played, games=tuple(games), entrants=tuple(entrants))
    assert knockouts.standings(mixed) == knockouts.standings(played)
