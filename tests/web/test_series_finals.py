"""The step to a final on the page of a series in the book. Source: formats, sections 21 and 26."""

from typing import Any

import build
from silverball.store import tables
from web.director import Director
from web.page_forms import forms_on, text_of


class League:
    """A series of a director, with nights that name the order of their players."""

    def __init__(self, director: Director) -> None:
        self.director = director
        store, organizer = director.store, director.user_id
        self.players = [build.a_player(store, organizer, name=f"Player {at}") for at in range(1, 6)]
        self.series = build.row(
            store, tables.series, organizer_id=organizer, name="League", scoring="bg_linear"
        )

    def play(self, *order: int) -> None:
        night = self.do("POST", "/tournaments", name="Night", type="group_matchplay", seriesId=self.series)
        at = f"/tournaments/{night['tournamentId']}"
        for place, number in enumerate(order):
            self.do("POST", at + "/players", playerId=self.players[number - 1], pointsAdjustment=10 - place)
        self.do("POST", at + "/start")
        self.do("POST", at + "/complete")

    def do(self, method: str, path: str, **body: Any) -> Any:
        store, organizer = self.director.store, self.director.user_id
        status, answer, _ = build.do(store, method, f"/api{path}", body, by=organizer)
        assert status < 300, answer
        return answer["data"]

    def page(self, **step: Any) -> str:
        """The page of the series with this step."""
        query = "&".join(f"{name}={value}" for name, value in step.items())
        answer = self.director.visitor.get(f"/home/series/{self.series}?{query}")
        assert answer.status_code == 200
        return answer.text

    def make(self, html: str, **fields: Any) -> Any:
        """The answer to the form that makes the final."""
        return self.director.post(forms_on(html)["series-final"], **fields)

    def finalists(self, answer: Any) -> list[int]:
        """Numbers of the players of the final that was made, best seed first."""
        assert answer.status_code == 303, text_of(answer.text)
        self.director.tournament_id = int(answer.headers["location"].split("/")[2])
        entrants = sorted(self.director.tournament().entrants, key=lambda each: each.seed_value or 0)
        return [self.players.index(each.player_id) + 1 for each in entrants]


def test_who_goes_on_is_shown_with_their_byes_and_the_final_follows_the_table(director: Director) -> None:
    league = League(director)
    league.play(1, 2, 3, 4, 5)
    assert 'id="series-final"' not in league.page()
    html = league.page(type="bracket", how="players", number=3)
    shown = "Player 1 , Player 2 , Player 3"
    assert shown in text_of(html)
    assert "the best 1 waits for the second round" in text_of(html)
    assert league.finalists(league.make(html, name="Cup")) == [1, 2, 3]
    assert "has changed" not in director.page()
    league.play(4, 1, 2, 3, 5)
    league.play(4, 1, 2, 3, 5)
    assert "The table of the series has changed" in director.page()
    director.send("final-follow")
    assert len(director.tournament().entrants) == 3
    director.send("start")


def test_only_who_was_there_often_enough_goes_on_and_a_second_final_begins_after_the_first(
    director: Director,
) -> None:
    league = League(director)
    league.play(5, 1, 2, 3, 4)
    league.play(1, 2, 3, 4)
    html = league.page(type="bracket", how="players", number=2, nightsMin=2, after=2)
    assert league.finalists(league.make(html)) == [3, 4]


def test_those_tied_are_numbered_and_what_is_no_order_is_refused(director: Director) -> None:
    league = League(director)
    league.play(1, 2, 3, 4)
    league.play(1, 3, 2, 4)
    html = league.page(type="bracket", how="players", number=2)
    assert "Tied at the cut: Player 2 , Player 3" in text_of(html)
    second, third = league.players[1:3]
    for entered in ({}, {f"place-{second}": 1}, {f"place-{second}": 1, f"place-{third}": 1}):
        refused = league.make(html, **entered)
        assert refused.status_code in {409, 422}
        assert "Tied at the cut: Player 2 , Player 3" in text_of(refused.text)
    assert league.finalists(league.make(html, **{f"place-{second}": 2, f"place-{third}": 1})) == [1, 3]


def test_a_tie_across_the_line_of_byes_is_settled_in_the_same_way(director: Director) -> None:
    league = League(director)
    league.play(1, 2, 3, 4)
    league.play(2, 1, 3, 4)
    html = league.page(type="bracket", how="players", number=3)
    assert "Tied at a line of byes: Player 1 , Player 2" in text_of(html)
    assert league.make(html).status_code == 409
    first, second = league.players[:2]
    made = league.make(html, **{f"place-{first}": 2, f"place-{second}": 1})
    assert league.finalists(made) == [2, 1, 3]
    assert "has changed" not in director.page()


def test_a_step_that_says_nothing_is_named_and_makes_no_final(director: Director) -> None:
    league = League(director)
    league.play(1, 2, 3)
    for step in ({"type": "chess", "number": 2}, {"type": "bracket", "how": "within", "number": "some"}):
        html = league.page(**step)
        assert "Choose a format" in html
        assert 'id="series-final"' not in html
    status = league.make(league.page(type="bracket", how="players", number=4)).status_code
    assert status == 422
