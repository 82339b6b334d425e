"""Matches of several games on the console: single games, a total, a winner, without JavaScript."""

from typing import Any

from web.director import Director


def first_match(director: Director) -> Any:
    return director.open_games()[0]


def game_of(director: Director, game_id: int) -> Any:
    return next(game for game in director.tournament().games if game.game_id == game_id)


def a_match(director: Director, best_of: int = 3) -> tuple[Any, str]:
    """The first match of a bracket of four, and its page."""
    director.create("bracket", gamesPerRound=best_of)
    director.start(4)
    match = first_match(director)
    return match, f"/game?game={match.game_id}"


def test_a_tap_records_the_next_single_game(director: Director) -> None:
    match, _page = a_match(director)
    first, second = sorted(match.player_ids)
    director.send(f"result-{match.game_id}", first=second)
    stands = game_of(director, match.game_id)
    assert (stands.status, [leg.finishing_order for leg in stands.legs]) == ("started", [(second, first)])
    # The first game is on the match's own machine.
    assert stands.legs[0].arena_id == match.arena_id
    director.send(f"result-{match.game_id}", first=first)
    director.send(f"result-{match.game_id}", first=first)
    assert game_of(director, match.game_id).finishing_order == (first, second)


def test_single_games_are_entered_corrected_and_deleted_on_the_page_of_the_match(director: Director) -> None:
    match, page = a_match(director)
    first, second = sorted(match.player_ids)
    machine = director.tournament().lineup[1].arena_id
    director.send(f"leg-new-{match.game_id}", page, first=first, arenaId=machine)
    assert game_of(director, match.game_id).legs[0].arena_id == machine
    director.send(f"leg-{match.game_id}-1", page, first=second, arenaId="")
    leg = game_of(director, match.game_id).legs[0]
    assert (leg.finishing_order, leg.arena_id) == ((second, first), None)
    assert "It stands" in director.visitor.get(director.at + page).text
    director.send(f"leg-out-{match.game_id}-1", page)
    assert game_of(director, match.game_id).legs == ()


def test_a_total_is_entered_for_each_player_and_may_go_on(director: Director) -> None:
    match, page = a_match(director, best_of=5)
    first, second = match.player_ids
    director.send(f"total-{match.game_id}", page, **{f"won_{first}": 2, f"won_{second}": ""})
    assert [int(points) for points in game_of(director, match.game_id).result_points] == [2, 0]
    director.send(f"total-{match.game_id}", page, **{f"won_{first}": 2, f"won_{second}": 3})
    decided = game_of(director, match.game_id)
    assert (decided.status, decided.finishing_order) == ("completed", (second, first))
    status, sentence = director.refused(
        f"total-{match.game_id}", page, **{f"won_{first}": 3, f"won_{second}": 3}
    )
    assert (status, "Only one player" in sentence) == (422, True)


def test_only_the_winner_may_be_entered(director: Director) -> None:
    match, page = a_match(director)
    first, second = sorted(match.player_ids)
    director.send(f"winner-{match.game_id}", page, first=second)
    assert game_of(director, match.game_id).result_positions == (second, first)


def test_a_page_that_was_open_too_long_records_no_single_game_twice(director: Director) -> None:
    match, page = a_match(director)
    first, _second = sorted(match.player_ids)
    stale = director.visitor.get(director.at + page)
    director.send(f"leg-new-{match.game_id}", page, first=first)
    assert 'name="number" value="1"' in stale.text
    status, sentence = director.refused(f"leg-new-{match.game_id}", page, first=first, number=1)
    assert (status, "somebody was quicker" in sentence) == (409, True)
    assert len(game_of(director, match.game_id).legs) == 1
