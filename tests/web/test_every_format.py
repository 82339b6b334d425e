"""Each of the 21 formats, from creation to completion, through the forms of the console alone."""

from collections.abc import Callable
from typing import Any

import pytest

from silverball.rules.registry import FORMATS
from silverball.service.journal.reads import journal, verification
from silverball.service.journal.texts import action_summary, change_sentence
from silverball.store.database.engine import Store
from silverball.store.tournament import journal as journal_lines
from web.director import Director
from web.raw_words import RAW_TEXT
from web.visitor import Visitor

GAMES_MAX = 200


def rounds(director: Director, count: int) -> None:
    """Open and play rounds until the end condition is met."""
    for _ in range(count):
        if "round-open" not in director.forms():
            return
        director.send("round-open")
        assert director.finish_all() or director.open_attempts()
        play_alone(director)


def following(director: Director, _count: int) -> None:
    """Play all open games until none is left."""
    for _ in range(GAMES_MAX):
        games = director.open_games()
        if not games:
            return
        director.finish(games[0])


def matches(director: Director, _count: int) -> None:
    """Create matches and play them until each player has played enough."""
    for _ in range(GAMES_MAX):
        if not director.open_games():
            if director.is_over():
                return
            director.send("matches")
        director.finish(director.open_games()[0])


def by_hand(director: Director, count: int) -> None:
    """Games of chosen players."""
    players = [entrant.player_id for entrant in director.tournament().entrants]
    for n in range(count):
        director.send("game-new", playerId=players[n : n + 4])
        director.finish_all()


def frenzy(director: Director, count: int) -> None:
    """Play some games, pause, move a player back in the queue and out of it."""
    for _ in range(count):
        director.finish(director.open_games()[0])
    director.send("frenzy-clock")
    assert "paused" in director.page()
    director.send("frenzy-clock")
    director.send("frenzy-time", minutes=5)
    spot = director.tournament().waiting_spots[0]
    director.send(f"frenzy-end-{spot.queue_id}")
    director.send(f"frenzy-out-{spot.queue_id}")
    director.send("frenzy-queue", playerId=spot.player_id)


def play_alone(director: Director) -> None:
    """Play all open single player games, round by round."""
    for _ in range(GAMES_MAX):
        waiting = director.open_attempts()
        if not waiting:
            return
        game = waiting[0]
        if game.arena_id is None and director.tournament().type in {"golf", "bowling"}:
            arena_id = director.tournament().lineup[0].arena_id
            page = f"?round={game.round_id}"
            round_ = director.tournament().round_by_id[game.round_id]
            if round_.arena_id is None:
                director.send("hole", page, arenaId=arena_id, score="1,000,000")
        score_alone(director, game)


def score_alone(director: Director, game: Any) -> None:
    form, page = f"attempt-{game.single_player_game_id}", f"?round={game.round_id}"
    type_ = director.tournament().type
    if type_ == "amazingrace":
        director.send(form, page, score=f"{game.player_id * 1000 + 500:,}")
    elif type_ == "bowling":
        director.send(form, page, rolls="10 10 10" if director.is_last(game.round_id) else "7 2")
    else:
        # No ties: over two holes each player needs a different number of strokes.
        director.send(
            form,
            page,
            strokes=(game.player_id + 1) // 2 + (game.game_index or 0) % 2 * (1 - game.player_id % 2),
        )


def alone(director: Director, _count: int) -> None:
    play_alone(director)


def scores(director: Director, count: int) -> None:
    """Enter scores at once, begin and record others later, void one."""
    night = director.tournament()
    players = [entrant.player_id for entrant in night.entrants]
    machines = [arena.arena_id for arena in night.lineup]
    for n in range(count):
        director.send("score", playerId=players[n % 4], arenaId=machines[n % 3], score=f"{n + 1}00.000")
    director.send("score", playerId=players[5], arenaId=machines[0])
    (begun,) = [game for game in director.tournament().single_player_games if game.status == "started"]
    director.send(f"attempt-{begun.single_player_game_id}", score=7_000_000)
    page = f"/attempt?attempt={begun.single_player_game_id}"
    for way in ("card-void", "card-unvoid") if begun.card_id else ("void", "void"):
        director.send(f"{way}-{begun.single_player_game_id}", page)


Play = Callable[[Director, int], None]
NIGHTS: dict[str, tuple[Play, int, dict[str, Any]]] = {
    "matchplay": (rounds, 3, {"duration": 3}),
    "group_matchplay": (rounds, 3, {"duration": 3, "scoring": "pinburgh"}),
    "max_matchplay": (matches, 0, {"maxMatchplayDuration": 2}),
    "pace_matchplay": (rounds, 12, {"paceInitialRounds": 1, "paceInitialTarget": 4}),
    "manual_matchplay": (by_hand, 4, {}),
    "target": (rounds, 12, {"targetPoints": 12}),
    "knockout": (rounds, 30, {"knockoutStrikeCount": 2}),
    "group_knockout": (rounds, 30, {"knockoutStrikeCount": 2, "knockoutFourPlayerStrikes": 1}),
    "round_robin": (following, 0, {}),
    "double_round_robin": (following, 0, {}),
    "bracket": (following, 0, {"gamesPerRound": 3}),
    "double_bracket": (following, 0, {}),
    "group_bracket": (rounds, 3, {}),
    "golf_bracket": (rounds, 3, {"gamesPerRound": 2}),
    "ladder": (following, 0, {"ladderType": "fast"}),
    "frenzy": (frenzy, 6, {"frenzyQueueSize": 2}),
    "best_game": (scores, 9, {"bestGameScoring": "bg_papa"}),
    "card_best_game": (scores, 9, {}),
    "golf": (alone, 0, {"golfDuration": 2}),
    "bowling": (alone, 0, {"golfDuration": 2}),
    "amazingrace": (alone, 0, {}),
}


def test_every_format_has_a_night() -> None:
    assert set(NIGHTS) == set(FORMATS)


# The interface has the same writes, and its stories run on both databases.
@pytest.mark.sample(5)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("type_", NIGHTS)
def test_a_night_runs_from_creation_to_the_end(store: Store, visitor: Visitor, type_: str) -> None:
    play, count, settings = NIGHTS[type_]
    director = Director(store, visitor)
    director.create(type_, **settings)
    director.start(players=8, machines=6)
    play(director, count)
    for path in (
        "",
        "/results",
        "/players",
        "/arenas",
        "/standings",
        "/settings",
        "/webhooks",
        "/journal",
        "/draw",
    ):
        director.page(path)
    director.send("complete", "/standings")
    night = director.tournament()
    assert night.status == "completed"
    for key, value in settings.items():
        assert director.setting(key) == value
    assert director.standings()
    with store.read() as db:
        assert list(verification.verify_tournament(db, director.tournament_id).faults) == []


@pytest.mark.sample(4)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("type_", NIGHTS)
def test_every_line_of_the_history_and_of_undo_is_in_words(
    store: Store, visitor: Visitor, type_: str
) -> None:
    play, count, settings = NIGHTS[type_]
    director = Director(store, visitor)
    director.create(type_, **settings)
    director.start(players=8, machines=6)
    play(director, count)
    director.send("undo")
    director.send("complete", "/standings")
    lines = history_lines(store, director)
    assert [line for line in lines if RAW_TEXT.search(line)] == []


def history_lines(store: Store, director: Director) -> list[str]:
    """Every change of the night as a sentence, and every action as the line that undo shows."""
    with store.read() as db:
        actions = journal_lines.newest_actions(db, director.tournament_id, before=10_000, limit=10_000)
        names = journal.load_names(db, director.tournament_id, actions)
    changes = [change_sentence(change, data, names) for action in actions for change, data in action.entries]
    return changes + [action_summary(action.entries, names) for action in actions]
