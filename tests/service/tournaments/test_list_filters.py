"""Filters and order of the tournament list and of games. Source: interface.md 1; 2, rows 6, 8, 20 and 23."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy import event

import build
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.tournaments.reads import listing
from silverball.service.tournaments.reads.listing import TournamentQuery, parse_date_interval
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.fixture
def organizer(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def add(store: Store, organizer: int, start: str = "2026-03-05T19:30", **values: Any) -> int:
    moment = datetime.fromisoformat(start).replace(tzinfo=UTC)
    return build.row(store, tables.tournament, organizer_id=organizer, start_utc=moment, **values)


def list_ids(store: Store, query: str, by: AuthenticatedCaller | int) -> list[int]:
    status, body = build.ask(store, f"/api/tournaments?{query}", by=by)
    assert status == 200, body
    return [tournament["tournamentId"] for tournament in body["data"]]


def enter(store: Store, organizer: int, user_id: int, tournament_id: int) -> None:
    player_id = build.a_player(store, organizer, claimed_by=user_id)
    build.row(store, tables.entrant, tournament_id=tournament_id, player_id=player_id)


# Observed on the live service on 2026-08-16, and words that clients in public send to it.
UNKNOWN_STATUSES = (
    "active",
    "upcoming",
    "registration",
    "queued",
    "Completed",
    "COMPLETED",
    "cancelled",
    "ü",
)


@pytest.mark.parametrize("status", UNKNOWN_STATUSES)
def test_an_unknown_status_filters_nothing(store: Store, organizer: int, status: str) -> None:
    made = [add(store, organizer, status=known) for known in ("planned", "started", "completed")]
    assert list_ids(store, f"status={status}", organizer) == made[::-1]


def test_a_client_that_asks_each_status_it_knows_finds_every_tournament(store: Store, organizer: int) -> None:
    made = {add(store, organizer, status=known) for known in ("planned", "started", "completed")}
    found: set[int] = set()
    for status in ("upcoming", "planned", "active", "completed"):
        found |= set(list_ids(store, f"status={status}", organizer))
    assert found == made


@pytest.mark.parametrize(("type_", "count"), [("chess", 0), ("Golf", 0), ("golf", 1), ("tournaments", 2)])
def test_an_unknown_type_has_no_tournaments(store: Store, organizer: int, type_: str, count: int) -> None:
    add(store, organizer, type="golf")
    add(store, organizer, type="knockout")
    status, body = build.ask(store, f"/api/tournaments?type={type_}", by=organizer)
    assert (status, len(body["data"]), body["meta"]["total"]) == (200, count, count)


# (limit, rows on the page, per_page): the number of an answer without a limit where it was ignored.
@pytest.mark.parametrize(
    ("limit", "rows", "shown"),
    [("1", 1, "1"), ("30", 27, "30"), ("100", 27, "100"), ("101", 25, 25), ("0", 25, 25), ("-5", 25, 25)],
)
def test_a_limit_outside_its_bounds_falls_back(
    store: Store, organizer: int, limit: str, rows: int, shown: int | str
) -> None:
    for _ in range(27):
        add(store, organizer)
    _, body = build.ask(store, f"/api/tournaments?limit={limit}", by=organizer)
    assert (len(body["data"]), body["meta"]["per_page"]) == (rows, shown)


def test_the_deep_limit_counts_with_the_limit_that_was_fallen_back_to(store: Store, organizer: int) -> None:
    for query, status in (
        ("limit=500&page=400", 200),
        ("limit=500&page=401", 403),
        ("limit=0&page=401", 403),
    ):
        assert build.ask(store, f"/api/tournaments?{query}", by=organizer)[0] == status


INTERVALS: tuple[tuple[str, list[str]], ...] = (
    ("2026-03-05;2026-03-05", ["first minute", "last second"]),
    ("2026-03-04;2026-03-05", ["day before", "first minute", "last second"]),
    ("2026-03-05;2026-03-06", ["first minute", "last second", "day after"]),
    ("2026-03-06;2026-03-05", []),
    ("2030-01-01;9998-12-31", []),
)


@pytest.mark.parametrize(("interval", "expected"), INTERVALS)
def test_a_date_interval_includes_both_days(
    store: Store, organizer: int, interval: str, expected: list[str]
) -> None:
    starts = {
        "day before": "2026-03-04T23:59:59.999999",
        "first minute": "2026-03-05T00:00",
        "last second": "2026-03-05T23:59:59.999999",
        "day after": "2026-03-06T00:00",
    }
    ids = {name: add(store, organizer, start) for name, start in starts.items()}
    found = list_ids(store, f"dateInterval={interval}", organizer)
    assert found == [ids[name] for name in reversed(expected)]


MALFORMED_INTERVALS = (
    "2026-03-05",
    "2026-03-05;",
    ";",
    "2026-02-30;2026-03-05",
    "05.03.2026;06.03.2026",
    "2026-03-05T00:00:00Z;2026-03-06T00:00:00Z",
    "2026-03-05;2026-03-06;2026-03-07",
    "0001-01-01;9999-12-31",
    "٢٠٢٦-03-05;2026-03-06",
)


@pytest.mark.parametrize("interval", MALFORMED_INTERVALS)
def test_a_malformed_date_interval_filters_nothing(store: Store, organizer: int, interval: str) -> None:
    tournament_id = add(store, organizer)
    assert parse_date_interval(interval) is None
    assert list_ids(store, f"dateInterval={interval}", organizer) == [tournament_id]


@pytest.mark.both_databases
def test_played_or_organized_is_the_union_of_both(store: Store, organizer: int) -> None:
    user_id = build.a_user(store, role="organizer")
    own = add(store, user_id, "2026-03-01T12:00")
    add(store, organizer)
    played = add(store, organizer, "2026-02-01T12:00")
    both = add(store, user_id, "2026-01-01T12:00")
    for tournament_id in (played, both):
        enter(store, organizer, user_id, tournament_id)
    assert list_ids(store, f"playedOrOrganized={user_id}", organizer) == [own, played, both]
    assert list_ids(store, f"playedOrOrganized={user_id}&owner={organizer}", organizer) == [played]
    assert list_ids(store, f"playedOrOrganized={user_id}&played={user_id}", organizer) == [played, both]
    assert list_ids(store, "playedOrOrganized=99999999", organizer) == []


@pytest.mark.both_databases
@pytest.mark.parametrize("parameter", ["played", "playedOrOrganized"])
def test_opt_outs_hold_for_what_a_user_played_and_organized(
    store: Store, organizer: int, parameter: str
) -> None:
    hidden = build.a_user(store, history_opt_out=True)
    shy = build.a_user(store, history_only_completed=True)
    running, over = add(store, organizer, status="started"), add(store, organizer, status="completed")
    for user_id in (hidden, shy):
        for tournament_id in (running, over):
            enter(store, organizer, user_id, tournament_id)
    status, body = build.ask(store, f"/api/tournaments?{parameter}={hidden}", by=organizer)
    assert status == 403
    assert "opted out" in body["message"]
    assert build.ask(store, f"/api/tournaments?{parameter}={hidden}&type=chess", by=organizer)[0] == 403
    assert list_ids(store, f"{parameter}={shy}", organizer) == [over]
    assert list_ids(store, f"{parameter}={shy}&status=started", organizer) == []
    assert list_ids(store, f"{parameter}={shy}", build.caller(shy, is_hidden=True)) == [over, running]
    assert list_ids(store, f"{parameter}={hidden}", build.caller(hidden, is_hidden=True)) == [over, running]
    admin = build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")
    assert list_ids(store, f"{parameter}={hidden}", admin) == [over, running]


def test_an_imported_history_shows_its_newest_nights_first(store: Store, organizer: int) -> None:
    newest = add(store, organizer, "2026-03-05T19:30")
    oldest = add(store, organizer, "2011-01-01T12:00")
    planned = add(store, organizer, "2031-01-01T12:00", status="planned")
    same_start = add(store, organizer, "2026-03-05T19:30")
    assert list_ids(store, "", organizer) == [planned, same_start, newest, oldest]
    _, body = build.ask(store, "/api/search?type=tournaments&query=strikes", by=organizer)
    assert [item["tournamentId"] for item in body["data"]] == [planned, same_start, newest, oldest]


def a_history(store: Store, organizer: int, count: int, dice: Random) -> int:
    """Tournaments with a few starts, types and statuses in no order; returns a user who played some."""
    user_id = build.a_user(store)
    series_id = build.row(store, tables.series, organizer_id=organizer)
    for _ in range(count):
        start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=dice.randrange(6))
        tournament_id = build.row(
            store,
            tables.tournament,
            organizer_id=dice.choice([organizer, user_id]),
            start_utc=start,
            status=dice.choice(["planned", "completed"]),
            type=dice.choice(["golf", "knockout"]),
            series_id=dice.choice([series_id, None]),
        )
        if dice.random() < 0.5:
            enter(store, organizer, user_id, tournament_id)
    return user_id


@pytest.mark.both_databases
def test_any_pages_of_any_filters_add_up_to_the_list(store: Store, organizer: int) -> None:
    user_id = a_history(store, organizer, 40, Random(23))
    _, whole = build.ask(store, "/api/tournaments?limit=100", by=organizer)
    _, played = build.ask(store, f"/api/tournaments?limit=100&played={user_id}", by=organizer)
    played_ids = {item["tournamentId"] for item in played["data"]}
    order = [(item["startUtc"], item["tournamentId"]) for item in whole["data"]]
    assert order == sorted(order, reverse=True)
    keeps: dict[str, Any] = {
        f"owner={user_id}": lambda item: item["organizerId"] == user_id,
        "status=planned": lambda item: item["status"] == "planned",
        "type=golf": lambda item: item["type"] == "golf",
        f"played={user_id}": lambda item: item["tournamentId"] in played_ids,
        "dateInterval=2026-01-02;2026-01-04": lambda item: "2026-01-02" <= item["startUtc"] < "2026-01-05",
    }
    dice = Random(6)
    for _ in range(20):
        chosen = dice.sample(sorted(keeps), dice.randrange(len(keeps)))
        wanted = [item["tournamentId"] for item in whole["data"] if all(keeps[name](item) for name in chosen)]
        limit = dice.randrange(1, 9)
        pages = range(1, -(-len(wanted) // limit) + 2)
        query = "&".join([*chosen, f"limit={limit}"])
        found = [id_ for page in pages for id_ in list_ids(store, f"{query}&page={page}", organizer)]
        assert found == wanted, query


@pytest.mark.parametrize("path", ["/api/tournaments/{}/games", "/api/games?tournaments={}"])
def test_an_unknown_status_of_games_filters_nothing(store: Store, organizer: int, path: str) -> None:
    night = build.a_tournament(store, organizer_id=organizer)
    build.a_game(store, night.tournament_id, night.player_ids[:2], status="completed")
    build.a_game(store, night.tournament_id, night.player_ids[2:], status="started")
    path = path.format(night.tournament_id)
    joint = "&" if "?" in path else "?"
    for status, count in (("active", 2), ("Started", 2), ("planned", 2), ("started", 1), ("completed", 1)):
        _, body = build.ask(store, f"{path}{joint}status={status}", by=organizer)
        assert len(body["data"]) == count, status


FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"owner": 1},
    {"status": "completed"},
    {"type": "golf"},
    {"series": 1},
    {"date_interval": "2026-01-01;2026-02-01"},
    {"owner": 1, "status": "completed", "type": "golf", "series": 1},
    {"status": "completed", "type": "golf", "date_interval": "2026-01-01;2026-02-01"},
)


@pytest.fixture
def statements(store: Store) -> Iterator[list[tuple[str, Any]]]:
    """The statements that SQLite runs, with their parameters."""
    if not store.is_sqlite:
        pytest.skip("PostgreSQL chooses by the numbers that it has counted")
    seen: list[tuple[str, Any]] = []

    def note(_db: Any, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        seen.append((statement, parameters))

    event.listen(store.engine, "before_cursor_execute", note)
    yield seen
    event.remove(store.engine, "before_cursor_execute", note)


@pytest.mark.both_databases
@pytest.mark.parametrize("filters", FILTERS)
def test_a_page_finds_its_ids_in_one_index_without_sorting(
    store: Store, statements: list[tuple[str, Any]], filters: dict[str, Any]
) -> None:
    # A tournament for page 2 to be looked for.
    organizer = build.a_user(store, role="organizer")
    series_id = build.row(store, tables.series, organizer_id=organizer)
    assert (organizer, series_id) == (1, 1)
    values = {"type": "golf", "status": "completed", "series_id": series_id}
    for day in range(1, 4):
        add(store, organizer, f"2026-01-0{day}T12:00", **values)
    statements.clear()
    with store.read() as db:
        listing.tournaments_page(db, TournamentQuery(page=2, limit=1, **filters), None)
    paged = [(text, given) for text, given in statements if "OFFSET" in text]
    assert len(paged) == 1
    with store.engine.connect() as db:
        plan = [str(row[3]) for row in db.exec_driver_sql(f"EXPLAIN QUERY PLAN {paged[0][0]}", paged[0][1])]
    assert len(plan) == 1, plan
    assert "USING COVERING INDEX ix_tournament_list" in plan[0]
