"""The meaningful games of played nights, from their records. Source: ratings, B.3."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from silverball.kit.values import replace
from silverball.rules.model.settings import read_settings
from silverball.rules.model.tournament import (
    Entrant,
    Game,
    LineupArena,
    Round,
    SinglePlayerGame,
    Tournament,
)
from silverball.rules.planning import simulation
from silverball.rules.planning.answers import Circumstances, MeaningfulGames
from silverball.rules.planning.played import NOBODY_AT_TARGET, NOTHING_PLAYED, STROKES_MISSING
from silverball.rules.registry import FORMATS

Groups = Sequence[Sequence[int]]


def a_game(game_id: int, round_id: int | None, players: Sequence[int], **values: Any) -> Game:
    points = tuple(Decimal(7 - 2 * place) for place in range(len(players)))
    return Game(
        **{
            "game_id": game_id,
            "round_id": round_id,
            "status": "completed",
            "player_ids": tuple(players),
            "result_positions": tuple(players),
            "result_points": points,
            "result_scores": (None,) * len(players),
            **values,
        }
    )


def a_night(
    type_: str, rounds: Sequence[Groups], settings: dict[str, Any] | None = None, games: int = 1
) -> Tournament:
    """A completed night: each round as its groups, each of which played so many games."""
    form = FORMATS[type_]
    played: list[Game] = []
    for number, groups in enumerate(rounds, start=1):
        for set_number, group in enumerate(groups):
            for _game in range(games):
                played.append(
                    a_game(len(played) + 1, number, group, set_number=set_number, is_bye=len(group) == 1)
                )
    players = sorted({player_id for game in played for player_id in game.player_ids})
    return Tournament(
        tournament_id=1,
        type=type_,
        status="completed",
        settings=read_settings(form.settings, settings or {}),
        entrants=tuple(Entrant(player_id=player_id) for player_id in players),
        rounds=tuple(
            Round(round_id=number, round_index=number - 1, status="completed")
            for number in range(1, len(rounds) + 1)
        ),
        games=tuple(played),
    )


def count(tournament: Tournament, **circumstances: Any) -> MeaningfulGames:
    form = FORMATS[tournament.type]
    return form.meaningful_games_played(tournament, Circumstances(**circumstances))


EIGHT: Groups = ((1, 2, 3, 4), (5, 6, 7, 8))
TEN: Groups = ((1, 2, 3, 4), (5, 6, 7), (8, 9, 10))
SEVEN: Groups = ((1, 2, 3, 4), (5, 6, 7))
PAIRS: Groups = ((1, 2), (3, 4), (5,))


@pytest.mark.parametrize(
    ("type_", "rounds", "games", "expected"),
    [
        ("group_matchplay", [EIGHT, EIGHT, EIGHT], 1, 6),
        # Threes outnumber fours in the second round only.
        ("group_matchplay", [EIGHT, TEN], 1, Fraction(7, 2)),
        ("group_matchplay", [EIGHT, EIGHT], 2, 8),
        # Equal in number: the smaller weight.
        ("group_matchplay", [SEVEN], 1, Fraction(3, 2)),
        ("matchplay", [PAIRS, PAIRS], 1, 2),
        ("matchplay", [PAIRS, PAIRS], 3, 6),
        ("manual_matchplay", [EIGHT, EIGHT], 1, 4),
        ("max_matchplay", [((1, 2), (3, 4)), ((1, 3), (2, 4))], 1, 2),
        ("round_robin", [((1, 2), (3,)), ((1, 3), (2,)), ((2, 3), (1,))], 1, 2),
        ("frenzy", [((1, 2), (3, 4)), ((1, 3), (2, 4))], 1, 1),
    ],
)
def test_a_played_night_counts_its_record(
    type_: str, rounds: list[Groups], games: int, expected: Fraction | int
) -> None:
    assert count(a_night(type_, rounds, games=games)).games == expected


@pytest.mark.parametrize(
    ("type_", "rounds", "recorded"),
    [
        # Three rounds, mean weight of a game (2 + 2 + 1.5 + 1) / 4.
        (
            "group_knockout",
            [EIGHT, ((1, 2, 3),), ((1, 2),)],
            "mean weight of all games, 1.62, 4.88 games",
        ),
        ("knockout", [PAIRS, ((1, 2),)], "2 rounds times the mean weight of all games, 1, 2 games"),
        (
            "pace_matchplay",
            [EIGHT, ((1, 2),)],
            "mean weight of all games, 1.67, 3.33 games",
        ),
    ],
)
def test_a_night_of_strikes_counts_what_is_expected_from_start_to_end_beside_its_record(
    type_: str, rounds: list[Groups], recorded: str
) -> None:
    night = a_night(type_, rounds)
    players = len({player_id for group in rounds[0] for player_id in group})
    planned = FORMATS[type_].meaningful_games(
        night.settings, players, Circumstances(find_outcome=simulation.simulate)
    )
    found = count(night, find_outcome=simulation.simulate)
    assert (found.games, found.notes[0]) == (planned.games, planned.notes[0])
    assert recorded in found.notes[1]
    # Until it is simulated there is no number, and never another one.
    awaited = count(night)
    assert (awaited.games, awaited.awaited is None) == (None, False)


def test_strikes_of_a_field_that_is_not_simulated_count_their_record() -> None:
    everybody = tuple((2 * number + 1, 2 * number + 2) for number in range(501))
    assert count(a_night("knockout", [everybody])).games == 1


def test_tiebreaks_forfeits_byes_and_open_games_count_nothing() -> None:
    night = a_night("matchplay", [((1, 2), (3, 4))])
    extra = (
        a_game(90, 1, (1, 2), set_number=9, is_tiebreak=True),
        a_game(91, None, (1, 3), is_tiebreak=True),
        a_game(92, 1, (3, 4), set_number=1, forfeited_by=3),
        a_game(93, 1, (1, 2), set_number=0, status="started"),
    )
    assert count(replace(night, games=night.games + extra)).games == count(night).games == 1


@pytest.mark.parametrize("type_", ["matchplay", "knockout", "max_matchplay", "frenzy", "manual_matchplay"])
def test_a_night_without_a_finished_game_has_no_number(type_: str) -> None:
    found = count(a_night(type_, []))
    assert (found.games, found.notes) == (None, (NOTHING_PLAYED,))


def test_a_target_counts_the_first_or_the_mean_of_those_who_reached_it() -> None:
    # 7, 5, 3 and 1 points a round: player 1 has 14 after two rounds, player 2 after three.
    night = a_night("target", [((1, 2, 3, 4),)] * 3, {"targetPoints": 14})
    assert count(night, part="finals").games == 4
    assert count(night, part="qualifying").games == 5
    nobody = a_night("target", [((1, 2, 3, 4),)], {"targetPoints": 100})
    assert count(nobody).notes == (NOBODY_AT_TARGET,)


def a_course(type_: str, strokes: dict[int, list[int]], settings: dict[str, Any]) -> Tournament:
    """A course on which these players took these strokes, hole by hole."""
    holes = max(len(taken) for taken in strokes.values())
    attempts = [
        SinglePlayerGame(
            single_player_game_id=player_id * 100 + hole,
            player_id=player_id,
            status="completed",
            round_id=hole + 1,
            points=Decimal(taken[hole]),
        )
        for player_id, taken in strokes.items()
        for hole in range(len(taken))
    ]
    return Tournament(
        tournament_id=1,
        type=type_,
        status="completed",
        settings=read_settings(FORMATS[type_].settings, settings),
        entrants=tuple(Entrant(player_id=player_id) for player_id in strokes),
        rounds=tuple(Round(round_id=hole + 1, round_index=hole, status="completed") for hole in range(holes)),
        single_player_games=tuple(attempts),
    )


@pytest.mark.parametrize(
    ("settings", "counted_ids", "games"),
    [
        # The winner takes two strokes a hole, the second three.
        ({"golfDuration": 3}, (1,), 2),
        ({"golfDuration": 3}, (1, 2), Fraction(5, 2)),
        ({"golfDuration": 3}, (3,), 3),
        ({"golfDuration": 3, "golfHolesCounted": 2}, (1,), Fraction(4, 3)),
    ],
)
def test_holes_count_by_the_strokes_of_those_who_go_on(
    settings: dict[str, Any], counted_ids: tuple[int, ...], games: Fraction | int
) -> None:
    course = a_course("golf", {1: [2, 2, 2], 2: [3, 3, 3], 3: [5, 6, 4]}, settings)
    assert count(course, counted_ids=counted_ids).games == games


def test_a_course_of_which_nobody_counts_has_no_number() -> None:
    course = a_course("golf", {1: [2, 2]}, {})
    assert count(course).notes == count(course, counted_ids=(7,)).notes == (STROKES_MISSING,)


def test_players_who_skip_a_round_of_holes_are_for_the_federation() -> None:
    course = a_course("golf_bracket", {1: [3, 3], 2: [4, 4], 3: [3, 3]}, {})
    late = replace(
        course,
        single_player_games=tuple(
            attempt
            for attempt in course.single_player_games
            if (attempt.player_id, attempt.round_id) != (3, 1)
        ),
    )
    assert not count(course, counted_ids=(1,)).is_unsettled
    assert count(late, counted_ids=(1,)).is_unsettled


@pytest.mark.parametrize(
    ("type_", "settings", "players", "expected"),
    [
        ("bracket", {"gamesPerRound": 3}, 16, 10),
        ("group_bracket", {"bracketSize": 8}, 8, 12),
        ("ladder", {}, 8, Fraction(9, 2)),
        ("card_best_game", {}, 8, 5),
        ("best_game", {}, 8, 3),
        ("double_bracket", {}, 8, Fraction(39, 8)),
        ("bowling", {}, 8, None),
        ("amazingrace", {}, 8, None),
    ],
)
def test_formats_of_fixed_length_count_as_planned(
    type_: str, settings: dict[str, Any], players: int, expected: Fraction | int | None
) -> None:
    night = replace(
        a_night(type_, [], settings),
        entrants=tuple(Entrant(player_id=number) for number in range(players)),
        lineup=tuple(LineupArena(arena_id=number) for number in range(3)),
    )
    assert count(night, arenas=3).games == expected
