"""Documents are fetched in the background, once each, and also after a crash."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import build
from exchange.outgoing.hosts import GOOD, Listener, a_proxy, a_world, an_authority, answer_with
from service.submissions.sent_documents import (
    HOST,
    LIST,
    SETTINGS,
    URL,
    a_document,
    encode,
    get_submission,
    send_request,
    statuses,
    submit_url,
)
from silverball import app
from silverball.jobs import background, fetch_submissions
from silverball.jobs.fetch_submissions import DocumentUnreachable, Fetch, SubmissionFetcher, create_workers
from silverball.service.submissions import writes as submissions_writes
from silverball.service.submissions.writes import ArrivedDocument
from silverball.settings import SettingError, Settings, load
from silverball.store import tables
from silverball.store.database.engine import Store

SECONDS_MAX = 60
EARLY = "2026-02-28T20:00:00Z"


@pytest.fixture
def user_id(store: Store) -> int:
    return build.a_user(store, role="organizer")


def a_fetcher(store: Store, fetch: Fetch, now: datetime = build.NOW) -> SubmissionFetcher:
    return SubmissionFetcher(store, SETTINGS, lambda: fetch, lambda: now)


def a_delivery(**changes: object) -> ArrivedDocument:
    return ArrivedDocument(HOST, encode(a_document(**changes)))


def deliver_good(_url: str) -> ArrivedDocument:
    return a_delivery()


def wait_until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + SECONDS_MAX
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_without_submissions_nothing_is_loaded(store: Store) -> None:
    def never() -> Fetch:
        raise AssertionError("nothing had to be fetched")

    assert not SubmissionFetcher(store, SETTINGS, never, lambda: build.NOW).fetch_one()


def test_oldest_first(store: Store, user_id: int) -> None:
    urls: list[str] = []

    def fetch(url: str) -> ArrivedDocument:
        urls.append(url)
        raise DocumentUnreachable("No.")

    for number in (1, 2, 3):
        submit_url(store, user_id, f"{URL}?{number}")
    while a_fetcher(store, fetch).fetch_one():
        pass
    assert urls == [f"{URL}?1", f"{URL}?2", f"{URL}?3"]
    assert set(statuses(store)) == {"invalid"}


def test_each_document_is_fetched_once_by_many_fetchers(store: Store, user_id: int) -> None:
    fetched_urls: list[str] = []

    def fetch(url: str) -> ArrivedDocument:
        fetched_urls.append(url)
        return a_delivery(name=url, completedAt=f"2026-03-0{url[-1]}T01:00:00Z", startedAt=EARLY)

    urls = [f"{URL}?{number}" for number in range(1, 6)]
    for url in urls:
        submit_url(store, user_id, url)
    threads = [threading.Thread(target=_until_idle, args=(a_fetcher(store, fetch),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fetched_urls) == urls
    assert statuses(store) == ["ready"] * 5


def _until_idle(fetcher: SubmissionFetcher) -> None:
    while fetcher.fetch_one():
        pass


def test_a_slow_host_does_not_delay_other_work(store: Store, user_id: int) -> None:
    """No transaction is open meanwhile: others write, and claim submissions of their own."""
    started, may_end = threading.Event(), threading.Event()

    def slow(_url: str) -> ArrivedDocument:
        started.set()
        assert may_end.wait(SECONDS_MAX)
        return deliver_good("")

    submit_url(store, user_id)
    waiting = threading.Thread(target=a_fetcher(store, slow).fetch_one)
    waiting.start()
    assert started.wait(SECONDS_MAX)
    # It is claimed, so no other fetcher gets it.
    assert not a_fetcher(store, deliver_good).fetch_one()
    assert submit_url(store, user_id, f"{URL}?other")[0] == 201
    assert a_fetcher(store, lambda _url: a_delivery(name="Other")).fetch_one()
    assert statuses(store) == ["fetching", "ready"]
    may_end.set()
    waiting.join()
    assert statuses(store) == ["ready", "ready"]


def test_a_submission_of_a_killed_server_is_claimed_again_after_a_minute(store: Store, user_id: int) -> None:
    submit_url(store, user_id)
    with store.write(quiet=True) as transaction:
        assert submissions_writes.claim_next_document(transaction.connection, build.NOW) is not None
    assert not a_fetcher(store, deliver_good, build.NOW + timedelta(seconds=60)).fetch_one()
    assert a_fetcher(store, deliver_good, build.NOW + timedelta(seconds=61)).fetch_one()
    assert statuses(store) == ["ready"]


def test_a_document_that_kills_every_server_is_given_up(store: Store, user_id: int) -> None:
    submit_url(store, user_id)
    now = build.NOW
    for _ in range(3):
        with store.write(quiet=True) as transaction:
            assert submissions_writes.claim_next_document(transaction.connection, now) is not None
        now += timedelta(minutes=2)

    def never(_url: str) -> ArrivedDocument:
        raise AssertionError("it was given up")

    assert a_fetcher(store, never, now).fetch_one()
    assert get_submission(store, 1)["errors"] == [submissions_writes.GIVEN_UP]


def test_a_server_that_comes_back_too_late_changes_nothing(store: Store, user_id: int) -> None:
    """A server that was stopped for minutes finds that another one has done its work."""
    submit_url(store, user_id)
    with store.write(quiet=True) as transaction:
        late = submissions_writes.claim_next_document(transaction.connection, build.NOW)
    assert late is not None
    a_fetcher(store, deliver_good, build.NOW + timedelta(minutes=2)).fetch_one()
    before = get_submission(store, 1)
    with store.write() as transaction:
        arrived = submissions_writes.check_document(
            transaction.connection, late, a_delivery(name="Late"), build.NOW
        )
        submissions_writes.accept_document(transaction.connection, late, arrived, (), build.NOW)
        submissions_writes.refuse_document(transaction.connection, late, ["Late."], build.NOW)
    assert get_submission(store, 1) == before


def test_a_submission_withdrawn_during_its_fetch_stays_withdrawn(store: Store, user_id: int) -> None:
    submit_url(store, user_id)

    def fetch(_url: str) -> ArrivedDocument:
        assert send_request(store, "DELETE", f"{LIST}/1", by=user_id)[0] == 200
        return deliver_good("")

    assert a_fetcher(store, fetch).fetch_one()
    assert statuses(store) == ["withdrawn"]


def test_the_threads_go_on_after_an_error_until_they_are_closed(
    store: Store, user_id: int, caplog: pytest.LogCaptureFixture
) -> None:
    broken = threading.Event()

    def fetch(url: str) -> ArrivedDocument:
        if url.endswith("?1"):
            broken.set()
            raise RuntimeError("our own mistake")
        return deliver_good("")

    running = create_workers(a_fetcher(store, fetch), poll_seconds=0.01)
    running.start()
    submit_url(store, user_id, f"{URL}?1")
    assert broken.wait(SECONDS_MAX)
    submit_url(store, user_id, f"{URL}?2")
    wait_until(lambda: statuses(store)[-1] == "ready")
    running.close()
    assert "submissions: work failed" in caplog.text
    # A submission that failed by our own bug is tried again later.
    assert statuses(store) == ["fetching", "ready"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("silverball-fetch")]


def test_the_programs_fetcher_keeps_to_the_policy(store: Store) -> None:
    listener = Listener(lambda accepted: accepted.close())
    settings = Settings(base_url="https://pinball.example.org", submission_hosts="*")
    fetch = fetch_submissions.guarded_fetch(settings)
    for url in ("https://127.0.0.1/", f"https://localhost:{listener.port}/", "https://pinball.example.org/"):
        with pytest.raises(DocumentUnreachable):
            fetch(url)
    assert listener.count == 0
    listener.close()


def test_from_the_address_to_the_players_through_tls_and_a_proxy(
    store: Store, user_id: int, tmp_path: Path
) -> None:
    authority, requests = an_authority(tmp_path), list[bytes]()
    with a_world({"/night.json": answer_with(encode(a_document()))}, authority.server_context(HOST)) as world:
        assert world.good is not None
        proxy = a_proxy(requests, world.good.port)
        settings = replace(SETTINGS, egress_proxy=f"127.0.0.1:{proxy.port}")
        fetch = fetch_submissions.guarded_fetch(
            settings, resolve=world.resolve, tls=authority.client_context()
        )
        submit_url(store, user_id)
        assert SubmissionFetcher(store, settings, lambda: fetch, lambda: build.NOW).fetch_one()
        proxy.close()
        assert world.trap.count == 0
    assert requests[0].startswith(f"CONNECT {GOOD}:443".encode())
    data = get_submission(store, 1)
    assert (data["status"], data["sourceDomain"], data["playerCount"]) == ("ready", HOST, 4)


def test_a_host_that_is_no_longer_allowed_is_not_contacted(store: Store, user_id: int) -> None:
    submit_url(store, user_id)
    closed = Settings(base_url=build.BASE_URL, submission_hosts="elsewhere.example.org")
    fetch = fetch_submissions.guarded_fetch(closed)
    assert SubmissionFetcher(store, closed, lambda: fetch, lambda: build.NOW).fetch_one()
    assert "does not fetch from results.example.org" in get_submission(store, 1)["errors"][0]


def test_a_server_that_starts_fetches_waiting_submissions(store: Store, user_id: int) -> None:
    # Such an address is refused today, so the fetch fails without any network.
    old = {"submitter_id": user_id, "url": "http://results.example.org/night.json"}
    build.row(store, tables.rating_submission, **old)
    with TestClient(app.build(store, SETTINGS)):
        wait_until(lambda: statuses(store) == ["invalid"])
    assert get_submission(store, 1)["errors"] == ["The address must begin with https://."]


@pytest.mark.parametrize("place", ["proxy", "http://proxy:3128", "user@proxy:3128", "proxy:port", ":3128"])
def test_a_proxy_is_a_host_and_a_port(place: str) -> None:
    with pytest.raises(SettingError, match="SILVERBALL_EGRESS_PROXY must be HOST:PORT"):
        load({"SILVERBALL_EGRESS_PROXY": place})
    assert load({"SILVERBALL_EGRESS_PROXY": "proxy:3128"}).egress_proxy == "proxy:3128"


@pytest.mark.both_databases
def test_an_approved_event_is_scheduled_when_its_day_is_over(store: Store, user_id: int) -> None:
    for day in ("2026-03-03", "2026-03-04", "2026-03-05"):
        values = {"submitter_id": user_id, "status": "approved", "event_date": day}
        build.row(store, tables.rating_submission, **values)
    background.schedule_submissions(store, build.NOW)
    now = [
        (get_submission(store, submission_id)["status"], get_submission(store, submission_id)["ratingPeriod"])
        for submission_id in (1, 2, 3)
    ]
    assert now == [("scheduled", "2026-03-03"), ("scheduled", "2026-03-04"), ("approved", None)]
    # It is safe to do twice: every node has a clock.
    background.schedule_submissions(store, build.NOW)
    assert [get_submission(store, submission_id)["status"] for submission_id in (1, 2, 3)] == [
        "scheduled",
        "scheduled",
        "approved",
    ]
