"""Brackets on pages: matches, players who advance, and placeholders."""

import pytest

from silverball.store.database.engine import Store
from silverball.web.live import bracket_tree
from silverball.web.live.bracket_tree import BracketHalf, BracketSeat
from web.director import Director
from web.page_forms import text_of
from web.public_visitor import PublicVisitor

# Drawing a bracket needs no database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def halves(director: Director) -> list[BracketHalf]:
    return bracket_tree.bracket_halves(director.tournament())


def seat_text(director: Director, seat: BracketSeat) -> str:
    """A seat of a match as one text: `Player 1 2 won`."""
    who = director.name(seat.player_id) if seat.player_id else seat.placeholder
    return " ".join(part for part in (who, seat.result_text, seat.state) if part)


def bracket_texts(director: Director) -> dict[str, dict[str, list[list[str]]]]:
    """Half -> round -> matches -> seats."""
    return {
        half.title: {
            column.title: [[seat_text(director, seat) for seat in box.seats] for box in column.boxes]
            for column in half.columns
        }
        for half in halves(director)
    }


def finish_first(director: Director) -> None:
    """The oldest open game: the player with the lower id wins."""
    director.finish(director.open_games()[0])


def test_before_the_start_there_is_nothing_to_draw(director: Director) -> None:
    director.create("bracket")
    director.fill(4, 4)
    assert halves(director) == []


def test_a_bracket_of_four_is_drawn_from_first_match_to_final(director: Director) -> None:
    director.create("bracket", seeding="manual")
    director.start(4)
    assert bracket_texts(director) == {
        "Bracket": {
            "Semifinals": [["Player 1", "Player 4"], ["Player 2", "Player 3"]],
            "Final": [["Winner of 1", "Winner of 2"], ["Loser of 1", "Loser of 2"]],
        }
    }
    finish_first(director)
    assert bracket_texts(director)["Bracket"] == {
        "Semifinals": [["Player 1 won", "Player 4 out"], ["Player 2", "Player 3"]],
        "Final": [["Player 1", "Winner of 2"], ["Player 4", "Loser of 2"]],
    }
    (bracket,) = halves(director)
    assert [box.title for box in bracket.columns[-1].boxes] == ["", "For third place"]
    assert [(box.is_open, box.arena_id is not None) for box in bracket.columns[0].boxes] == [
        (False, False),
        (True, True),
    ]


def test_a_cleared_result_disappears_from_the_bracket(director: Director) -> None:
    director.create("bracket")
    director.start(4)
    before = bracket_texts(director)
    finish_first(director)
    director.send("undo")
    assert bracket_texts(director) == before


def test_a_player_without_an_opponent_advances(director: Director) -> None:
    director.create("bracket")
    director.start(5)
    rounds = bracket_texts(director)["Bracket"]
    assert list(rounds) == ["Quarterfinals", "Semifinals", "Final"]
    byes = [match for match in rounds["Quarterfinals"] if "Nobody" in match]
    assert sorted(byes) == [[f"Player {n} won", "Nobody"] for n in (1, 2, 3)]


def test_the_games_won_of_a_match_are_counted(director: Director) -> None:
    director.create("bracket", gamesPerRound=3)
    director.start(4)
    finish_first(director)
    assert bracket_texts(director)["Bracket"]["Semifinals"][0] == ["Player 1 1", "Player 4 0"]


def test_a_double_bracket_has_both_halves_and_finals(director: Director) -> None:
    director.create("double_bracket")
    director.start(4)
    assert bracket_texts(director) == {
        "Winners": {
            "Semifinals": [["Player 1", "Player 4"], ["Player 2", "Player 3"]],
            "Final": [["Winner of 1", "Winner of 2"]],
        },
        "Losers": {"Round 1": [["Loser of 1", "Loser of 2"]], "Round 2": [["Winner of 3", "Loser of 4"]]},
        "Finals": {
            "Grand final": [["Winner of 4", "Winner of 5"]],
            "Deciding final": [["Winner of 6", "Loser of 6"]],
        },
    }
    while director.open_games():
        finish_first(director)
    done = bracket_texts(director)
    assert done["Finals"] == {"Grand final": [["Player 1 won", "Player 2 out"]]}
    assert done["Losers"]["Round 2"] == [["Player 3 out", "Player 2 won"]]


def test_groups_of_four_are_columns_too(director: Director) -> None:
    director.create("group_bracket", gamesPerRound=1, bracketSize=8, seeding="manual")
    director.start(8)
    director.send("round-open")
    rounds = bracket_texts(director)["Bracket"]
    assert list(rounds) == ["Semifinals", "Final"]
    assert rounds["Final"] == [["Four players"]]
    first = director.open_games()[0]
    director.finish(first)
    group = next(box for box in halves(director)[0].columns[0].boxes if not box.is_open)
    assert [seat.player_id for seat in group.seats] == sorted(first.player_ids)
    assert [seat.state for seat in group.seats] == ["won", "won", "out", "out"]


def test_a_bracket_shows_strokes(director: Director) -> None:
    director.create("golf_bracket", gamesPerRound=1, bracketSize=8)
    director.start(8)
    director.send("round-open")
    attempt = director.open_attempts()[0]
    director.send(f"attempt-{attempt.single_player_game_id}", f"?round={attempt.round_id}", strokes=3)
    seats = [seat for box in halves(director)[0].columns[0].boxes for seat in box.seats]
    assert {seat.player_id: seat.result_text for seat in seats}[attempt.player_id] == "3"


def test_only_bracket_formats_have_a_bracket_on_their_pages(store: Store, director: Director) -> None:
    director.create("double_bracket")
    director.start(4)
    finish_first(director)
    passer = PublicVisitor(store)
    page = passer.page(f"/t/{director.tournament_id}?part=tree")
    assert "Winners, Semifinals, match 1 seed 1 Player 1 ✓ won seed 4 Player 4" in text_of(page)
    assert page.count("<h2") == 3
    wall = passer.text(f"/t/{director.tournament_id}/wall?part=standings")
    assert wall.startswith("Bracket")
    assert "Winners Semifinals match 1 seed 1 Player 1 ✓ won seed 4 Player 4 match 2" in wall
    director.play("matchplay", 4)
    assert text_of(passer.page(f"/t/{director.tournament_id}?part=tree")) == ""
    passer.close()
