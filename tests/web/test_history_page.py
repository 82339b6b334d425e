"""The page "Bring your history": what it asks for, what it refuses, and what it never shows."""

from pathlib import Path

import pytest

import build
from exchange import bundles, pull_world
from jobs.pull_desk import PullDesk
from silverball.service.moving import writes as moving_writes
from silverball.service.moving.reads import ListedItem
from silverball.store.database.engine import Store
from silverball.store.people import encryption
from web.visitor import Visitor, an_account

TOKEN = "17|slv_of-the-other-service"  # of nobody
GOOD = {"address": "https://results.example.org/", "password": TOKEN}
PATH = "/account/history"


@pytest.fixture
def visitor(store: Store) -> Visitor:
    encryption.open_keys(store)
    an_account(store, name="Olga Here", role="organizer")
    visitor = Visitor(store)
    visitor.sign_in_anew()
    return visitor


def sent(visitor: Visitor, action: str = "start", **fields: str) -> tuple[int, str]:
    """Send a form of the page; the status, and the page that follows."""
    answer = visitor.post(f"{PATH}/{action}", data={"csrf": visitor.csrf(PATH), **fields})
    if answer.status_code == 303:
        return 303, visitor.get(answer.headers["location"]).text
    return answer.status_code, answer.text


def test_a_pull_is_started_stopped_continued_and_given_up(visitor: Visitor) -> None:
    status, page = sent(visitor, **GOOD)
    assert (status, "It has begun." in page, "At work" in page) == (303, True, True)
    assert 'http-equiv="refresh"' in page
    assert TOKEN not in page
    assert sent(visitor, **GOOD)[0] == 409
    status, page = sent(visitor, "stop")
    assert (status, "Stopped. What was taken stays." in page, "Go on" in page) == (303, True, True)
    assert 'http-equiv="refresh"' not in page
    assert "At work" in sent(visitor, "continue")[1]
    status, page = sent(visitor, "give-up")
    assert (status, "the token is deleted" in page, "You gave it up." in page) == (303, True, True)
    assert sent(visitor, "stop")[0] == 409
    # The address is there again, the token is not.
    assert 'value="https://results.example.org"' in page
    assert TOKEN not in page


def test_everything_can_be_read_again(visitor: Visitor) -> None:
    assert "<dt>Read again</dt>" not in sent(visitor, **GOOD)[1]
    sent(visitor, "give-up")
    page = sent(visitor, **GOOD, full="yes")[1]
    assert "<dt>Read again</dt><dd>everything</dd>" in page
    sent(visitor, "give-up")
    # A faulty field does not undo the choice.
    page = sent(visitor, **{**GOOD, "address": ""}, full="yes")[1]
    assert 'name="full" value="yes" checked' in page


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"address": "http://results.example.org"}, "must begin with https://"),
        ({"address": "https://127.0.0.1"}, "The host must"),
        ({"address": "https://10.0.0.7"}, "The host must"),
        ({"address": "https://results.example.org:8443"}, "The port must be 443"),
        ({"address": "https://olga@results.example.org"}, "must not have a user name"),
        ({"address": ""}, "Write the address of the service."),
        ({"password": ""}, "Give a token, or say whose tournaments you want."),
        ({"password": "x" * 501}, "This is not a token"),
        ({"password": "a\nb"}, "This is not a token"),
        ({"owners": "Olga"}, "Write at most 50 numbers"),
        ({"series": "1 -2"}, "Write at most 50 numbers"),
        ({"tournaments": "9" * 30}, "Write at most 50 numbers"),
        ({"since": "yesterday"}, "Write the day as 2024-01-31."),
        ({"since": "2024-02-30"}, "Write the day as 2024-01-31."),
    ],
)
def test_a_faulty_field_is_named_and_nothing_is_started(
    visitor: Visitor, fields: dict[str, str], sentence: str
) -> None:
    status, page = sent(visitor, **{**GOOD, **fields})
    assert (status, sentence in page) == (422, True)
    assert TOKEN not in page
    assert "At work" not in visitor.get(PATH).text


def test_the_report_is_that_of_the_command_line(visitor: Visitor, tmp_path: Path, empty_sqlite: Path) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file, bundles.INVENTED[0]) as site:
        desk = PullDesk(visitor.store, site, 1)
        desk.start()
        desk.work()
    page = visitor.get(PATH).text
    assert "1 taken." in page
    assert "Not published there: purchases." in page
    assert "The token is deleted." in page
    report = visitor.get(f"{PATH}/report")
    assert report.headers["cache-control"] == "no-store"
    assert (report.json()["isWhole"], report.json()["tournaments"][0]["outcome"]) == (True, "new")


def test_progress_says_how_long_it_takes_and_who_else_asks(
    visitor: Visitor, tmp_path: Path, empty_sqlite: Path
) -> None:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    with pull_world.site(file) as site:
        PullDesk(visitor.store, site, 1).start()
    with visitor.store.write() as transaction:
        pull = moving_writes.claim_next_pull(transaction.connection, build.NOW)
        assert pull is not None
        items = [ListedItem(key, f"Night {key}", None) for key in range(1, 201)]
        moving_writes.store_list(transaction.connection, pull, items, None)
        for key in range(1, 21):
            report = {"remote_id": key, "name": f"Night {key}", "outcome": "unchanged"}
            moving_writes.store_report(transaction.connection, pull, key, report)
        counts = {"requests": 90, "seconds": 180, "foreign_requests": 12}
        assert moving_writes.renew_claim(transaction.connection, pull, build.NOW, **counts)
    page = visitor.get(PATH).text
    assert "20 of 200" in page
    # Twenty took three minutes: nine times that is left.
    assert "about 27 minutes" in page
    assert "90, and 12 of others on the same token" in page


def test_players_have_nothing_to_bring_along(store: Store) -> None:
    an_account(store, role="player")
    visitor = Visitor(store)
    visitor.sign_in_anew()
    assert visitor.get(PATH).status_code == 404
    assert PATH not in visitor.get("/account").text
