"""A node that hangs, or loses its database silently, delays others by seconds only (two real processes)."""

import contextlib
import http.client
import json
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, make_url, select, text

import build
from servers import Servers
from silverball.kit.edge.backend import SeenRevision
from silverball.store import tables
from silverball.store.database.engine import WORLD_SLOTS, Store
from silverball.store.revisions import revisions
from silverball.store.revisions.known_revisions import LEASE_SECONDS
from tcp_proxy import TcpProxy
from test_app import a_token

# What is promised, with an allowance for a busy machine.
# Only for a test that hangs.
TIMEOUT = 120


class Site:
    """A database with tournaments, and how their organizer talks to a node."""

    def __init__(self, url: str, folder: Any) -> None:
        self.url = url
        self.secret_file = folder / "silverball.secret"
        self.store = Store(url, self.secret_file)
        self.store.key_file.may_make = True
        self.organizer_id = build.a_user(self.store, role="organizer")
        self.tournament_ids = [
            build.a_tournament(
                self.store, players=0, arenas=0, organizer_id=self.organizer_id, status="planned"
            ).tournament_id
            for _ in range(WORLD_SLOTS + 1)
        ]
        self.token = a_token(self.store, self.organizer_id, ability="manage")
        # Locks that no limit of ours ends.
        self.holder: Engine = create_engine(url)

    def a_node(self, url: str | None = None) -> Servers:
        node = Servers.without_limits(url or self.url, SILVERBALL_SECRET_FILE=str(self.secret_file))
        node.start()
        return node

    def send(
        self, node: Servers, method: str, path: str, body: Any = None, key: str | None = None
    ) -> tuple[int, float, dict[str, str]]:
        """Status, seconds and headers of the answer."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        begun_at = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=TIMEOUT)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
        return answer.status, time.monotonic() - begun_at, dict(answer.getheaders())

    def rename(
        self, node: Servers, tournament_id: int, name: str, key: str | None = None
    ) -> tuple[int, float, dict[str, str]]:
        return self.send(node, "PATCH", f"/api/tournaments/{tournament_id}", {"name": name}, key)

    def name(self, tournament_id: int) -> str:
        with self.store.read() as db:
            own = tables.tournament.c
            return str(db.execute(select(own.name).where(own.tournament_id == tournament_id)).scalar_one())

    def rename_until_done(self, node: Servers, tournament_id: int, name: str, key: str) -> None:
        """Send the same request until it is done."""
        begun_at = time.monotonic()
        while time.monotonic() - begun_at < TIMEOUT:
            status, _, headers = self.rename(node, tournament_id, name, key)
            if status == 200:
                return
            assert (status, headers["retry-after"]) == (503, "1")
            time.sleep(0.2)
        raise AssertionError("it was never done")

    def await_lock_wait(self) -> None:
        """Wait until a node waits for a lock."""
        waiting = text(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        for _ in range(500):
            # Each in a transaction of its own, as the view does not change within one.
            with self.store.read() as db:
                if db.execute(waiting).scalar_one():
                    return
            time.sleep(0.02)
        raise AssertionError("no node waits for a lock")

    def close(self) -> None:
        self.holder.dispose()
        self.store.close()


@pytest.fixture
def site(postgresql: Any, tmp_path: Any) -> Iterator[Site]:
    url = postgresql.new_database()
    opened = Site(url, tmp_path)
    yield opened
    opened.close()
    postgresql.drop(url)


def renamings(site: Site, tournament_id: int) -> int:
    """The number of times that a tournament was changed, by its journal."""
    counted = text("SELECT count(DISTINCT action_id) FROM journal WHERE tournament_id = :id")
    with site.store.read() as db:
        return int(db.execute(counted, {"id": tournament_id}).scalar_one())


def test_a_node_paused_before_its_commit_is_answered_holds_up_nobody(site: Site) -> None:
    """The last statement and the commit are sent together, so the row of the world never waits for a node."""
    first, other = site.tournament_ids[0], site.tournament_ids[WORLD_SLOTS]
    with contextlib.closing(site.a_node()) as paused, contextlib.closing(site.a_node()) as running:
        # Everything is loaded with the first request.
        assert site.rename(paused, first, "before")[0] == 200
        with a_waiting_rename(site, paused, first, "SELECT slot FROM world FOR UPDATE") as outcome:
            # It was committed without the node that asked for it.
            assert site.rename(running, other, "other", "key-other")[0] == 200
            assert site.name(first) == "half"
            assert site.rename(running, first, "same", "key-same")[0] == 200
        assert [status for status, _, _ in outcome] == [200]
        assert site.name(first) == "same"
        assert site.rename(paused, first, "afterwards", "key-after")[0] == 200
        assert renamings(site, other) == 1


def test_a_node_paused_with_its_tournament_delays_others_of_it_by_seconds(site: Site) -> None:
    first, other = site.tournament_ids[0], site.tournament_ids[WORLD_SLOTS]
    with contextlib.closing(site.a_node()) as paused, contextlib.closing(site.a_node()) as running:
        assert site.rename(paused, first, "before")[0] == 200
        with a_waiting_rename(site, paused, first, "LOCK TABLE journal IN EXCLUSIVE MODE") as outcome:
            # It has its tournament, and cannot go on.
            assert site.rename(running, other, "other", "key-other")[0] == 200
            site.rename_until_done(running, first, "same", "key-same")
        assert [status for status, _, _ in outcome] == [503]
        assert site.name(first) == "same"
        assert site.rename(paused, first, "afterwards", "key-after")[0] == 200
        assert renamings(site, first) == 3


@contextlib.contextmanager
def a_waiting_rename(
    site: Site, node: Any, tournament_id: int, locking: str
) -> Iterator[list[tuple[int, float, dict[str, str]]]]:
    """A rename that waited for this lock when its node was paused; the lock is free, and it goes on later."""
    outcome: list[tuple[int, float, dict[str, str]]] = []
    with site.holder.connect() as db:
        db.execute(text(locking))
        writer = threading.Thread(target=lambda: outcome.append(site.rename(node, tournament_id, "half")))
        writer.start()
        site.await_lock_wait()
        node.signal(signal.SIGSTOP)
        db.rollback()
    try:
        yield outcome
    finally:
        node.signal(signal.SIGCONT)
        writer.join(TIMEOUT)


def test_one_locked_tournament_leaves_the_others_alone(site: Site) -> None:
    locked, other = site.tournament_ids[:2]
    with contextlib.closing(site.a_node()) as node, ThreadPoolExecutor(50) as clients:
        with site.holder.connect() as db:
            db.execute(text("SELECT 1 FROM tournament WHERE tournament_id = :id FOR UPDATE"), {"id": locked})
            waiting = [
                clients.submit(site.rename, node, locked, f"name {number}", f"key-{number}")
                for number in range(50)
            ]
            time.sleep(0.5)
            assert site.rename(node, other, "free")[0] == 200
            assert not all(each.done() for each in waiting)
            answers = [each.result() for each in waiting]
            assert {status for status, _, _ in answers} <= {503, 409}
            db.rollback()
        # The refused ones did nothing, and the same request acts once.
        site.rename_until_done(node, locked, "name 0", "key-0")
        assert site.rename(node, locked, "name 0", "key-0")[0] == 200
        assert renamings(site, locked) == 1


def test_a_database_that_became_silent_is_noticed_and_comes_back(site: Site, postgresql: Any) -> None:
    tournament_id = site.tournament_ids[0]
    with TcpProxy(postgresql.folder / ".s.PGSQL.5432") as proxy:
        database = make_url(site.url).database
        address = f"postgresql+psycopg://silverball@127.0.0.1:{proxy.port}/{database}"
        with (
            contextlib.closing(site.a_node(address)) as node,
            contextlib.closing(site.a_node(address)) as leaving,
            ThreadPoolExecutor(40) as clients,
        ):
            for each in (node, leaving):
                assert site.rename(each, tournament_id, "before")[0] == 200
            assert site.send(node, "GET", "/ready")[0] == 200
            proxy.blackhole()
            begun_at = time.monotonic()
            for number in range(5):
                clients.submit(site.rename, leaving, site.tournament_ids[number], "at the end")
            while site.send(node, "GET", "/ready")[0] == 200:
                assert time.monotonic() - begun_at < TIMEOUT
                time.sleep(0.1)
            # By now its requests wait for the database, and so does whatever it does by itself.
            stopping = clients.submit(leaving.stop_and_wait, TIMEOUT)
            answers = [
                clients.submit(site.rename, node, tournament_id, "during", "one-key") for _ in range(10)
            ] + [
                clients.submit(site.send, node, "GET", f"/api/tournaments/{each}")
                for each in site.tournament_ids
            ]
            results = [answer.result() for answer in answers]
            assert {status for status, _, _ in results} <= {503, 409}
            stopping.result()
            proxy.forward(lose_old=True)
            site.rename_until_done(node, tournament_id, "after", "key-after")
            assert site.name(tournament_id) == "after"


def test_after_a_pause_in_an_outage_nobody_who_says_what_they_saw_is_shown_less(
    site: Site, postgresql: Any
) -> None:
    night = site.tournament_ids[0]
    with TcpProxy(postgresql.folder / ".s.PGSQL.5432") as proxy:
        database = make_url(site.url).database
        address = f"postgresql+psycopg://silverball@127.0.0.1:{proxy.port}/{database}"
        with (
            contextlib.closing(site.a_node()) as writer,
            contextlib.closing(site.a_node(address)) as reader,
        ):
            assert site.rename(writer, night, "Before")[0] == 200
            for path in (f"/api/tournaments/{night}", f"/t/{night}"):
                assert read(site, reader, path)[::2] == (200, "Before")
            reader.signal(signal.SIGSTOP)
            status, _, _ = site.rename(writer, night, "After")
            assert status == 200
            with site.store.read() as db:
                revision = revisions.current_revision(db, night)
            assert revision is not None
            seen = SeenRevision(night, *revision).cookie
            # Longer than what a node knows counts.
            time.sleep(LEASE_SECONDS + 0.5)
            proxy.stop()
            reader.signal(signal.SIGCONT)
            asking = [
                (f"/api/tournaments/{night}", {"X-Tournament-Revision": str(revision.number)}),
                (f"/t/{night}", {"Cookie": f"seen={seen}"}),
            ]
            is_dated = False
            begun_at = time.monotonic()
            while not is_dated:
                assert time.monotonic() - begun_at < TIMEOUT
                for path, given in asking:
                    assert read(site, reader, path, **given)[0] == 503
                    status, age, name = read(site, reader, path)
                    # What is outdated says so.
                    assert (status, age > 0, name) in {(200, True, "Before"), (503, False, "")}
                    is_dated |= status == 200
            proxy.start()
            for path, given in asking:
                while (answer := read(site, reader, path, **given))[0] == 503:
                    assert time.monotonic() - begun_at < TIMEOUT
                    time.sleep(0.05)
                assert answer == (200, 0, "After")


def read(site: Site, node: Servers, path: str, **headers: str) -> tuple[int, int, str]:
    """Status, Age and the name that the answer shows."""
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=TIMEOUT)
    with contextlib.closing(connection):
        identity = {"Authorization": f"Bearer {site.token}"} if path.startswith("/api/") else {}
        connection.request("GET", path, headers=headers | identity)
        answer = connection.getresponse()
        body = answer.read()
    shown = next((name for name in ("Before", "After") if name.encode() in body), "")
    return answer.status, int(answer.getheader("Age", "0")), shown
