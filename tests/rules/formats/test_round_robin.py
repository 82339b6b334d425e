"""Round robins. Source: formats, sections 14.8, 20 and 24; tables by hand."""

from collections import Counter
from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.changes import GameDeleted
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game
from silverball.rules.registry import FORMATS

VECTORS = load.vectors("groups")
KEYS = "scorekeeping roundRobinGroupSize byes seeding playerOrder arenaAssignment suggestions playoffsCutoffs"


def start_night(players: int, **given: Any) -> Night:
    """A running round robin, seeded in the order of the player ids."""
    night = a_night("round_robin", players=players, **{"seeding": "manual", **given})
    night.start()
    return night


def rounds_of(night: Night) -> list[tuple[Game, ...]]:
    games = night.tournament.games_by_round
    return [games.get(round_.round_id, ()) for round_ in night.tournament.rounds_in_order]


def game_between(night: Night, player_id: int, opponent_id: int) -> Game:
    return next(game for game in night.tournament.games if set(game.player_ids) == {player_id, opponent_id})


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    assert settings.default_values(FORMATS["round_robin"].settings) == {
        "scorekeeping": "disabled",
        "roundRobinGroupSize": 0,
        "byes": "full",
        "seeding": "random",
        "playerOrder": "balanced",
        "arenaAssignment": "balanced",
        "suggestions": "disabled",
        "playoffsCutoffs": (),
    }
    assert list(settings.default_values(FORMATS["round_robin"].settings)) == KEYS.split()


@pytest.mark.parametrize("given", [{"roundRobinGroupSize": -1}, {"roundRobinGroupSize": 65}, {"byes": "two"}])
def test_a_value_outside_its_limits_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=next(iter(given))):
        settings.read_settings(FORMATS["round_robin"].settings, given)


@pytest.mark.parametrize("players", VECTORS["round_robin"])
def test_a_started_tournament_has_the_schedule_of_the_library(players: str) -> None:
    made = [
        {
            "groups": [list(game.player_ids) for game in games if not game.is_bye],
            "byes": [game.player_ids[0] for game in games if game.is_bye],
        }
        for games in rounds_of(start_night(int(players), arenas=0))
    ]
    assert made == VECTORS["round_robin"][players]


@pytest.mark.parametrize("name", VECTORS["wcs_groups"])
def test_groups_are_those_of_the_library_a_round_for_each(name: str) -> None:
    players, size = map(int, name.split("/"))
    night = start_night(players, round_robin_group_size=size, arenas=0)
    groups = VECTORS["wcs_groups"][name]
    if len(groups) == 1:
        # A group of all players gives the rounds without groups.
        assert len(rounds_of(night)) == players - 1 + players % 2
        return
    met = [
        sorted({player_id for game in games for player_id in game.player_ids}) for games in rounds_of(night)
    ]
    assert met == [sorted(group) for group in groups]
    for games, group in zip(rounds_of(night), groups, strict=True):
        assert {tuple(sorted(game.player_ids)) for game in games} == set(combinations(sorted(group), 2))
        assert len(games) == len(group) * (len(group) - 1) // 2


def test_a_game_has_the_shape_of_a_round_of_two() -> None:
    night = start_night(5)
    first, second, bye = rounds_of(night)[0]
    assert [(game.set_number, game.game_index) for game in (first, second)] == [(0, 0), (1, 0)]
    assert first.advantage_id == first.player_ids[0]
    assert (bye.set_number, bye.game_index, bye.player_ids) == (9999, None, (5,))
    assert [str(points) for points in bye.result_points] == ["1.00"]


@pytest.mark.parametrize(("byes", "points"), [("full", "1.00"), ("half", "0.50"), ("zero", "0.00")])
def test_a_bye_is_worth_what_is_set(byes: str, points: str) -> None:
    night = start_night(3, byes=byes)
    assert {row.points for row in night.standings()} == {points}
    assert {row.games_played for row in night.standings()} == {0}


def test_each_arena_is_used_once_in_a_round_and_the_rest_is_chosen_later() -> None:
    for games in rounds_of(start_night(8, arenas=3)):
        arenas = [game.arena_id for game in games if game.arena_id is not None]
        assert len(arenas) == len(set(arenas)) == 3


def test_the_schedule_already_gives_everybody_half_of_the_starts() -> None:
    night = start_night(8)
    firsts = Counter(game.player_ids[0] for game in night.tournament.games)
    assert all(count in {3, 4} for count in firsts.values())


def test_another_playing_order_wins_over_the_schedule() -> None:
    night = start_night(6, player_order="seed")
    assert all(game.player_ids[0] < game.player_ids[1] for game in night.tournament.games)


def test_a_win_is_a_point_and_equals_share_a_place() -> None:
    # By hand: 1 beats all, 2, 3 and 4 beat each other in a ring.
    night = start_night(4)
    for winner, loser in ((1, 2), (1, 3), (1, 4), (2, 3), (3, 4), (4, 2)):
        assert not tournament_commands.format_of(night.tournament).is_over(night.tournament)
        night.record_order(game_between(night, winner, loser), winner, loser)
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    assert [(row.position, row.player_id, row.points, row.tiebreakers) for row in night.standings()] == [
        (1, 1, "3.00", ("3.00",)),
        (2, 2, "1.00", ("1.00",)),
        (2, 3, "1.00", ("1.00",)),
        (2, 4, "1.00", ("1.00",)),
    ]


def test_the_rows_are_those_of_the_list_family() -> None:
    night = start_night(4)
    night.record_order(game_between(night, 1, 2), 1, 2)
    night.adjust(2, "1.50")
    row = night.row(2)
    assert (row.points, row.points_with_tiebreaker, row.games_played) == ("1.50", None, 1)
    assert (row.entries_played, row.entries_available, row.strike_count) == (0, 0, 0)
    assert row.adjustment is not None
    assert str(row.adjustment) == "1.50"
    assert row.active_games == tuple(game.game_id for game in night.open_games() if 2 in game.player_ids)


def test_groups_are_ranked_together_by_points() -> None:
    # 6 players in threes: groups 1, 4, 6 and 2, 3, 5. The lower id wins every game.
    night = start_night(6, round_robin_group_size=3)
    night.finish_round()
    assert [(row.position, row.player_id) for row in night.standings()] == [
        (1, 1),
        (1, 2),
        (3, 3),
        (3, 4),
        (5, 5),
        (5, 6),
    ]


def test_rounds_are_played_in_any_order_and_complete_themselves() -> None:
    night = start_night(4)
    last = rounds_of(night)[-1]
    for game in last:
        night.record_order(game, *game.player_ids)
    assert [round_.status for round_ in night.tournament.rounds_in_order] == [
        "started",
        "started",
        "completed",
    ]
    night.clear(last[0])
    assert {round_.status for round_ in night.tournament.rounds} == {"started"}


def test_any_result_can_be_corrected_while_it_runs() -> None:
    night = start_night(4)
    night.finish_round()
    assert [row.points for row in night.standings()] == ["3.00", "2.00", "1.00", "0.00"]
    night.correct(game_between(night, 1, 4), 4, 1)
    assert [(row.player_id, row.points) for row in night.standings()] == [
        (1, "2.00"),
        (2, "2.00"),
        (3, "1.00"),
        (4, "1.00"),
    ]


def test_a_forfeit_is_a_win_for_the_other() -> None:
    night = start_night(4)
    game = game_between(night, 1, 2)
    night.record(GameOutcome(game_id=game.game_id, forfeited_by=1))
    assert (night.row(2).points, night.game(game.game_id).forfeited_by) == ("1.00", 1)


def test_a_player_who_leaves_forfeits_what_is_open() -> None:
    night = start_night(5)
    night.record_order(game_between(night, 5, 1), 5, 1)
    night.leave(5)
    assert not [game for game in night.open_games() if 5 in game.player_ids]
    assert [night.row(player_id).points for player_id in (1, 2, 3, 4, 5)] == [
        "1.00",
        "2.00",
        "2.00",
        "2.00",
        "2.00",
    ]
    with pytest.raises(Conflict, match="nothing to forfeit"):
        tournament_commands.forfeit_open_games(night.tournament, 5, night.dice(), night.now)


def test_a_late_player_gets_everybody_a_new_schedule_before_the_first_result() -> None:
    night = start_night(4)
    before = night.tournament
    night.join(9)
    assert {tuple(sorted(game.player_ids)) for game in night.tournament.games if not game.is_bye} == set(
        combinations((1, 2, 3, 4, 9), 2)
    )
    assert night.tournament.entrant_by_id[9].seed_rank == 5
    night.undo()
    assert night.tournament == before


def test_a_late_player_is_refused_after_the_first_result() -> None:
    night = start_night(4)
    night.record_order(game_between(night, 1, 2), 1, 2)
    with pytest.raises(Conflict, match="comes too late"):
        night.join(9)


def test_a_player_who_was_inactive_at_the_start_may_come_before_the_first_result() -> None:
    night = a_night("round_robin", players=4)
    night.leave(4)
    night.start()
    assert len(rounds_of(night)) == 3
    night.come_back(4)
    assert {player_id for game in night.tournament.games for player_id in game.player_ids} == {1, 2, 3, 4}


def test_closed_early_the_unplayed_games_go_and_come_back_when_it_is_reopened() -> None:
    night = start_night(5)
    night.record_order(game_between(night, 1, 2), 1, 2)
    schedule = {(game.round_id, frozenset(game.player_ids)) for game in night.tournament.games}
    night.complete()
    assert {game.status for game in night.tournament.games} == {"completed"}
    assert len([game for game in night.tournament.games if not game.is_bye]) == 1
    night.apply(tournament_commands.reopen(night.tournament))
    assert {(game.round_id, frozenset(game.player_ids)) for game in night.tournament.games} == schedule
    assert {round_.status for round_ in night.tournament.rounds} == {"started"}


def test_a_schedule_that_was_made_elsewhere_stays_as_it_is() -> None:
    night = start_night(4)
    first = night.tournament.games[0]
    strange = replace(first, set_number=7)
    games = tuple(strange if game == first else game for game in night.tournament.games)
    night.tournament = replace(night.tournament, games=games)
    night.record_order(strange, *strange.player_ids)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert len(night.tournament.games) == 1


@pytest.mark.parametrize(
    ("players", "given", "sentence"),
    [(1, {}, "too few"), (6, {"round_robin_group_size": 1}, "group of one")],
)
def test_a_start_that_cannot_be_is_refused(players: int, given: Any, sentence: str) -> None:
    with pytest.raises((Conflict, Invalid), match=sentence):
        start_night(players, **given)


def test_impossible_results_are_refused_and_change_nothing() -> None:
    night = start_night(5, arena_assignment="manual")
    game, bye = rounds_of(night)[0][0], rounds_of(night)[0][-1]
    player_id, opponent_id = game.player_ids
    for outcome, sentence in (
        (GameOutcome(game_id=game.game_id, finishing_order=(player_id, opponent_id)), "no arena yet"),
        (GameOutcome(game_id=bye.game_id, finishing_order=bye.player_ids), "bye"),
    ):
        with pytest.raises(Conflict, match=sentence):
            night.record(outcome)
    plain = start_night(4)
    game = rounds_of(plain)[0][0]
    player_id, opponent_id = game.player_ids
    for outcome in (
        GameOutcome(game_id=game.game_id, finishing_order=(player_id, 77)),
        GameOutcome(game_id=game.game_id, finishing_order=(player_id,)),
        GameOutcome(game_id=game.game_id, finishing_order=(player_id, player_id)),
        GameOutcome(game_id=game.game_id, scores={player_id: 5, opponent_id: 5}),
    ):
        with pytest.raises(Invalid):
            plain.record(outcome)
    assert len(plain.journal) == 1


def test_rounds_are_not_opened_completed_or_deleted_by_hand() -> None:
    night = start_night(4)
    first = night.tournament.rounds_in_order[0]
    with pytest.raises(Conflict, match="there already"):
        night.open_round()
    with pytest.raises(Conflict, match="completes itself"):
        tournament_commands.complete_round(night.tournament, first.round_id, night.now)
    with pytest.raises(Conflict, match="not deleted by hand"):
        tournament_commands.delete_round(night.tournament, night.tournament.rounds_in_order[-1].round_id)


@quick
@given(players=st.integers(2, 9), size=st.sampled_from((0, 2, 3, 4)), dice=st.randoms(use_true_random=False))
def test_any_night_ends_and_can_be_taken_back_to_the_plan(players: int, size: int, dice: Any) -> None:
    night = a_night("round_robin", players=players, arenas=4, round_robin_group_size=size)
    planned = night.tournament
    night.start()
    while night.open_games():
        game = dice.choice(night.open_games())
        night.record_order(game, *random_order(game, dice))
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    rows = night.standings()
    won = sum(float(str(row.points)) for row in rows)
    assert won == len(night.tournament.games)
    night.complete()
    assert not any(isinstance(change, GameDeleted) for change in night.journal[-1])
    night.undo_all()
    assert night.tournament == planned
