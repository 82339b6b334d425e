"""A max match play of five players with four games each, checked by hand.

Four start; Eve comes when the first two games run, and the rest of the night is drawn anew. Five players with
four games each and no repeats leave one choice: everybody meets everybody, whatever the dice say.

Earlier in the alphabet beats later, but Eve beats Ann:

    Ann   beats Bea, Cid, Dot     3
    Bea   beats Cid, Dot, Eve     3
    Cid   beats Dot, Eve          2
    Dot   beats Eve               1
    Eve   beats Ann               1

All opponents' points together are 10 less one's own: Ann and Bea 7, without the best (3) and the worst (1) 3;
Cid 3 + 3 + 1 + 1 = 8, so 4; Dot and Eve 3 + 3 + 2 + 1 = 9, so 5. Nothing separates Ann from Bea nor Dot from
Eve. Ann and Bea play a tiebreak game, worth half a point: Ann wins. Dot and Eve share the fourth place.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall

RANKING = ["Ann", "Bea", "Cid", "Dot", "Eve"]


def test_everybody_meets_everybody_and_a_tiebreak_game_decides(store: Store) -> None:
    hall = Hall(store, "max_matchplay", "Ann Bea Cid Dot", maxMatchplayDuration=4, tiebreaker="standard")
    hall.start()
    hall.post("/max-matchplay/games")
    first, second = hall.open_games()
    sentence = "No match can start now: fewer than two players with games left are free."
    assert hall.refused("POST", "/max-matchplay/games") == (409, sentence)
    hall.join("Eve")

    winner, loser = sorted(hall.players_of(first))
    hall.finish(first, loser, winner)
    before = hall.standings()
    hall.finish(first, winner, loser)
    corrected = hall.standings()
    hall.undo()
    assert hall.standings() == before != corrected
    hall.finish(first, winner, loser)
    assert hall.standings() == corrected
    hall.finish(second, *sorted(hall.players_of(second)))

    met = {" ".join(sorted(hall.players_of(game))) for game in (first, second)}
    while hall.get("/max-matchplay")["remainingGames"]:
        hall.post("/max-matchplay/games")
        for game in hall.open_games():
            names = sorted(hall.players_of(game))
            met.add(" ".join(names))
            hall.finish(game, *(["Eve", "Ann"] if names == ["Ann", "Eve"] else names))
    assert met == {f"{name} {other_name}" for name in RANKING for other_name in RANKING if name < other_name}
    assert [row[:2] for row in hall.table()] == [(1, "Ann"), (1, "Bea"), (3, "Cid"), (4, "Dot"), (4, "Eve")]

    (tiebreak,) = hall.post("/tiebreaks", {"playerIds": [hall.ids["Ann"], hall.ids["Bea"]]})["data"]
    hall.finish(tiebreak, "Ann", "Bea")
    hall.complete()
    assert hall.table("points", "pointsWithTiebreaker", "tiebreakers", "gamesPlayed") == [
        (1, "Ann", "3.00", "3.50", ["3.00", 3, 7], 4),
        (2, "Bea", "3.00", "3.00", ["3.00", 3, 7], 4),
        (3, "Cid", "2.00", None, ["2.00", 4, 8], 4),
        (4, "Dot", "1.00", None, ["1.00", 5, 9], 4),
        (4, "Eve", "1.00", None, ["1.00", 5, 9], 4),
    ]
