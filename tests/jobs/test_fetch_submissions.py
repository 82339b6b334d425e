"""Documents are fetched beside everything else, once, and also after a crash."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import build
from exchange.outgoing.hosts import GOOD, Listener, a_proxy, a_world, an_authority, says
from service.submissions.events import (
    HOST,
    LIST,
    SETTINGS,
    URL,
    a_document,
    do,
    encoded,
    send_in,
    shown,
    statuses,
)
from silverball import app
from silverball.jobs import fetch_submissions, schedule_submissions
from silverball.jobs.fetch_submissions import Errands, Fetch, Unreachable, workers
from silverball.service.submissions.writes import arrival
from silverball.service.submissions.writes.arrival import Delivery
from silverball.settings import SettingError, Settings, load
from silverball.store import tables
from silverball.store.engine import Store

SECONDS_MAX = 10
EARLY = "2026-02-28T20:00:00Z"


@pytest.fixture
def user_id(store: Store) -> int:
    return build.a_user(store, role="organizer")


def errands(store: Store, fetch: Fetch, now: datetime = build.NOW) -> Errands:
    return Errands(store, SETTINGS, lambda: fetch, lambda: now)


def found(**changes: object) -> Delivery:
    return Delivery(HOST, encoded(a_document(**changes)))


def good(_url: str) -> Delivery:
    return found()


def until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + SECONDS_MAX
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_nothing_to_fetch_is_no_work_and_loads_nothing(store: Store) -> None:
    def never() -> Fetch:
        raise AssertionError("nothing had to be fetched")

    assert not Errands(store, SETTINGS, never, lambda: build.NOW).run_one()


def test_oldest_first(store: Store, user_id: int) -> None:
    asked: list[str] = []

    def fetch(url: str) -> Delivery:
        asked.append(url)
        raise Unreachable("No.")

    for number in (1, 2, 3):
        send_in(store, user_id, f"{URL}?{number}")
    while errands(store, fetch).run_one():
        pass
    assert asked == [f"{URL}?1", f"{URL}?2", f"{URL}?3"]
    assert set(statuses(store)) == {"invalid"}


def test_each_is_fetched_once_however_many_fetch(store: Store, user_id: int) -> None:
    asked: list[str] = []

    def fetch(url: str) -> Delivery:
        asked.append(url)
        return found(name=url, completedAt=f"2026-03-0{url[-1]}T01:00:00Z", startedAt=EARLY)

    urls = [f"{URL}?{number}" for number in range(1, 6)]
    for url in urls:
        send_in(store, user_id, url)
    threads = [threading.Thread(target=_until_idle, args=(errands(store, fetch),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(asked) == urls
    assert statuses(store) == ["ready"] * 5


def _until_idle(one: Errands) -> None:
    while one.run_one():
        pass


def test_while_a_host_is_waited_for_everything_else_goes_on(store: Store, user_id: int) -> None:
    """No transaction is open meanwhile: others write, and take errands of their own."""
    started, may_end = threading.Event(), threading.Event()

    def slow(_url: str) -> Delivery:
        started.set()
        assert may_end.wait(SECONDS_MAX)
        return good("")

    send_in(store, user_id)
    waiting = threading.Thread(target=errands(store, slow).run_one)
    waiting.start()
    assert started.wait(SECONDS_MAX)
    # It is taken, so nobody else fetches it.
    assert not errands(store, good).run_one()
    assert send_in(store, user_id, f"{URL}?other")[0] == 201
    assert errands(store, lambda _url: found(name="Other")).run_one()
    assert statuses(store) == ["fetching", "ready"]
    may_end.set()
    waiting.join()
    assert statuses(store) == ["ready", "ready"]


def test_what_a_killed_server_left_is_taken_up_again_after_a_minute(store: Store, user_id: int) -> None:
    send_in(store, user_id)
    with store.write(quiet=True) as db:
        assert arrival.take_errand(db, build.NOW) is not None
    assert not errands(store, good, build.NOW + timedelta(seconds=60)).run_one()
    assert errands(store, good, build.NOW + timedelta(seconds=61)).run_one()
    assert statuses(store) == ["ready"]


def test_what_kills_every_server_that_takes_it_up_is_given_up(store: Store, user_id: int) -> None:
    send_in(store, user_id)
    now = build.NOW
    for _ in range(3):
        with store.write(quiet=True) as db:
            assert arrival.take_errand(db, now) is not None
        now += timedelta(minutes=2)

    def never(_url: str) -> Delivery:
        raise AssertionError("it was given up")

    assert errands(store, never, now).run_one()
    assert shown(store, 1)["errors"] == [arrival.GIVEN_UP]


def test_who_comes_back_too_late_changes_nothing(store: Store, user_id: int) -> None:
    """A server that was stopped for minutes finds that another one has done its work."""
    send_in(store, user_id)
    with store.write(quiet=True) as db:
        late = arrival.take_errand(db, build.NOW)
    assert late is not None
    errands(store, good, build.NOW + timedelta(minutes=2)).run_one()
    before = shown(store, 1)
    with store.write() as db:
        arrived = arrival.look_at(db, late, found(name="Late"), build.NOW)
        arrival.take_in(db, late, arrived, (), build.NOW)
        arrival.refuse(db, late, ["Late."], build.NOW)
    assert shown(store, 1) == before


def test_who_withdraws_while_it_is_fetched_has_withdrawn(store: Store, user_id: int) -> None:
    send_in(store, user_id)

    def fetch(_url: str) -> Delivery:
        assert do(store, "DELETE", f"{LIST}/1", by=user_id)[0] == 200
        return good("")

    assert errands(store, fetch).run_one()
    assert statuses(store) == ["withdrawn"]


def test_the_threads_fetch_until_they_are_closed_whatever_goes_wrong(
    store: Store, user_id: int, caplog: pytest.LogCaptureFixture
) -> None:
    broken = threading.Event()

    def fetch(url: str) -> Delivery:
        if url.endswith("?1"):
            broken.set()
            raise RuntimeError("our own mistake")
        return good("")

    running = workers(errands(store, fetch), look_every_seconds=0.01)
    running.start()
    send_in(store, user_id, f"{URL}?1")
    assert broken.wait(SECONDS_MAX)
    send_in(store, user_id, f"{URL}?2")
    until(lambda: statuses(store)[-1] == "ready")
    running.close()
    assert "submissions could not be served" in caplog.text
    # What went wrong by our own mistake is tried again later.
    assert statuses(store) == ["fetching", "ready"]
    assert not [one for one in threading.enumerate() if one.name.startswith("silverball-fetch")]


def test_what_the_program_fetches_with_keeps_to_the_policy(store: Store) -> None:
    listener = Listener(lambda accepted: accepted.close())
    settings = Settings(base_url="https://pinball.example.org", submission_hosts="*")
    fetch = fetch_submissions.guarded(settings)
    for url in ("https://127.0.0.1/", f"https://localhost:{listener.port}/", "https://pinball.example.org/"):
        with pytest.raises(Unreachable):
            fetch(url)
    assert listener.count == 0
    listener.close()


def test_from_the_address_to_the_players_through_tls_and_a_proxy(
    store: Store, user_id: int, tmp_path: Path
) -> None:
    authority, told = an_authority(tmp_path), list[bytes]()
    with a_world({"/night.json": says(encoded(a_document()))}, authority.serving(HOST)) as world:
        assert world.good is not None
        proxy = a_proxy(told, world.good.port)
        settings = replace(SETTINGS, egress_proxy=f"127.0.0.1:{proxy.port}")
        fetch = fetch_submissions.guarded(settings, resolve=world.resolve, tls=authority.trusting())
        send_in(store, user_id)
        assert Errands(store, settings, lambda: fetch, lambda: build.NOW).run_one()
        proxy.close()
        assert world.trap.count == 0
    assert told[0].startswith(f"CONNECT {GOOD}:443".encode())
    data = shown(store, 1)
    assert (data["status"], data["sourceDomain"], data["playerCount"]) == ("ready", HOST, 4)


def test_a_host_that_is_no_longer_allowed_is_not_asked(store: Store, user_id: int) -> None:
    send_in(store, user_id)
    closed = Settings(base_url=build.BASE_URL)
    fetch = fetch_submissions.guarded(closed)
    assert Errands(store, closed, lambda: fetch, lambda: build.NOW).run_one()
    assert "does not fetch from results.example.org" in shown(store, 1)["errors"][0]


def test_a_server_that_starts_takes_up_what_waits(store: Store, user_id: int) -> None:
    # Nothing new is allowed to be of this kind, so no network is needed to see it fail.
    old = {"submitter_id": user_id, "url": "http://results.example.org/night.json"}
    build.row(store, tables.rating_submission, **old)
    with TestClient(app.build(store, SETTINGS)):
        until(lambda: statuses(store) == ["invalid"])
    assert shown(store, 1)["errors"] == ["The address must begin with https://."]


@pytest.mark.parametrize("place", ["proxy", "http://proxy:3128", "user@proxy:3128", "proxy:port", ":3128"])
def test_a_proxy_is_a_host_and_a_port(place: str) -> None:
    with pytest.raises(SettingError, match="SILVERBALL_EGRESS_PROXY must be HOST:PORT"):
        load({"SILVERBALL_EGRESS_PROXY": place})
    assert load({"SILVERBALL_EGRESS_PROXY": "proxy:3128"}).egress_proxy == "proxy:3128"


def test_an_approved_event_is_scheduled_when_its_day_is_over(store: Store, user_id: int) -> None:
    for day in ("2026-03-03", "2026-03-04", "2026-03-05"):
        values = {"submitter_id": user_id, "status": "approved", "event_date": day}
        build.row(store, tables.rating_submission, **values)
    schedule_submissions.run(store, build.NOW)
    now = [(shown(store, one)["status"], shown(store, one)["ratingPeriod"]) for one in (1, 2, 3)]
    assert now == [("scheduled", "2026-03-03"), ("scheduled", "2026-03-04"), ("approved", None)]
    # It is safe to do twice: every node has a clock.
    schedule_submissions.run(store, build.NOW)
    assert [shown(store, one)["status"] for one in (1, 2, 3)] == ["scheduled", "scheduled", "approved"]
