"""A round that was played from paper, typed back in one list."""

import pytest

from web.director import Director
from web.page_forms import text_of

PAPER = "/paper"
# What is typed below as 2413 and as 312, whose last player is left out.
ORDERS = ((2, 4, 1, 3), (3, 1, 2, 4))


def orders(director: Director) -> list[list[int | None]]:
    return [list(game.result_positions) for game in director.tournament().games]


def test_a_round_is_typed_back_by_the_numbers_of_the_sheet(director: Director) -> None:
    director.play("group_matchplay", players=12)
    first, second, third = director.open_games()
    lines = {
        f"line-{first.game_id}": "2413",
        f"line-{second.game_id}": " 3 1,2 ",
        f"line-{third.game_id}": "",
    }
    director.send("typed", PAPER, **lines)
    by_number = [dict(enumerate(game.player_ids, start=1)) for game in (first, second)]
    expected = [
        [players[number] for number in order] for players, order in zip(by_number, ORDERS, strict=True)
    ]
    assert orders(director)[:2] == expected
    assert director.open_games() == [third]
    # Each result is an action of its own, so that one undo takes back one game.
    director.send("undo", "")
    assert [game.game_id for game in director.open_games()] == [second.game_id, third.game_id]


def test_the_winner_is_enough_among_two(director: Director) -> None:
    game = director.play("matchplay", players=4)
    director.send("typed", PAPER, **{f"line-{game.game_id}": "2"})
    assert orders(director)[0] == list(reversed(game.player_ids))


@pytest.mark.parametrize("typed", ["11", "5", "12345", "0", "x2", "٢", "1 1 2 3", "12"])
def test_a_line_that_is_no_order_is_named_by_its_number_and_nothing_is_recorded(
    director: Director, typed: str
) -> None:
    director.play("group_matchplay", players=8)
    first, second = director.open_games()
    lines = {f"line-{first.game_id}": "1234", f"line-{second.game_id}": typed}
    status, sentence = director.refused("typed", PAPER, **lines)
    assert (status, "Line 2: type each number from 1 to 4 once" in sentence) == (422, True)
    assert len(director.open_games()) == 2
    assert director.refused("typed", PAPER)[0] == 422


def test_a_sheet_that_is_out_of_date_changes_nothing(director: Director) -> None:
    director.play("group_matchplay", players=8)
    first, second = director.open_games()
    form = director.forms(PAPER)["typed"]
    # In the order of the sheet, so that the line below is another result.
    director.finish(second, *second.player_ids)
    before = orders(director)
    answer = director.post(form, **{f"line-{first.game_id}": "1234", f"line-{second.game_id}": "4321"})
    assert answer.status_code == 409
    assert "has another result by now" in text_of(answer.text)
    assert orders(director) == before


def test_what_a_bracket_plays_is_not_in_the_list(director: Director) -> None:
    director.create("bracket", gamesPerRound=3)
    director.start(4)
    assert "No game is open that is recorded by an order." in text_of(director.page(PAPER))
