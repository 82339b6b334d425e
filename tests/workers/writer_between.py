"""Rename a tournament, and be stopped or killed after the commit and before anybody is told of it.

writer_between.py DATABASE TOURNAMENT SIGNAL
"""

import os
import sys
from typing import Any

import build
from silverball.store.engine import Store
from silverball.store.group_commit import GroupCommit


def run(url: str, tournament_id: int, number: int) -> None:
    """Write, and send this process the signal at the end of its commit."""
    store = Store(url)
    admin = build.a_user(store, name="Be Tween", role="admin")
    hand_over = GroupCommit._hand_over

    def end_here(queue: GroupCommit, shared: Any) -> None:
        hand_over(queue, shared)
        os.kill(os.getpid(), number)

    GroupCommit._hand_over = end_here  # type: ignore[assignment, method-assign]  # the moment has no other name
    caller = build.caller(admin, role="admin", ability="admin")
    build.do(store, "PATCH", f"/api/tournaments/{tournament_id}", {"name": "Night 2"}, by=caller)


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
