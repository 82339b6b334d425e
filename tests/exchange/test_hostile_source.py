"""A source that means harm, or is something else: a sentence each, nothing stored, bounded memory."""

import json
import threading
import tracemalloc
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

import build
from exchange import pull_world
from exchange.pull_world import StoppedClock, scripted
from silverball.cli.main import silverball_group
from silverball.exchange.pull import source as sources
from silverball.exchange.pull.reading import Wanted
from silverball.exchange.pull.source import Answer, ConnectionLost, PullSource, RequestPace, SourceFault
from silverball.exchange.pull.taking import Pull, PullOptions
from silverball.store import tables
from silverball.store.database.engine import Store
from trials.figures import count_attempts

JSON = {"content-type": "application/json"}
HTML = {"content-type": "text/html"}
ITEM = {"tournamentId": 5, "name": "Night", "startUtc": "2026-03-05T19:30:00.000000Z"}


@pytest.fixture
def local(tmp_path: Path, empty_sqlite: Path) -> Iterator[Store]:
    """The database that is pulled into, with a night of its own."""
    opened = pull_world.new_store(empty_sqlite, tmp_path / "local.db")
    build.a_tournament(opened)
    yield opened
    opened.close()


def counts(store: Store) -> dict[str, int]:
    with store.read() as db:
        return {
            table.name: len(db.execute(table.select()).all())
            for table in tables.metadata.sorted_tables
            if table is not tables.world
        }


def page(*items: Any, following: str | None = None) -> Answer:
    return Answer(200, JSON, json.dumps({"data": items, "links": {"next": following}}).encode())


def pull_all(store: Store, *answers: Answer | Exception) -> tuple[list[Any], StoppedClock]:
    clock = StoppedClock()
    source = PullSource("bad.example", scripted(*answers), RequestPace(now=clock.now, sleep=clock.sleep))
    run = Pull(store, source, PullOptions(Wanted(owners=[1]), {}), lambda: build.NOW, Random(7))
    return list(run.reports(run.tournaments())), clock


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ([Answer(200, HTML, b"<html>Sign in</html>")], "with a page, not with JSON"),
        ([Answer(401, JSON, b"{}")], "does not accept the token"),
        ([Answer(302, {"location": "http://169.254.169.254/"}, b"")], "on to another address"),
        (
            [Answer(500, HTML, b"<html>")],
            "did not answer /api/tournaments?owner=1&limit=100&page=1 in 5 tries",
        ),
        ([ConnectionLost("The host cannot be found or does not answer.")], "The host cannot be found"),
        ([Answer(429, {"retry-after": "99999999999"}, b"")], "wants to be left alone for 999999999 seconds"),
        ([Answer(200, JSON, b'{"data": [')], "broken JSON"),
        ([Answer(200, JSON, b"")], "broken JSON"),
        ([Answer(200, JSON, b"[" * 100_000)], "nested deeper than 20"),
        ([Answer(200, JSON, b'{"a":' * 21 + b"1" + b"}" * 21)], "nested deeper than 20"),
        ([Answer(200, JSON, b"[]," * 2_700_000)], "with more than 500000 values"),
        ([Answer(200, JSON, b'{"data":[' + b"[[]]," * 150_000 + b"[]]}")], "with more than 200000 objects"),
        # Brackets in a text mean nothing, whatever is escaped in it.
        ([Answer(200, JSON, json.dumps({"data": '\\"' + "[" * 100}).encode())], "something else than a list"),
        ([Answer(200, JSON, b"17")], "in an unknown form"),
        ([Answer(200, JSON, b'{"data": 17}')], "something else than a list"),
        ([page({"tournamentId": "5"})], "items that have no tournamentId"),
        ([page({**ITEM, "tournamentId": 2**63})], "is not a 64-bit number"),
        ([page({**ITEM, "tournamentId": 10**40})], "cannot be stored"),
        ([page({**ITEM, "tournamentId": -1})], "cannot be an id"),
        ([page({**ITEM, "name": "x" * 1_000_000})], "with a text of 1000000 characters"),
        ([page({**ITEM, "name": "\0"})], "zero byte"),
        ([page(ITEM, following="/api/tournaments?page=1")], "the same items on several pages"),
        ([page(ITEM), Answer(200, JSON, b'{"data": {"tournamentId": 6}}')], "with something else"),
        ([page(ITEM), Answer(200, HTML, b"<html>")], "with a page, not with JSON"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_is_a_sentence_and_nothing_is_stored(
    local: Store, answers: list[Answer | Exception], sentence: str
) -> None:
    before = counts(local)
    with pytest.raises(SourceFault) as fault:
        pull_all(local, *answers)
    assert sentence in str(fault.value)
    assert "\n" not in str(fault.value)
    assert counts(local) == before
    count_attempts("answers of a hostile source", 1)


def test_a_tournament_that_does_not_fit_is_refused_alone(local: Store) -> None:
    before = counts(local)
    broken = Answer(200, JSON, json.dumps({"data": {**ITEM, "type": "chess"}}).encode())
    nothing = Answer(200, JSON, b'{"data": []}')
    (report,), _ = pull_all(local, page(ITEM), broken, nothing)
    assert (report.outcome, report.tournament_id) == ("refused", None)
    assert report.reason.startswith("$.tournament")
    (missing,), _ = pull_all(local, page(ITEM), Answer(404, JSON, b"{}"))
    assert "or does not show it to this token" in missing.reason
    assert counts(local) == before


def test_pages_without_end_end() -> None:
    numbers = iter(range(1, 10_000))
    clock = StoppedClock()

    def endless(_target: str) -> Answer:
        return page({**ITEM, "tournamentId": next(numbers)}, following="/more")

    source = PullSource("bad.example", endless, RequestPace(now=clock.now, sleep=clock.sleep))
    with pytest.raises(SourceFault, match="more than 1000 pages"):
        list(source.read_pages("/api/tournaments?owner=1", "tournamentId"))


def test_many_answers_of_one_tournament_are_bounded() -> None:
    source = PullSource("bad.example", scripted(Answer(200, JSON, b'{"data": []}' + b" " * 7_000_000)))
    source.pace.sleep = lambda _seconds: None
    source.begin_tournament()
    with pytest.raises(SourceFault, match="more than a tournament can be"):
        for _ in range(20):
            source.read_list("/api/x")


class Hostile(BaseHTTPRequestHandler):
    """Answers by the first part of the path, and remembers the requests."""

    asked: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("authorization")))
        kind = self.path.split("/")[1]
        if kind == "redirect":
            self.send_response(302)
            self.send_header("location", "/elsewhere")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("content-type", "application/json")
        if kind == "half":
            self.send_header("content-length", "100")
        self.end_headers()
        try:
            self.wfile.write(b'{"data": "')
            while kind == "endless":
                self.wfile.write(b"x" * 65_536)
        except OSError:
            pass

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def hostile() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """The address of a hostile server on this machine, and what it was asked."""
    asked: list[tuple[str, str | None]] = []
    handler = type("Handler", (Hostile,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_endless_body_takes_no_memory(hostile: tuple[str, list[Any]]) -> None:
    _, ask = sources.asker(f"{hostile[0]}/endless", "t")
    tracemalloc.start()
    with pytest.raises(SourceFault, match="more than 8388608 bytes in one answer"):
        ask("/api/x")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * sources.ANSWER_BYTES_MAX


def test_half_a_body_is_a_lost_connection(hostile: tuple[str, list[Any]]) -> None:
    _, ask = sources.asker(f"{hostile[0]}/half", "t")
    with pytest.raises(ConnectionLost, match="closed the connection"):
        ask("/api/x")


def test_a_redirect_is_not_followed_and_gets_no_token(
    hostile: tuple[str, list[tuple[str, str | None]]], local: Store
) -> None:
    url, asked = hostile
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": local.url.render_as_string(hide_password=False)})
    done = run.invoke(silverball_group, ["pull", f"{url}/redirect", "--token", "secret", "--owner", "1"])
    assert done.exit_code == 1
    assert "on to another address. Give that address, if you trust it." in done.stderr
    assert "secret" not in done.output
    assert asked == [("/redirect/api/tournaments?owner=1&limit=100&page=1", "Bearer secret")]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("ftp://results.example.org", "must begin with https:// or http://"),
        ("http://user:pass@results.example.org", "must not have a user name"),
        ("http://0x7f.1", "must be a name, not a number"),
        ("not an address", "not allowed"),
    ],
)
def test_an_address_that_is_none_is_a_sentence(local: Store, url: str, sentence: str) -> None:
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": local.url.render_as_string(hide_password=False)})
    done = run.invoke(silverball_group, ["pull", url])
    assert (done.exit_code, sentence in done.stderr) == (1, True)
