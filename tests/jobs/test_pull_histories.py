"""Pulls that accounts start on a page: complete, resumable, within their own things."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

import build
from exchange import bundles, pull_world
from exchange.outgoing.hosts import Listener
from exchange.pull_world import Site, interrupted, published, scripted
from jobs.pull_desk import ADDRESS, TOKEN, PullDesk
from silverball.exchange.pull.source import Answer, ConnectionLost, SourceFault
from silverball.jobs import pull_histories
from silverball.jobs.pull_histories import FAILURES_MAX, FetchingProcess
from silverball.service.moving import reads as moving_reads
from silverball.service.moving import writes as moving_writes
from silverball.service.moving.writes import NoPullThere, PullRunsAlready
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.counts import source_turns
from silverball.store.database.engine import Store
from silverball.store.people import encryption

NIGHTS = tuple(path for path in bundles.INVENTED if path.name.partition("-")[0] in ("60", "61", "62"))
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, empty_sqlite: Path) -> Iterator[Site]:
    file = tmp_path_factory.mktemp("source") / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file, *NIGHTS) as opened:
        yield opened


@pytest.fixture
def desk(store: Store, site: Site) -> PullDesk:
    encryption.open_keys(store)
    # Ids of the source that are taken here.
    build.a_tournament(store, name="Theirs")
    user_id = build.a_user(store, name="Olga Here", role="organizer", email="olga@silverball.test")
    return PullDesk(store, site, user_id)


def own_tournaments(desk: PullDesk) -> dict[int, str]:
    own = tables.tournament.c
    with desk.store.read() as db:
        rows = select(own.tournament_id, own.name).where(own.organizer_id == desk.user_id)
        return {row.tournament_id: row.name for row in db.execute(rows.order_by(own.tournament_id))}


def stored_secret(desk: PullDesk) -> str | None:
    with desk.store.read() as db:
        secret: str | None = db.execute(select(tables.history_pull.c.secret)).scalar_one()
        return secret


def accounts(store: Store) -> list[tuple[int, str]]:
    with store.read() as db:
        own = tables.user.c
        return [(row.user_id, row.name) for row in db.execute(select(own.user_id, own.name))]


def test_everything_of_the_account_there_becomes_the_accounts_here(desk: PullDesk) -> None:
    before = accounts(desk.store)
    desk.start()
    assert stored_secret(desk) not in (None, TOKEN)
    assert TOKEN not in str(stored_secret(desk))
    desk.work()
    pull = desk.pull
    assert (pull.status, pull.reason, pull.done, pull.total) == ("finished", None, len(NIGHTS), len(NIGHTS))
    assert {report["outcome"] for report in desk.reports} == {"new"}
    assert not any(report["differences"] for report in desk.reports)
    assert len(own_tournaments(desk)) == len(NIGHTS)
    # The token is used and gone, and nobody else has come along.
    assert set(desk.asked) == {(ADDRESS, TOKEN)}
    assert stored_secret(desk) is None
    assert accounts(desk.store) == before
    with desk.store.read() as db:
        for table in (tables.player, tables.arena):
            owners = set(db.execute(select(table.c.organizer_id)).scalars())
            assert desk.user_id in owners


def test_a_later_pull_finds_what_is_here(desk: PullDesk) -> None:
    desk.start()
    desk.work()
    taken = own_tournaments(desk)
    desk.start()
    desk.work()
    assert own_tournaments(desk) == taken
    # One in twenty is read again.
    assert {report["outcome"] for report in desk.reports} == {"unchanged"}


def test_a_pull_that_reads_everything_again_asks_for_what_has_not_changed(desk: PullDesk) -> None:
    desk.start()
    desk.work()
    requests = desk.pull.requests
    desk.start(wanted={"owners": [desk.site.owner_id], "since": desk.site.since, "isFull": True})
    desk.work()
    assert desk.pull.requests == requests
    assert {report["outcome"] for report in desk.reports} == {"unchanged"}


def test_a_dry_run_stores_nothing_but_its_report(desk: PullDesk) -> None:
    desk.start(dry=True)
    desk.work()
    assert (desk.pull.status, own_tournaments(desk)) == ("finished", {})
    assert [report["outcome"] for report in desk.reports] == ["new"] * len(NIGHTS)


@pytest.mark.parametrize("at", [1, 2, 4, 9, 13])
def test_a_killed_process_loses_one_tournament_and_another_goes_on(desk: PullDesk, at: int) -> None:
    desk.start()
    desk.ask = interrupted(desk.site.ask, at)
    with pytest.raises(KeyboardInterrupt):
        desk.puller().work_on_one()
    # Its lease keeps others away until it has run out.
    assert not desk.puller().work_on_one()
    desk.now += moving_writes.LEASE * 2
    desk.ask = None
    desk.work()
    assert (desk.pull.status, desk.pull.done) == ("finished", len(NIGHTS))
    assert len(own_tournaments(desk)) == len(NIGHTS)


def test_stopping_takes_effect_at_once_and_going_on_goes_on(desk: PullDesk) -> None:
    site_ask = desk.site.ask

    def stopping(target: str) -> Answer:
        if target.endswith("/standings"):
            desk.now += timedelta(seconds=30)
            desk.change(moving_writes.stop_pull)
            desk.ask = None
        return site_ask(target)

    desk.start()
    desk.ask = stopping
    desk.work()
    assert desk.pull.status == "stopped"
    assert stored_secret(desk) is not None
    assert desk.pull.done < desk.pull.total == len(NIGHTS)
    with pytest.raises(PullRunsAlready):
        desk.start()
    desk.change(moving_writes.continue_pull)
    desk.work()
    assert (desk.pull.status, desk.pull.done) == ("finished", len(NIGHTS))
    for write in (moving_writes.stop_pull, moving_writes.continue_pull, moving_writes.give_up_pull):
        with pytest.raises(NoPullThere):
            desk.change(write)


def test_giving_up_and_a_week_of_rest_delete_the_token(desk: PullDesk) -> None:
    desk.start()
    desk.change(moving_writes.give_up_pull)
    assert (desk.pull.status, stored_secret(desk)) == ("failed", None)
    desk.start()
    desk.change(moving_writes.stop_pull)
    desk.now += moving_writes.STOPPED_KEPT * 2
    other = build.a_user(desk.store, name="Otto", role="organizer")
    replace(desk, user_id=other).start()
    desk.work()
    assert (desk.pull.status, desk.pull.reason) == ("failed", "It was stopped for a week.")
    assert desk.pull.has_secret is False


def test_a_source_that_is_down_is_asked_again_later_and_given_up_after_an_hour(desk: PullDesk) -> None:
    desk.ask = scripted(ConnectionLost("The host cannot be found or does not answer."))
    desk.start()
    for count in range(1, FAILURES_MAX):
        desk.work()
        assert (desk.pull.status, "does not answer" in str(desk.pull.reason)) == ("active", True), count
        desk.now += pull_histories.PAUSE
    desk.work()
    assert (desk.pull.status, stored_secret(desk)) == ("failed", None)
    assert own_tournaments(desk) == {}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Answer(401, {}, b""), "does not accept the token"),
        (Answer(200, {"content-type": "text/html"}, b"<p>"), "answered /api/users/profile with a page"),
        (Answer(302, {"location": "http://127.0.0.1/"}, b""), "sends /api/users/profile on"),
        (Answer(200, JSON, b"[1"), "with broken JSON"),
        (Answer(429, {"retry-after": "86400"}, b""), "wants to be left alone for 86400 seconds"),
        (SourceFault("The host has a forbidden address."), "forbidden address"),
    ],
)
def test_a_fault_of_the_source_is_a_sentence_and_stores_nothing(
    desk: PullDesk, answer: Answer | Exception, sentence: str
) -> None:
    desk.ask = scripted(answer)
    desk.start()
    desk.work()
    assert sentence in str(desk.pull.reason)
    assert (desk.reports, own_tournaments(desk)) == ([], {})


def test_what_is_more_than_the_account_may_have_is_listed_and_not_stored(desk: PullDesk) -> None:
    desk.settings = Settings(tournaments_per_account=2)
    desk.start()
    desk.work()
    assert [report["outcome"] for report in desk.reports] == ["new", "new", "refused"]
    assert "An account can have 2 tournaments on this site" in desk.reports[-1]["reason"]
    assert len(own_tournaments(desk)) == 2


def test_accounts_do_not_reach_each_others_things(desk: PullDesk) -> None:
    desk.start()
    desk.work()
    mine = {key: published(desk.store, key) for key in own_tournaments(desk)}
    other = replace(desk, user_id=build.a_user(desk.store, name="Otto Tilt", role="organizer"))
    other.start()
    other.work()
    assert {report["outcome"] for report in other.reports} == {"new"}
    assert not set(own_tournaments(other)) & set(mine)
    assert {key: published(desk.store, key) for key in mine} == mine


def test_an_account_that_may_nothing_any_more_brings_nothing_along(desk: PullDesk) -> None:
    desk.start()
    with desk.store.write() as transaction:
        row = tables.user.update().where(tables.user.c.user_id == desk.user_id)
        transaction.connection.execute(row.values(suspended_at=build.NOW))
    desk.work()
    assert (desk.pull.status, desk.pull.reason) == ("failed", pull_histories.MAY_NOT)
    assert desk.pull.requests == 0


def test_two_pulls_on_one_token_share_its_requests_and_say_so(desk: PullDesk) -> None:
    other = replace(desk, user_id=build.a_user(desk.store, name="Otto Tilt", role="organizer"), asked=[])
    desk.start()
    began = desk.now
    foreign = source_turns.shared_turns(desk.store, pull_world.NAME, TOKEN, began.timestamp())
    site_ask = desk.site.ask

    def shared(target: str) -> Answer:
        foreign.take(desk.now.timestamp(), 1.0)
        return site_ask(target)

    desk.ask = shared
    desk.work()
    pull = desk.pull
    assert pull.foreign_requests == pull.requests > 0
    # Two requests a second are never sent, whoever sends them.
    assert (desk.now - began).total_seconds() >= 2 * (pull.requests - 1)
    assert other.user_id != desk.user_id


def test_addresses_inside_are_never_connected_to() -> None:
    listener = Listener(lambda accepted: accepted.close())
    settings = Settings(base_url="https://pinball.example.org")
    for address in ("127.0.0.1", "10.0.0.7", "169.254.169.254", "::1"):
        open_source = pull_histories.guarded_source(
            settings,
            resolve=lambda *_, inside=address: [inside],
            connect=lambda *_: pytest.fail("connected"),
        )
        _, ask = open_source("https://results.example.org", TOKEN)
        with pytest.raises(SourceFault):
            ask("/api/users/profile")
    for address in (f"http://results.example.org:{listener.port}", "https://127.0.0.1", "https://10.0.0.7"):
        with pytest.raises(SourceFault):
            pull_histories.guarded_source(settings)(address, TOKEN)
    assert listener.count == 0
    listener.close()


def answering(head: str, body: bytes = b"") -> Listener:
    """A source that answers each request like this."""

    def answer(accepted: socket.socket) -> None:
        accepted.recv(65_536)
        length = f"content-length: {len(body)}\r\ncontent-type: application/json\r\n\r\n"
        accepted.sendall(f"HTTP/1.1 {head}\r\n{length}".encode() + body)
        accepted.close()

    return Listener(answer)


@contextmanager
def fetching(desk: PullDesk, listener: Listener) -> Iterator[FetchingProcess]:
    """The process that works on a pull from this source."""
    address = f"http://127.0.0.1:{listener.port}"
    with desk.store.write() as transaction:
        moving_writes.start_pull(
            transaction.connection,
            desk.user_id,
            address=address,
            token=TOKEN,
            wanted={"owners": [1]},
            is_dry_run=False,
            now=desk.now,
        )
    settings = Settings(base_url="https://pinball.example.org", allow_loopback=True)
    workers = pull_histories.fetching_process(desk.store, settings)
    workers.start()
    try:
        yield workers
    finally:
        workers.close()
        listener.close()


def test_a_hostile_source_is_read_in_a_process_of_its_own_that_ends_with_the_work(desk: PullDesk) -> None:
    many = b'{"data":[' + b"[]," * 2_700_000 + b"[]]}"
    with fetching(desk, answering("200 OK", many)) as workers:
        while desk.pull.status == moving_reads.ACTIVE:
            time.sleep(0.02)
        assert desk.pull.status == moving_reads.FAILED
        assert "more than 500000 values" in str(desk.pull.reason)
        while workers.process_id is not None:
            time.sleep(0.02)


def test_a_stop_leaves_the_pull_to_the_next_process(desk: PullDesk) -> None:
    listener = answering("429 Too Many Requests\r\nretry-after: 60")
    with fetching(desk, listener) as workers:
        while listener.count == 0:
            time.sleep(0.02)
        workers.close()
        assert workers.process_id is None
    with desk.store.read() as db:
        assert moving_reads.is_pull_due(db, datetime.now(UTC))
    assert desk.pull.status == moving_reads.ACTIVE


def test_a_killed_process_does_not_end_the_duty(desk: PullDesk) -> None:
    listener = answering("429 Too Many Requests\r\nretry-after: 60")
    with fetching(desk, listener) as workers:
        while listener.count == 0:
            time.sleep(0.02)
        killed = workers.process_id
        os.kill(killed or 0, signal.SIGKILL)
        while workers.process_id == killed:
            time.sleep(0.02)
    # Its claim holds for a while yet.
    assert desk.pull.status == moving_reads.ACTIVE
