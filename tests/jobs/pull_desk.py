"""An account that pulls from a page: its database, a source without a socket, a clock without waits."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

import build
from exchange.pull_world import NAME, Site
from silverball.exchange.pull.source import Ask
from silverball.jobs.pull_histories import HistoryPuller
from silverball.service.moving import reads as moving_reads
from silverball.service.moving import writes as moving_writes
from silverball.service.moving.reads import HistoryPull
from silverball.settings import Settings
from silverball.store.database.engine import Store

ADDRESS = "https://results.example"
TOKEN = "17|the-secret-of-the-source"  # of nobody


@dataclass
class PullDesk:
    """One account's pulls into one database."""

    store: Store
    site: Site
    user_id: int
    settings: Settings = field(default_factory=Settings)
    now: datetime = build.NOW
    asked: list[tuple[str, str]] = field(default_factory=list)
    ask: Ask | None = None

    def start(self, *, wanted: dict[str, Any] | None = None, token: str = TOKEN, dry: bool = False) -> None:
        with self.store.write() as transaction:
            moving_writes.start_pull(
                transaction.connection,
                self.user_id,
                address=ADDRESS,
                token=token,
                wanted=wanted or {"owners": [self.site.owner_id], "since": self.site.since},
                is_dry_run=dry,
                now=self.now,
            )

    def change(self, write: Any) -> None:
        with self.store.write() as transaction:
            write(transaction.connection, self.user_id, self.now)

    def puller(self) -> HistoryPuller:
        """A process that works on pulls; it starts anew with each call."""

        def open_source(address: str, token: str) -> tuple[str, Ask]:
            self.asked.append((address, token))
            return NAME, self.ask or self.site.ask

        def wait(seconds: float) -> bool:
            self.now += timedelta(seconds=seconds)
            return False

        return HistoryPuller(
            self.store, self.settings, lambda: open_source, lambda: self.now, wait, Random(7)
        )

    def work(self, slices_max: int = 100) -> None:
        """Work until nothing is due."""
        puller = self.puller()
        for _ in range(slices_max):
            if not puller.work_on_one():
                return

    @property
    def pull(self) -> HistoryPull:
        with self.store.read() as db:
            found = moving_reads.pull_of(db, self.user_id)
        assert found is not None
        return found

    @property
    def reports(self) -> list[Any]:
        with self.store.read() as db:
            return moving_reads.reports_of(db, self.pull.history_pull_id)
