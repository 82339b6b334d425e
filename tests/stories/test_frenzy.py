"""A frenzy of three on one machine, with a fourth who comes late, checked by hand.

Players are shuffled at the start, so they are called by where the shuffle put them: One and Two play, Six
waits. Whoever wins, the first seat moves to the second, the second goes to the end of the queue, and the head
of the queue takes the first seat.

    game      winner       then waiting
    One-Two   One          Two
    Six-One   One          One, and Ten, who comes late
    Two-Six   Two          Ten, Six
    One-Two   Two, turned  Six, Two
              round: One
    Ten-One   Ten          Two, One
    Six-Ten   Six          One, Ten
    Two-Six   Two          Two, One, Ten, Six: the clock has run out

At the end Two, who would have stayed, waits at the head. One 3-1, Two 2-2, Ten 1-1, Six 1-3. Two and Ten are
even, and Two has won more games.
"""

from silverball.store.database.engine import Store
from stories.hall import Hall


def test_the_queue_goes_round_until_the_clock_runs_out_and_more_wins_break_a_tie(store: Store) -> None:
    hall = Hall(store, "frenzy", "Ann Bea Cid", arenas=1, frenzyDuration=600)
    hall.start()
    state = hall.get("/frenzy")
    seats = [*state["games"][0]["playerIds"], *(spot["playerId"] for spot in state["queue"])]
    hall.ids = dict(zip(["One", "Two", "Six"], seats, strict=True))
    sentence = "No game can start now: no arena is free, too few wait, or the clock does not run."
    assert hall.refused("POST", "/frenzy/games") == (409, sentence)
    assert _play(hall, "One Two", winner="One") == "Two"
    assert _play(hall, "Six One", winner="One", late="Ten") == "One Ten"
    assert _play(hall, "Two Six", winner="Two") == "Ten Six"

    (wrong,) = hall.open_games()
    assert _play(hall, "One Two", winner="Two") == "Six Two"
    before, waiting = hall.standings(), _waiting(hall)
    hall.finish(wrong, "One", "Two")
    corrected = hall.standings()
    assert _waiting(hall) == waiting
    hall.undo()
    assert hall.standings() == before != corrected
    hall.finish(wrong, "One", "Two")
    assert hall.standings() == corrected

    assert _play(hall, "Ten One", winner="Ten") == "Two One"
    assert _play(hall, "Six Ten", winner="Six") == "One Ten"
    hall.pass_time(hours=10)
    assert _play(hall, "Two Six", winner="Two") == "Two One Ten Six"
    assert hall.open_games() == []
    assert hall.refused("POST", "/frenzy/games") == (409, sentence)
    hall.complete()
    assert hall.table("points", "frenzyWins", "frenzyLosses", "tiebreakers", "gamesPlayed") == [
        (1, "One", 2, 3, 1, [2, 3], 4),
        (2, "Two", 0, 2, 2, [0, 2], 4),
        (3, "Ten", 0, 1, 1, [0, 1], 2),
        (4, "Six", -2, 1, 3, [-2, 1], 4),
    ]


def _play(hall: Hall, seats: str, *, winner: str, late: str = "") -> str:
    """Record the one running game, after checking who sits in it; who waits then."""
    (game,) = hall.open_games()
    names = hall.players_of(game)
    assert " ".join(names) == seats
    hall.finish(game, *sorted(names, key=lambda name: name != winner))
    if late:
        hall.join(late)
    return _waiting(hall)


def _waiting(hall: Hall) -> str:
    return " ".join(hall.name(spot["playerId"]) for spot in hall.get("/frenzy")["queue"])
