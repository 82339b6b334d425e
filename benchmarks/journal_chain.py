"""The price of the journal's chain on a recorded result: this tree against another one, in turn.

    git worktree add ../before COMMIT
    python benchmarks/journal_chain.py ../before

Both trees record the same results of a tournament of 60 in a process of their own, alternating; what counts
is the CPU time of a result, from the request to the commit, and the median ratio over the rounds.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
ROUNDS, RESULTS = 9, 150
PLAYERS = 60
RATIO_MAX = 1.03


def record_results(folder: str) -> float:
    """Record results in this process; returns CPU seconds per result."""
    import build
    from service.desk import a_desk
    from silverball.store.database import migrate
    from silverball.store.database.engine import Store

    store = Store(f"sqlite:///{folder}/bench.db")
    migrate.migrate(store)
    desk = a_desk(store, "group_matchplay", players=PLAYERS, arenas=20)
    owner = desk.callers["owner"]
    spent, recorded = 0.0, 0
    while recorded < RESULTS:
        games = build.do(store, "POST", f"{desk.path}/rounds", {}, by=owner)[1]["games"]
        for game in games:
            began = time.process_time()
            path = f"{desk.path}/games/{game['gameId']}/result"
            status, _, _ = build.do(store, "PUT", path, {"resultPositions": game["playerIds"]}, by=owner)
            spent += time.process_time() - began
            assert status == 200
            recorded += 1
    store.close()
    return spent / recorded


def measure(tree: Path) -> float:
    """CPU seconds per result of a tree."""
    paths = ":".join(str(tree / part) for part in ("src", "clients/python/src", "clients/python", "tests"))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(Path(__file__).resolve()), "--here", folder]
        done = subprocess.run(
            command,
            env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin"},
            check=True,
            capture_output=True,
            text=True,
        )
    return float(done.stdout)


def main() -> None:
    if sys.argv[1] == "--here":
        print(record_results(sys.argv[2]))
        return
    before = Path(sys.argv[1]).resolve()
    pairs = []
    for number in range(ROUNDS):
        trees = [before, HERE] if number % 2 else [HERE, before]
        seconds = {tree: measure(tree) for tree in trees}
        pairs.append((seconds[HERE], seconds[before]))
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"a result before {1000 * theirs:.2f} ms, chained {1000 * ours:.2f} ms, ratio {ratio:.3f}")
    print("met" if ratio <= RATIO_MAX else f"NOT met: at most {RATIO_MAX}")


if __name__ == "__main__":
    main()
