"""Rename a tournament, and be stopped or killed after the commit and before anybody is told of it.

writer_between.py DATABASE TOURNAMENT SIGNAL
"""

import os
import sys
from typing import Any

from sqlalchemy import event

import build
from silverball.store.engine import Store


def run(url: str, tournament_id: int, number: int) -> None:
    """Write, and send this process the signal when the connection comes back from its commit."""
    store = Store(url)
    admin = build.a_user(store, name="Be Tween", role="admin")

    def end_here(_connection: Any, _record: Any) -> None:
        if written:
            os.kill(os.getpid(), number)

    written: list[bool] = []

    @event.listens_for(store.engine, "commit")
    def _note(_connection: Any) -> None:
        written.append(True)

    event.listen(store.engine, "checkin", end_here)
    caller = build.caller(admin, role="admin", ability="admin")
    build.do(store, "PATCH", f"/api/tournaments/{tournament_id}", {"name": "Night 2"}, by=caller)


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
