"""A source to pull from: this program itself, asked without a socket, and a clock that nobody waits for."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import asgi
import build
from exchange import bundles
from service import stored_nights
from silverball.exchange.pull.reading import Wanted
from silverball.exchange.pull.source import Answer, Ask, PullSource, RequestPace
from silverball.exchange.pull.taking import Pull, PullOptions, TournamentReport
from silverball.store.database.engine import Store
from test_app import a_token, running_app

NAME = "results.example"
# What no published answer has, or what is about the copy and not about the night.
UNPUBLISHED = ("$.engine", "$.source", "$.journalHead")


@dataclass
class StoppedClock:
    """A clock that only waiting moves on."""

    seconds: float = 1_000_000.0
    waits: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


@dataclass
class Site:
    """A running source, its organizer, and every path that was asked."""

    store: Store
    ask: Ask
    owner_id: int
    asked: list[str]
    # The first day of what is pulled where a test does not say more.
    since: str | None = None

    def pull(self, store: Store, ask: Ask | None = None, **options: Any) -> "list[TournamentReport]":
        """Pull into a database, and return the reports."""
        run = self.new_pull(store, ask, **options)
        return list(run.reports(run.tournaments()))

    def new_pull(self, store: Store, ask: Ask | None = None, **options: Any) -> Pull:
        wanted = options.pop("wanted", Wanted(owners=[self.owner_id], since=self.since))
        clock = StoppedClock()
        source = PullSource(NAME, ask or self.ask, RequestPace(now=clock.now, sleep=clock.sleep))
        pull_options = PullOptions(wanted, options.pop("accounts", {}), **{"sample_share": 0.0, **options})
        return Pull(store, source, pull_options, lambda: build.NOW, Random(7))


@contextmanager
def site(file: Path, *nights: Path) -> Iterator[Site]:
    """A source in the database of this file, whose organizer has these nights."""
    store = open_store(file)
    owner_id = build.a_user(store, user_id=9_001, name="Olga Ramp", role="organizer")
    for night in nights:
        bundles.import_bundle(store, night, owner_id=owner_id)
    token = a_token(store, owner_id)
    asked: list[str] = []
    with running_app(store, rate_limit_per_minute=0, standings_interval_seconds=0) as front_door:

        def ask(target: str) -> Answer:
            asked.append(target)
            reply = asgi.get(front_door, target, token=token)
            return Answer(reply.status, reply.headers, reply.body)

        yield Site(store, ask, owner_id, asked)
    store.close()


def new_store(template: Path, file: Path) -> Store:
    shutil.copyfile(template, file)
    return open_store(file)


def open_store(file: Path) -> Store:
    store = Store(f"sqlite:///{file}")
    stored_nights.skip_disk_sync(store)
    return store


def published(store: Store, tournament_id: int) -> Any:
    """The bundle of a tournament without what is not published."""
    exported = bundles.export_bundle(store, tournament_id)
    return {name: part for name, part in exported.items() if f"$.{name}" not in UNPUBLISHED}


def interrupted(ask: Ask, at: int) -> Ask:
    """The same source until this request, at which somebody presses Ctrl-C."""
    count = 0

    def ask_and_stop(target: str) -> Answer:
        nonlocal count
        count += 1
        if count == at:
            raise KeyboardInterrupt
        return ask(target)

    return ask_and_stop


def scripted(*answers: Answer | Exception) -> Callable[[str], Answer]:
    """A source that gives these answers in turn, and the last one for ever."""
    left = list(answers)

    def ask(_target: str) -> Answer:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ask
