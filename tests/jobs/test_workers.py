"""Background threads begin one after the other, and go on until they are closed."""

import threading

from patience import PATIENCE_SECONDS
from silverball.jobs.workers import Workers, begin_in_turn


def test_groups_and_their_threads_begin_in_turn() -> None:
    begun: list[str] = []
    all_begun = threading.Event()

    def duty(name: str) -> bool:
        begun.append(name)
        if len(begun) == 4:
            all_begun.set()
        return False

    groups = [
        Workers("first", [lambda: duty("first 1"), lambda: duty("first 2")], poll_seconds=60),
        Workers("second", [lambda: duty("second")], poll_seconds=60),
        Workers("third", [lambda: duty("third")], poll_seconds=60),
    ]
    begin_in_turn(groups)
    # The order in which they are started does not matter.
    for group in reversed(groups):
        group.start()
    assert all_begun.wait(PATIENCE_SECONDS)
    for group in groups:
        group.close()
    assert begun == ["first 1", "first 2", "second", "third"]
