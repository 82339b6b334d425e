"""What the trials found and what was tried, for the tables of docs/reliability.md and docs/security.md."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from silverball.store.database.engine import Store

# A file that the trials add lines to; without it they only assert.
FILE_SETTING = "SILVERBALL_TRIALS"
# What must be zero at the end of each trial.
WRONG = ("lost", "twice", "torn", "gaps", "server_errors")


@dataclass
class Figures:
    """The figures of one trial."""

    trial: str
    where: str
    repetitions: int
    acknowledged: int
    lost: int = 0
    twice: int = 0
    # Stored states that contradict themselves, and places where announcements are missing or repeated.
    torn: int = 0
    gaps: int = 0
    server_errors: int = 0
    # From each fault until a write was acknowledged again.
    recovery_median: float | None = None
    recovery_max: float | None = None

    def add_recoveries(self, seconds: Sequence[float]) -> None:
        """Note how long it took until a write was acknowledged again."""
        if seconds:
            self.recovery_median = round(median(seconds), 2)
            self.recovery_max = round(max(seconds), 2)

    def publish(self) -> None:
        """Add the figures to the file of this run, if there is one."""
        add_line(asdict(self))

    def assert_nothing_wrong(self) -> None:
        """Fail when anything was lost, stored twice, torn or left out, or answered as a fault."""
        wrong = {name: getattr(self, name) for name in WRONG}
        assert not any(wrong.values()), wrong
        assert self.acknowledged, "nothing was acknowledged at all"


def count_attempts(attempt: str, tried: int) -> None:
    """Note how often something was tried that must not work, once none of it did."""
    add_line({"attempt": attempt, "tried": tried})


def kind_of(store: Store) -> str:
    """The kind of database that a trial ran on."""
    return "sqlite" if store.is_sqlite else "postgresql"


def add_line(line: dict[str, Any]) -> None:
    """Add a line to the file of this run, if there is one."""
    path = os.environ.get(FILE_SETTING)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
