"""Scores and frenzy results as a night grows: this tree, and against another one where it is given.

    git worktree add --detach ../before COMMIT
    python benchmarks/growth.py ../before

Every measurement is a process of its own; the two trees take turns. What counts is the CPU time of a request
inside the program, from the request to the commit (without sockets), on SQLite. Nights are full before the
first measured request: every player has a score on every machine, or the frenzy has played its first games.
"""

import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

if sys.argv[1:2] == ["--here"]:
    # Loaded by the measured process alone, from the tree that it measures.
    from sqlalchemy import Connection

    import build
    from silverball import app
    from silverball.settings import Settings
    from silverball.store import tables
    from silverball.store.database import migrate
    from silverball.store.database.engine import Store
    from silverball.store.revisions import revisions
    from silverball.store.tournament import snapshot

    # An earlier tree has its desk in another module.
    desks = "service.desk" if importlib.util.find_spec("service.desk") else "service.nightly"
    a_desk = importlib.import_module(desks).a_desk

HERE = Path(__file__).resolve().parents[1]
PAIRS, REQUESTS, WARM_UP = 5, 60, 5
MACHINES, FRENZY_MACHINES, FRENZY_GAMES = 5, 20, 200
FRENZY = "frenzy, 60 players"
# Case -> format and players.
CASES = {
    "best game, 60 players": ("best_game", 60),
    "best game, 300 players": ("best_game", 300),
    "card best game, 60 players": ("card_best_game", 60),
    "card best game, 300 players": ("card_best_game", 300),
    "pingolf, 300 players": ("golf", 300),
    FRENZY: ("frenzy", 60),
}
# 300 against 60 players, and frenzy now against before.
GROWTH_MAX, FRENZY_MAX = 2.0, 0.4


def record(kind: str, players: int, folder: str) -> float:
    """CPU seconds of a recorded result in this process."""
    store = Store(f"sqlite:///{folder}/bench.db", **_patience())
    migrate.migrate(store)
    machines = FRENZY_MACHINES if kind == "frenzy" else MACHINES
    desk = a_desk(store, kind, players=players, arenas=machines)
    measured = _frenzy(desk) if kind == "frenzy" else _scores(desk, kind)
    store.close()
    return measured


def _patience() -> dict[str, Any]:
    """The options of a store that never gives up on a busy machine, where CPU time counts."""
    if importlib.util.find_spec("silverball.store.database.deadlines") is None:
        # An earlier tree has no limits.
        return {}
    limits = importlib.import_module("silverball.store.database.deadlines")
    patience = limits.TimeLimits(lock_seconds=60, statement_seconds=600, pause_seconds=600, total_seconds=600)
    return {"limits": limits.StoreLimits(read=patience, write=patience)}


def _scores(desk: Any, kind: str) -> float:
    """CPU seconds of a new score in a full tournament, or of a hole's result."""
    dice = Random(300)
    night, owner = desk.night, desk.callers["owner"]
    api = app.build_api(desk.store, Settings(base_url=build.BASE_URL), now=lambda: build.NOW)
    if kind == "golf":
        listed = build.ask(desk.store, f"{desk.path}/single-player-games?limit=500", by=night.organizer_id)[1]
        requests = [
            ("PATCH", f"/{game['singlePlayerGameId']}", {"strokes": dice.randint(1, 6)})
            for game in dice.sample(listed["data"], REQUESTS)
        ]
    else:
        _fill(desk, kind, dice)
        plays = list(product(night.player_ids, night.arena_ids))
        # A card after the other is filled, and every fifth score completes it.
        begin = dice.randrange(0, len(plays) - REQUESTS, MACHINES)
        chosen = plays[begin : begin + REQUESTS] if kind == "card_best_game" else dice.sample(plays, REQUESTS)
        requests = [
            ("POST", "", {"playerId": player_id, "arenaId": arena_id, "score": dice.randrange(10**9)})
            for player_id, arena_id in chosen
        ]
    spent = 0.0
    for number, (method, path, body) in enumerate(requests, start=-WARM_UP):
        began = time.process_time()
        status, answer, _ = build.send(api, method, f"{desk.path}/single-player-games{path}", body, by=owner)
        spent += (time.process_time() - began) * (number >= 0)
        assert status in (200, 201), answer
    return spent / (len(requests) - WARM_UP)


def _fill(desk: Any, kind: str, dice: Random) -> None:
    """A score of every player on every machine; in cards they are a full card."""
    night = desk.night
    cards: dict[int, int] = {}
    if kind == "card_best_game":
        for player_id in night.player_ids:
            cards[player_id] = build.row(
                desk.store,
                tables.card,
                tournament_id=night.tournament_id,
                player_id=player_id,
                status="completed",
            )
    rows = [
        {
            **build.DEFAULTS.get("single_player_game", {}),
            "tournament_id": night.tournament_id,
            "player_id": player_id,
            "arena_id": arena_id,
            "card_id": cards.get(player_id),
            "game_index": number,
            "status": "completed",
            "score": dice.randrange(10**9),
            "created_at": build.NOW,
            "updated_at": build.NOW,
        }
        for player_id in night.player_ids
        for number, arena_id in enumerate(night.arena_ids)
    ]
    with desk.store.write() as writing:
        # An earlier tree hands out the connection itself.
        db = writing if isinstance(writing, Connection) else writing.connection
        db.execute(tables.single_player_game.insert(), rows)
        # Past the door: what is kept of the tournament is out of date.
        revisions.raise_tournaments(writing, [night.tournament_id])


def _frenzy(desk: Any) -> float:
    """CPU seconds of a result of a frenzy, after its first games."""
    owner, spent = desk.callers["owner"], 0.0
    now = build.NOW
    api = app.build_api(desk.store, Settings(base_url=build.BASE_URL), now=lambda: now)
    dice = Random(60)
    for number in range(FRENZY_GAMES + REQUESTS):
        now += timedelta(seconds=5)
        with desk.store.read() as db:
            games = snapshot.load(db, desk.night.tournament_id).games
        game = dice.choice([game for game in games if game.status == "started"])
        body = {"resultPositions": dice.sample(game.player_ids, 2)}
        began = time.process_time()
        status, answer, _ = build.send(api, "PUT", f"{desk.path}/games/{game.game_id}/result", body, by=owner)
        spent += (time.process_time() - began) * (number >= FRENZY_GAMES)
        assert status == 200, answer
    return spent / REQUESTS


def measure(tree: Path, case: str) -> float:
    """CPU seconds of a recorded result in a tree."""
    paths = ":".join(str(tree / part) for part in ("src", "clients/python/src", "clients/python", "tests"))
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as folder:
        command = [sys.executable, str(Path(__file__).resolve()), "--here", case, folder]
        done = subprocess.run(
            command,
            env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin"},
            check=True,
            capture_output=True,
            text=True,
        )
    return float(done.stdout)


def main() -> int:
    """Measure, print the tables, and say by the exit code whether the bounds are met."""
    if sys.argv[1:2] == ["--here"]:
        kind, players = CASES[sys.argv[2]]
        print(record(kind, players, sys.argv[3]))
        return 0
    trees = [HERE, *(Path(argument).resolve() for argument in sys.argv[1:])]
    seconds: dict[tuple[Path, str], list[float]] = {}
    for number in range(PAIRS):
        for case in CASES:
            for tree in trees[:: -1 if number % 2 else 1]:
                seconds.setdefault((tree, case), []).append(measure(tree, case))
    print("| Recorded result, CPU | ms | against the other tree, least / median / most |\n|---|---|---|")
    for case in CASES:
        own = seconds[HERE, case]
        ratios = [
            sorted(mine / theirs for mine, theirs in zip(own, seconds[tree, case], strict=True))
            for tree in trees[1:]
        ]
        compared = " / ".join(f"{ratio:.2f}" for listed in ratios for ratio in _spread(listed))
        print(f"| {case} | {1000 * statistics.median(own):.1f} | {compared} |")
    is_met = True
    for name in ("best game", "card best game"):
        small, large = (seconds[HERE, f"{name}, {players} players"] for players in (60, 300))
        growth = _spread(sorted(many / few for many, few in zip(large, small, strict=True)))
        compared = " / ".join(f"{ratio:.2f}" for ratio in growth)
        print(f"{name}, 300 against 60 players, least / median / most: {compared}")
        is_met = is_met and growth[1] <= GROWTH_MAX
    if trees[1:]:
        frenzy = zip(seconds[HERE, FRENZY], seconds[trees[1], FRENZY], strict=True)
        is_met = is_met and statistics.median(mine / theirs for mine, theirs in frenzy) <= FRENZY_MAX
    print("met" if is_met else f"NOT met: at most {GROWTH_MAX}, and {FRENZY_MAX} of the other tree's frenzy")
    return 0 if is_met else 1


def _spread(ascending: list[float]) -> tuple[float, float, float]:
    return ascending[0], statistics.median(ascending), ascending[-1]


if __name__ == "__main__":
    sys.exit(main())
