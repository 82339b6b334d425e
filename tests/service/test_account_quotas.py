"""How much one account may have. Source: issue 13, item 9."""

from collections.abc import Callable
from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball import app
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.counts.measured_storage import AccountStorage
from silverball.store.database.engine import Store

Ask = Callable[..., tuple[int, Any]]


@pytest.fixture
def desk(store: Store) -> Desk:
    return a_desk(store, players=4)


@pytest.fixture
def ask(desk: Desk) -> Ask:
    """Send a request of the desk's owner to a site where an account can have little."""
    settings = Settings(
        base_url=build.BASE_URL, tournaments_per_account=2, players_per_account=6, webhooks_per_account=2
    )
    api = app.build_api(desk.store, settings, now=lambda: build.NOW)

    def ask(path: str, body: Any, *, method: str = "POST") -> tuple[int, Any]:
        status, answer, _ = build.send(api, method, path, body, by=desk.callers["owner"])
        return status, answer

    return ask


def refusal(answer: Any) -> tuple[str, str]:
    return answer["code"], answer["message"].partition(",")[0]


def test_tournaments(desk: Desk, ask: Ask) -> None:
    new = {"name": "Night", "type": "matchplay"}
    assert ask("/api/tournaments", new)[0] == 201
    status, answer = ask("/api/tournaments", new)
    assert (status, *refusal(answer)) == (
        409,
        "account-quota-reached",
        "An account can have 2 tournaments on this site",
    )
    status, answer = ask(f"{desk.path}/playoffs", {"type": "knockout", "players": 2})
    assert (status, answer["code"]) == (409, "account-quota-reached")


def test_players_of_the_book_and_those_entered_by_name(desk: Desk, ask: Ask) -> None:
    assert ask("/api/players", {"name": "Player 5"})[0] == 201
    two = {"players": [{"name": "Player 6"}, {"name": "Player 7"}]}
    status, answer = ask(f"{desk.path}/players", two)
    assert (status, answer["code"]) == (409, "account-quota-reached"), answer
    assert "this one would have 7" in answer["message"]
    assert ask(f"{desk.path}/players", {"name": "Player 6"})[0] in (200, 201)
    status, answer = ask("/api/players", {"name": "Player 7"})
    assert (status, answer["code"]) == (409, "account-quota-reached")
    # Who is in the book already can be entered.
    assert ask(f"{desk.path}/players", {"playerId": 5})[0] in (200, 201)


def test_webhooks_of_all_tournaments(desk: Desk, ask: Ask) -> None:
    hook = {"url": "https://hooks.example.org/in"}
    _, answer = ask("/api/tournaments", {"name": "Night", "type": "matchplay"})
    second = f"/api/tournaments/{answer['data']['tournamentId']}"
    assert [ask(f"{path}/webhooks", hook)[0] for path in (desk.path, second)] == [201, 201]
    status, answer = ask(f"{second}/webhooks", hook)
    assert (status, answer["code"]) == (409, "account-quota-reached")


def test_zero_is_no_limit(store: Store) -> None:
    settings = Settings(tournaments_per_account=0, players_per_account=0, webhooks_per_account=0)
    api = app.build_api(store, settings)
    owner = build.caller(build.a_user(store, role="organizer"), role="organizer", ability="manage")
    assert build.send(api, "POST", "/api/players", {"name": "Bo"}, by=owner)[0] == 201


@pytest.mark.both_databases
def test_an_organizer_with_too_long_a_history_is_refused_and_others_are_not(store: Store) -> None:
    full, other = a_desk(store), a_desk(store)
    storage = AccountStorage(store, journal_megabytes=1, replies_megabytes=0)
    storage.measure()
    full.ok("PATCH", "", {"description": "Before"})
    fill_journal(store, full.night.tournament_id)
    storage.measure()
    for path, body in (("", {"description": "After"}), ("/players", {"name": "Somebody"})):
        method = "POST" if path else "PATCH"
        assert full.expect_refusal(409, method, path, body)["code"] == "journal-full"
    full.expect_refusal(409, "POST", "/rounds", {})
    other.ok("PATCH", "", {"description": "After"})
    # Nothing was added since, and what was counted is not counted again.
    storage.measure()
    assert store.full_accounts.journal == {full.night.organizer_id}


@pytest.mark.both_databases
def test_too_many_stored_replies_are_refused_but_not_requests_without_a_key(store: Store) -> None:
    desk = a_desk(store)
    body = "x" * 600_000
    for key in ("a", "b"):
        values = {"user_id": desk.night.organizer_id, "key": key, "fingerprint": "", "status": 200}
        build.row(store, tables.idempotency, **values, body=body, headers=[], at=build.NOW)
        AccountStorage(store, journal_megabytes=0, replies_megabytes=1).measure()
        status, answer = desk.do("PATCH", "", {"description": key}, key=f"new-{key}")
        assert status == (200 if key == "a" else 409), answer
    assert answer["code"] == "too-many-stored-replies"
    desk.ok("PATCH", "", {"description": "without a key"})


def fill_journal(store: Store, tournament_id: int) -> None:
    values = {"tournament_id": tournament_id, "action_id": 0, "change": "GameCompleted", "source": ""}
    build.row(store, tables.journal, **values, data={"text": "x" * 1_000_000}, at=build.NOW)
