"""Matches of several games: as a winner, as games won, as single games. Source: formats, 14.10."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.bracket_night import games_of_round, pairs_of_round, record_win, standings_rows, start_night
from rules.night import Night, a_night
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import roster
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.changes import GameCleared, GameCompleted, GameCorrected, MatchCounted
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Bank, Game, Leg, Suggestion
from silverball.rules.ranking.standing import StoredResult, WinLossRule
from silverball.rules.ratings import standing
from silverball.rules.ratings.standing import FinishedGame
from silverball.rules.verify import results

NOTHING = (None, None)


def best_of(count: int, players: int = 4, **given: Any) -> tuple[Night, Game]:
    """A bracket of four, and the match of seeds 1 and 4."""
    night = start_night("bracket", players, games_per_round=count, **given)
    return night, next(game for game in night.open_games() if 1 in game.player_ids)


def won(first: int, fourth: int) -> Mapping[int, int]:
    """Games won by players 1 and 4."""
    return {1: first, 4: fourth}


def count_games(night: Night, game: Game, wins: Mapping[int, int]) -> Game:
    night.record(GameOutcome(game_id=game.game_id, games_won=wins))
    return night.game(game.game_id)


def add_leg(night: Night, game: Game, winner: int, arena_id: int | None = None) -> Game:
    night.tick()
    loser = next(player_id for player_id in game.player_ids if player_id != winner)
    leg = Leg(finishing_order=(winner, loser), arena_id=arena_id)
    night.apply(game_commands.add_leg(night.tournament, game.game_id, leg, 9, night.dice(), night.now))
    return night.game(game.game_id)


def delete_leg(night: Night, game: Game, number: int) -> Game:
    args = (night.tournament, game.game_id, number, 9, night.dice(), night.now)
    night.apply(game_commands.delete_leg(*args))
    return night.game(game.game_id)


def change_leg(night: Night, game: Game, number: int, leg: Leg) -> Game:
    args = (night.tournament, game.game_id, number, leg, 9, night.dice(), night.now)
    night.apply(game_commands.change_leg(*args))
    return night.game(game.game_id)


def check_stored(night: Night) -> None:
    for game in night.tournament.games:
        if results.is_counted(night.tournament, game):
            assert results.count_faults(night.tournament, game) == []


def test_twenty_four_players_have_the_first_round_that_the_live_service_numbers() -> None:
    night = start_night("bracket", 24, arenas=0)
    first = games_of_round(night.tournament, 0)
    assert {game.game_index: tuple(sorted(game.player_ids)) for game in first if not game.is_bye} == {
        17: (16, 17),
        18: (9, 24),
        21: (13, 20),
        22: (12, 21),
        25: (15, 18),
        26: (10, 23),
        29: (14, 19),
        30: (11, 22),
    }
    assert {game.game_index for game in first if game.is_bye} == {16, 19, 20, 23, 24, 27, 28, 31}
    for game in first:
        if not game.is_bye:
            night.record_order(game, *game.player_ids)
    assert {game.game_index for game in games_of_round(night.tournament, 1)} == set(range(8, 16))


def test_every_game_of_a_bracket_has_its_place_in_the_heap() -> None:
    night = start_night("bracket", 8)
    while night.open_games():
        night.finish_round()
    numbers = {game.game_index or 0: game for game in night.tournament.games}
    # The final, third place, and the game of four for the places 5 to 8.
    assert sorted(numbers) == [0, *range(1, 8), 9999]
    assert sorted(numbers[1].player_ids) == [1, 2]
    assert sorted(numbers[0].player_ids) == [3, 4]
    assert sorted(numbers[9999].player_ids) == [5, 6, 7, 8]
    for number in range(1, 4):
        feeding = {*numbers[2 * number].player_ids, *numbers[2 * number + 1].player_ids}
        assert set(numbers[number].player_ids) <= feeding


def test_a_double_elimination_goes_on_counting_behind_the_heap_and_names_its_sides() -> None:
    night = start_night("double_bracket", 8)
    while night.open_games():
        game = night.open_games()[0]
        # The champion of the losers wins the grand final, so that there is a second one.
        worst_first = game.game_index == 14
        night.record_order(game, *sorted(game.player_ids, reverse=worst_first))
    by_set: dict[int, list[int | None]] = {0: [], 1: [], 2: []}
    for game in night.tournament.games:
        by_set[game.set_number].append(game.game_index)
    assert {side: sorted(number or 0 for number in numbers) for side, numbers in by_set.items()} == {
        0: [1, 2, 3, 4, 5, 6, 7],
        1: [8, 9, 10, 11, 12, 13],
        2: [14, 15],
    }
    order = {
        game.game_index: night.tournament.round_by_id[game.round_id or 0].round_index
        for game in night.tournament.games
    }
    assert [order[number] for number in range(8, 16)] == sorted(order[number] for number in range(8, 16))


def test_games_won_are_counted_until_somebody_has_more_than_half() -> None:
    night, game = best_of(7)
    counted = count_games(night, game, won(2, 1))
    assert (counted.status, counted.result_positions) == ("started", NOTHING)
    assert counted.result_points == (Decimal("2.00"), Decimal("1.00"))
    assert night.tournament.rounds_in_order[0].status == "started"
    counted = count_games(night, game, {4: 2, 1: 4})
    assert (counted.status, counted.result_positions) == ("completed", NOTHING)
    assert counted.result_points == (Decimal("4.00"), Decimal("2.00"))
    assert [type(change) for made in night.journal[1:3] for change in made] == [MatchCounted, GameCompleted]
    check_stored(night)
    # The same count again is no change.
    before = night.tournament
    assert count_games(night, game, won(4, 2)) == counted
    assert night.tournament is before or night.tournament == before


def test_a_player_who_is_not_named_has_won_nothing() -> None:
    night, game = best_of(3)
    assert count_games(night, game, {4: 1}).result_points == (Decimal("0.00"), Decimal("1.00"))
    assert count_games(night, game, {}).result_points == NOTHING


def test_a_match_of_one_game_has_a_winner_not_a_count() -> None:
    night, game = best_of(1)
    counted = count_games(night, game, won(0, 1))
    assert (counted.result_positions, counted.result_points) == ((4, 1), (Decimal(0), Decimal(1)))


def test_a_winner_may_be_given_directly() -> None:
    night, game = best_of(5)
    count_games(night, game, won(1, 2))
    night.record_order(game, 1, 4)
    direct = night.game(game.game_id)
    assert (direct.result_positions, direct.result_points) == ((1, 4), (Decimal(1), Decimal(0)))


@pytest.mark.parametrize(
    ("wins", "sentence"),
    [
        ({1: 3}, "cannot have won 3: who has won 2"),
        ({1: -1}, "cannot have won -1"),
        ({1: 2, 4: 2}, "Only one player can have won 2"),
        ({1: 1, 2: 1}, "Player 2 is not in"),
    ],
)
def test_games_that_nobody_can_have_won_are_refused(wins: dict[int, int], sentence: str) -> None:
    night, game = best_of(3)
    with pytest.raises(Invalid, match=sentence):
        count_games(night, game, wins)


def test_games_are_counted_in_matches_of_two_only() -> None:
    night = start_night("bracket", 8, games_per_round=3)
    for match in night.open_games():
        night.record_order(match, *sorted(match.player_ids))
    four = next(game for game in night.open_games() if len(game.player_ids) == 4)
    with pytest.raises(Invalid, match="matches of two"):
        night.record(GameOutcome(game_id=four.game_id, games_won={5: 1}))
    other = a_night("matchplay", players=4)
    other.start()
    pair = other.open_round()[0]
    with pytest.raises(Invalid, match="matches of two"):
        other.record(GameOutcome(game_id=pair.game_id, games_won={pair.player_ids[0]: 1}))
    with pytest.raises(Conflict, match="no single games"):
        add_leg(other, pair, pair.player_ids[0])


def test_single_games_say_how_the_match_stands() -> None:
    night, game = best_of(3)
    stands = add_leg(night, game, 4, arena_id=503)
    assert (stands.status, stands.result_points) == ("started", (Decimal("0.00"), Decimal("1.00")))
    stands = add_leg(night, game, 1)
    stands = add_leg(night, game, 4)
    assert (stands.status, stands.result_points) == ("completed", (Decimal("1.00"), Decimal("2.00")))
    assert [leg.arena_id for leg in stands.legs] == [503, None, None]
    # The match stays on its own arena.
    assert stands.arena_id == game.arena_id
    check_stored(night)
    with pytest.raises(Conflict, match="is decided"):
        add_leg(night, game, 1)


def test_a_changed_single_game_may_reopen_the_match_and_takes_back_what_followed() -> None:
    night, game = best_of(3)
    record_win(night, 2, 3)
    add_leg(night, game, 1)
    add_leg(night, game, 1)
    assert pairs_of_round(night, 1) == [(1, 2), (3, 4)]
    stands = change_leg(night, game, 1, Leg(finishing_order=(4, 1)))
    assert (stands.status, stands.result_points) == ("started", (Decimal("1.00"), Decimal("1.00")))
    assert pairs_of_round(night, 1) == []
    assert isinstance(night.journal[-1][0], GameCleared)
    add_leg(night, game, 4)
    with pytest.raises(Conflict, match="before its last single game"):
        change_leg(night, game, 2, Leg(finishing_order=(4, 1)))
    stands = delete_leg(night, game, 3)
    assert (stands.status, len(stands.legs)) == ("started", 2)
    check_stored(night)


def test_the_arena_of_a_single_game_can_be_changed_after_the_match() -> None:
    night, game = best_of(3)
    add_leg(night, game, 1)
    stands = add_leg(night, game, 1)
    after = change_leg(night, game, 2, replace(stands.legs[1], arena_id=502))
    assert (after.legs[1].arena_id, after.status) == (502, "completed")
    assert [type(change) for change in night.journal[-1]] == [MatchCounted]


def test_single_games_that_cannot_be_are_refused() -> None:
    night, game = best_of(3)
    add_leg(night, game, 1)
    with pytest.raises(Invalid, match="the winner first"):
        change_leg(night, game, 1, Leg(finishing_order=(1, 2)))
    with pytest.raises(Invalid, match="not in this tournament"):
        change_leg(night, game, 1, Leg(finishing_order=(1, 4), arena_id=999))
    for number in (0, 2):
        with pytest.raises(NotFound):
            delete_leg(night, game, number)
    short, pair = best_of(1)
    with pytest.raises(Conflict, match="one game by itself"):
        add_leg(short, pair, 1)


def test_an_arena_of_a_single_game_stays_in_the_lineup() -> None:
    night, game = best_of(3, arenas=5)
    used = {each.arena_id for each in night.tournament.games}
    spare = next(arena.arena_id for arena in night.tournament.lineup if arena.arena_id not in used)
    add_leg(night, game, 1, spare)
    with pytest.raises(Conflict):
        roster.remove_arena(night.tournament, spare)


def test_a_match_rates_its_winner_however_it_was_entered() -> None:
    entered = []
    for way in ("winner", "total", "legs"):
        night, game = best_of(3)
        if way == "winner":
            night.record_order(game, 4, 1)
        elif way == "total":
            count_games(night, game, won(1, 2))
        else:
            for winner in (4, 1, 4):
                add_leg(night, game, winner)
        played = night.game(game.game_id)
        stored = StoredResult(played.player_ids, played.result_positions, played.result_points)
        finished = FinishedGame(stored, played.finishing_order, is_forfeit=played.forfeited_by is not None)
        entered.append(standing.counting_places(WinLossRule.POSITIONS, finished))
    assert entered == [{4: 0, 1: 1}] * 3


def test_a_total_and_single_games_are_not_mixed() -> None:
    night, game = best_of(5)
    count_games(night, game, won(1, 0))
    with pytest.raises(Conflict, match="without its single games"):
        add_leg(night, game, 1)
    night.clear(game)
    assert night.game(game.game_id).result_points == NOTHING
    add_leg(night, game, 1)
    with pytest.raises(Conflict, match="single games of game"):
        count_games(night, game, won(2, 1))
    before = night.tournament
    count_games(night, game, won(1, 0))
    assert night.tournament == before
    add_leg(night, game, 1)
    add_leg(night, game, 1)
    with pytest.raises(Conflict, match="single games of game"):
        night.record_order(game, 4, 1)
    night.clear(game)
    cleared = night.game(game.game_id)
    assert (cleared.legs, cleared.result_points, cleared.status) == ((), NOTHING, "started")


def test_a_no_show_after_some_games_keeps_them_and_can_be_taken_back() -> None:
    night, game = best_of(5)
    add_leg(night, game, 4)
    night.record(GameOutcome(game_id=game.game_id, forfeited_by=4))
    lost = night.game(game.game_id)
    assert (lost.result_positions, lost.forfeited_by, len(lost.legs)) == ((1, 4), 4, 1)
    with pytest.raises(Conflict, match="without its single games"):
        add_leg(night, game, 4)
    night.clear(game)
    stands = night.game(game.game_id)
    assert (stands.status, stands.forfeited_by) == ("started", None)
    assert (stands.result_points, len(stands.legs)) == ((Decimal("0.00"), Decimal("1.00")), 1)
    check_stored(night)


def test_a_corrected_count_takes_the_other_player_on() -> None:
    night, game = best_of(3)
    record_win(night, 2, 3)
    count_games(night, game, won(2, 1))
    assert pairs_of_round(night, 1) == [(1, 2), (3, 4)]
    count_games(night, game, won(0, 2))
    assert pairs_of_round(night, 1) == [(2, 4), (1, 3)]
    assert isinstance(night.journal[-1][0], GameCorrected)


def test_a_new_playing_order_keeps_the_count() -> None:
    night, game = best_of(5)
    count_games(night, game, won(2, 1))
    night.apply(game_commands.change_order(night.tournament, game.game_id, [4, 1]))
    assert night.game(game.game_id).result_points == (Decimal("1.00"), Decimal("2.00"))


def test_the_next_single_game_is_on_the_next_arena_of_the_bank() -> None:
    night = a_night("bracket", players=2, arenas=6, games_per_round=3, arena_assignment="banks")
    night.tournament = replace(night.tournament, banks=(Bank(bank_id=7, arena_ids=(503, 501)),))
    night.start()
    game = night.open_games()[0]
    assert game_commands.expected_arena_id(night.tournament, game) == 503
    game = add_leg(night, game, 1, 503)
    assert game_commands.expected_arena_id(night.tournament, game) == 501
    other, match = best_of(3)
    assert game_commands.expected_arena_id(other.tournament, match) == match.arena_id
    assert game_commands.expected_arena_id(other.tournament, add_leg(other, match, 1)) is None


def test_a_suggestion_of_the_winner_agrees_with_a_count() -> None:
    from silverball.rules.commands import games as game_commands

    night, game = best_of(3, suggestions="restricted")
    count_games(night, game, won(2, 1))
    for winner, expected in ((1, 0), (4, 1)):
        order = (winner, 5 - winner)
        stated = GameOutcome(game_id=game.game_id, finishing_order=order)
        made = game_commands.suggest_result(night.tournament, stated, winner, night.dice(), night.now)
        assert bool(made) is bool(expected)


def test_suggestions_stay_while_a_match_is_counted_and_go_when_it_is_decided() -> None:
    night, game = best_of(3)
    suggestion = Suggestion(suggestion_id=1, game_id=game.game_id, player_id=1, user_id=None, results=(1, 4))
    night.tournament = replace(night.tournament, suggestions=(suggestion,))
    add_leg(night, game, 1)
    assert list(night.tournament.suggestions) == [suggestion]
    add_leg(night, game, 1)
    assert list(night.tournament.suggestions) == []


@quick
@given(
    kind=st.sampled_from(("bracket", "double_bracket")),
    players=st.integers(2, 9),
    count=st.sampled_from((3, 5)),
    dice=st.randoms(use_true_random=False),
)
def test_a_match_gives_the_same_standings_however_it_was_entered(
    kind: str, players: int, count: int, dice: Any
) -> None:
    nights = [a_night(kind, players=players, games_per_round=count, arenas=0) for _ in range(3)]
    for night in nights:
        night.start()
    as_winner, as_total, as_legs = nights
    planned = as_legs.tournament
    started = len(as_legs.journal)
    while as_winner.open_games():
        game = dice.choice(as_winner.open_games())
        order = dice.sample(game.player_ids, len(game.player_ids))
        others = [
            next(each for each in night.open_games() if each.game_index == game.game_index)
            for night in (as_total, as_legs)
        ]
        as_winner.record_order(game, *order)
        if len(order) > 2:
            as_total.record_order(others[0], *order)
            as_legs.record_order(others[1], *order)
            continue
        lost = dice.randrange(count // 2 + 1)
        count_games(as_total, others[0], {order[0]: count // 2 + 1, order[1]: lost})
        for winner in [
            *dice.sample([order[0]] * (count // 2) + [order[1]] * lost, count // 2 + lost),
            order[0],
        ]:
            add_leg(as_legs, others[1], winner)
        rows = [[replace(row, active_games=()) for row in night.standings()] for night in nights]
        assert rows[0] == rows[1] == rows[2]
    for night in nights:
        check_stored(night)
        assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    assert standings_rows(as_winner)
    for _ in range(len(as_legs.journal) - started):
        as_legs.undo()
    assert as_legs.tournament == planned
