"""A big database, the same each time: `build(url, scale)` writes it in bulk, past the one door.

At scale 1: 10,000 tournaments of 200 organizers in 100 series, 1 million games, 20,000 players, and a regular
who played 2,000 of them. Every tenth tournament is the first organizer's. All is invented; a tournament's
games follow from its number, so any two builds are equal.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import msgspec
from sqlalchemy import Connection, Table

import big_load
from big_rows import Rows, TournamentRows
from silverball.rules.registry import FORMATS
from silverball.service.users import writes as users_writes
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball_wire.machines import OpdbEntry

ORGANIZERS, SERIES, MACHINES, ARENAS_OF_BOOK, PLAYERS_OF_BOOK = 200, 100, 500, 20, 100
BOOKS_MIN = 4
REGULAR_ID = ORGANIZERS + 1
ADMIN_ID = ORGANIZERS + 2
FIRST_PERSON_ID = ORGANIZERS + 3
TYPES = ("matchplay", "knockout", "group_matchplay", "matchplay")
REVISIONS_OF_PERSON, PERIODS = 20, 1_500
BEGIN = datetime(2020, 1, 1, 19, 0, tzinfo=UTC)
NOW = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)
FIRST_NAMES = ("Ada", "Björn", "Chloé", "Dmitri", "Elif", "Farah", "Günther", "Hana", "Ines", "Jörg")
LAST_NAMES = ("Kicker", "Lane", "Magnus", "Núñez", "Orbit", "Plunger", "Quist", "Ramp", "Slingshot", "Tilt")
# Bulk rows of these tables are written without their indexes, which are made afterwards.
INDEXED_AFTERWARDS = (tables.game, tables.game_player, tables.match_summary, tables.player_arena_summary)


@dataclass(frozen=True)
class BigWorld:
    """The things that a measurement asks for."""

    tournaments: int
    people: int
    # Tokens of the busiest organizer, the regular and an administrator.
    organizer_token: str
    regular_token: str
    admin_token: str


def build(url: str, scale: float = 1.0) -> BigWorld:
    """Write everything and gather the planner's statistics; `scale` multiplies the tournaments and people."""
    store = Store(url)
    migrate.migrate(store)
    tournaments = int(10_000 * scale)
    books = max(int(ORGANIZERS * scale), BOOKS_MIN)
    with store.migration() as db:
        load = big_load.loader(db)
        indexes = [index for table in INDEXED_AFTERWARDS for index in table.indexes]
        for index in indexes:
            index.drop(db)
        checks = [] if store.is_sqlite else big_load.drop_foreign_keys(db)
        big_load.load_all(load, _people_and_books(books))
        big_load.load_all(load, _ratings(_people(books)))
        for first in range(1, tournaments + 1, 500):
            numbers = range(first, min(first + 500, tournaments + 1))
            big_load.load_all(load, _tournaments(numbers, books))
        big_load.load_all(load, _around_tournaments(tournaments, books))
        for index in indexes:
            index.create(db)
        if not store.is_sqlite:
            for check in checks:
                db.exec_driver_sql(check)
            big_load.advance_sequences(db)
    world = _add_tokens(store, tournaments, _people(books))
    big_load.gather_statistics(store)
    store.close()
    return world


def _people(books: int) -> int:
    return books * PLAYERS_OF_BOOK


def _add_tokens(store: Store, tournaments: int, people: int) -> BigWorld:
    dice = Random(16)
    with store.write() as transaction:
        texts = [
            users_writes.create_token(
                transaction.connection, user_id, "bench", abilities=[ability], now=NOW, dice=dice
            ).text
            for user_id, ability in ((1, "manage"), (REGULAR_ID, "read"), (ADMIN_ID, "admin"))
        ]
    return BigWorld(tournaments, people, *texts)


def person_name(number: int) -> str:
    """A name that a hundred people share the parts of, and nobody the whole."""
    return f"{FIRST_NAMES[number % 10]} {LAST_NAMES[number // 10 % 10]} {number}"


def moment(days: float) -> str:
    """A time so many days after the first, as both databases read it."""
    return (BEGIN + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _people_and_books(books: int) -> Iterator[Rows]:
    people = _people(books)
    users = [_user(number, "organizer", f"Organizer {person_name(number)}") for number in range(1, 201)]
    users += [_user(REGULAR_ID, "player", "Rex Regular"), _user(ADMIN_ID, "admin", "Alex Admin")]
    users += [_user(FIRST_PERSON_ID + n, "player", person_name(n)) for n in range(people)]
    yield Rows.of(tables.user, users)
    players, arenas, banks, members, locations = [], [], [], [], []
    for book in range(books):
        for n in range(PLAYERS_OF_BOOK):
            number = book * PLAYERS_OF_BOOK + n
            claimed_by = REGULAR_ID if n == 0 else FIRST_PERSON_ID + number
            name = "Rex Regular" if n == 0 else person_name(number)
            players.append((number + 1, book + 1, name, number + 1, claimed_by, "active", "[]"))
        for n in range(ARENAS_OF_BOOK):
            number = book * ARENAS_OF_BOOK + n
            arenas.append((number + 1, book + 1, f"Machine {n}", "active", machine_id(number), "[]"))
        banks.append((book + 1, book + 1, "The first eight", "active"))
        members += [(book + 1, n, book * ARENAS_OF_BOOK + n + 1) for n in range(8)]
        locations.append((book + 1, book + 1, f"Hall {book}", "active"))
    yield Rows(
        "player",
        ("player_id", "organizer_id", "name", "ifpa_id", "claimed_by", "status", "labels"),
        players,
    )
    yield Rows("arena", ("arena_id", "organizer_id", "name", "status", "opdb_id", "labels"), arenas)
    yield Rows("bank", ("bank_id", "organizer_id", "name", "status"), banks)
    yield Rows("bank_arena", ("bank_id", "place", "arena_id"), members)
    yield Rows("location", ("location_id", "organizer_id", "name", "status"), locations)
    yield Rows.of(tables.series, [_series(number) for number in range(1, SERIES + 1)])
    yield Rows.of(tables.machine, [_machine(number) for number in range(MACHINES)])
    yield Rows.of(tables.federation_player, [_federation_player(number + 1) for number in range(people)])


def _user(user_id: int, role: str, name: str) -> dict[str, Any]:
    opt_outs = {f"{kind}_opt_out": False for kind in ("ratings", "stats", "video", "profile", "history")}
    # One in fifty hides something.
    if user_id % 50 == 49:
        opt_outs["stats_opt_out"] = opt_outs["profile_opt_out"] = True
    number = user_id - FIRST_PERSON_ID + 1
    return {
        "user_id": user_id,
        "name": name,
        "email": f"person{user_id}@silverball.invalid",
        "role": role,
        "ifpa_id": number if number > 0 else None,
        "placeholder": False,
        **opt_outs,
        "history_only_completed": False,
        "created_at": moment(0),
    }


def _series(number: int) -> dict[str, Any]:
    return {
        "series_id": number,
        "organizer_id": number,
        "name": f"League {number}",
        "status": "active",
        "test": False,
        "removed_results": 2,
        "playoffs_cutoffs": "[]",
        "scoring": ("points", "linear", "atp")[number % 3],
        "placeholder": False,
    }


def machine_id(number: int) -> str:
    return f"G{number % MACHINES:04d}-M{number % MACHINES:04d}"


def _machine(number: int) -> dict[str, Any]:
    return {
        "opdb_id": machine_id(number),
        "opdb_group": f"G{number:04d}",
        "entry_type": "machine",
        "name": f"Title {number}",
        "entry": msgspec.json.encode(_machine_entry(number)).decode(),
        "synthetic": False,
        "homebrew": False,
    }


def _machine_entry(number: int) -> dict[str, Any]:
    unknown = {(field.encode_name): None for field in msgspec.structs.fields(OpdbEntry) if field.required}
    named = {"opdbId": machine_id(number), "opdbGroup": f"G{number:04d}", "name": f"Title {number}"}
    fixed = {"nameSort": f"title {number}", "physicalMachine": True, "entryType": "machine"}
    return {**unknown, **named, **fixed, "features": [], "keywords": []}


def _federation_player(number: int) -> dict[str, Any]:
    return {
        "ifpa_id": number,
        "name": person_name(number),
        "name_plain": person_name(number).lower(),
        "rank": number,
        "updated_at": moment(0),
    }


def _ratings(people: int) -> Iterator[Rows]:
    """A rating and twenty revisions of each person; a thousand of the regular."""
    periods = [(BEGIN + timedelta(days=day)).strftime("%Y-%m-%d") for day in range(PERIODS)]
    yield Rows.of(tables.rating_period, [_period(day, day == periods[-1]) for day in periods])
    yield Rows.of(tables.rating, [_rating(number, periods, people) for number in range(people + 1)])
    revisions: list[tuple[Any, ...]] = []
    for number in range(people + 1):
        count = 1_000 if number == 0 else REVISIONS_OF_PERSON
        step = PERIODS // count
        for n in range(count):
            day = periods[(number + n * step) % PERIODS]
            revisions.append((number + 1, day, 1500.0 + number % 700 + n, 40.0, 1.5, 8, 4, 4, 8, "[]"))
    columns = ("rating_id", "period_date", "rating", "rd", "delta")
    counts = ("game_count", "win_count", "loss_count", "result_count", "meetings")
    yield Rows("rating_revision", columns + counts, revisions)


def _period(day: str, is_current: bool) -> dict[str, Any]:
    return {
        "period_date": day,
        "status": "processed",
        "is_current": is_current,
        "is_imported": False,
        "tournament_count": 7,
        "result_count": 700,
        "player_count": 140,
        "processed_at": moment(0),
    }


def _rating(number: int, periods: Sequence[str], people: int) -> dict[str, Any]:
    is_regular = number == 0
    name = "Rex Regular" if is_regular else person_name(number - 1)
    strength = 1500.0 + (number * 7919) % 900
    return {
        "rating_id": number + 1,
        "user_id": REGULAR_ID if is_regular else FIRST_PERSON_ID + number - 1,
        # The regular's is past all others.
        "ifpa_id": people + 1 if is_regular else number,
        "name": name,
        "name_folded": name.lower().replace("ö", "o").replace("é", "e").replace("ü", "u").replace("ñ", "n"),
        "rating": strength,
        "rd": 40.0,
        "delta": 1.5,
        "lower_bound": strength - 80,
        "rank": number + 1,
        "first_period": periods[0],
        "last_period": periods[-1],
        "game_count": 160,
        "win_count": 80,
        "loss_count": 80,
        "result_count": 160,
    }


def _tournaments(numbers: Iterable[int], books: int) -> Iterator[Rows]:
    written = TournamentRows(books, ARENAS_OF_BOOK, PLAYERS_OF_BOOK, machine_id)
    own = [_tournament(number, books) for number in numbers]
    for row in own:
        written.add_tournament(row)
    yield Rows.of(tables.tournament, own)
    yield from written.parts()


def organizer_of(number: int, books: int) -> int:
    """Every tenth tournament is the first organizer's."""
    return 1 if number % 10 == 0 else number % books + 1


def _tournament(number: int, books: int) -> dict[str, Any]:
    type_ = (
        "best_game"
        if number % 20 == 7
        else ("matchplay", "knockout", "group_matchplay", "matchplay")[number % 4]
    )
    # Three in a hundred run or are planned, and a good part of them are the busiest organizer's.
    status = {50: "planned", 60: "started", 33: "started"}.get(number % 100, "completed")
    begun = moment(number * 0.2)
    local = begun[:19].replace("T", " ")
    settings = msgspec.json.encode(FORMATS[type_].settings()).decode()
    return {
        "tournament_id": number,
        "name": f"{LAST_NAMES[number % 10]} Night {number}",
        "status": status,
        "type": type_,
        "description": "A night of pinball with prizes for everybody. " * 5,
        "start_utc": begun,
        "start_local": local,
        "completed_at": moment(number * 0.2 + 0.1) if status == "completed" else None,
        "created_at": begun,
        "updated_at": begun,
        "timezone": "UTC",
        "organizer_id": organizer_of(number, books),
        "location_id": organizer_of(number, books),
        # The nights that are not over are spread: no league has a hundred nights running at once.
        "series_id": (number if status == "completed" else number // SERIES) % SERIES + 1,
        "test": False,
        "points_map": "[[7],[7,1],[7,4,1],[7,5,3,1]]",
        "primary_config_settings": "[]",
        "managers": "[]",
        "settings": settings,
        "revision": 1,
        "stamp": number,
        "epoch": "k3f9",
        "seq": 0,
        "seq_low": 0,
    }


def _around_tournaments(tournaments: int, books: int) -> Iterator[Rows]:
    """Occasions of a thirtieth of the tournaments, and an audit log."""
    numbers = range(1, tournaments + 1, 30)
    yield Rows.of(tables.occasion, [_occasion(number, books) for number in numbers])
    columns = ("occasion_id", "user_id", "tournament_id", "place", "labels", "external")
    linked = [(number, organizer_of(number, books), number, 0, "[]", "{}") for number in numbers]
    yield Rows("occasion_tournament", columns, linked)
    audited = [
        ("sign-in", FIRST_PERSON_ID + number, "192.0.2.0/24", "", *[moment(number / 10)] * 2, 1)
        for number in range(tournaments)
    ]
    yield Rows("audit_entry", ("event", "user_id", "source", "detail", "at", "last_at", "count"), audited)


def _occasion(number: int, books: int) -> dict[str, Any]:
    begun = moment(number * 0.2)
    return {
        "occasion_id": number,
        "organizer_id": organizer_of(number, books),
        "name": f"Weekend {number}",
        "status": "active",
        "start_utc": begun,
        "start_local": begun[:19].replace("T", " "),
    }


def table_sizes(db: Connection) -> dict[str, int]:
    """Table -> number of rows."""
    return {table.name: _count(db, table) for table in tables.metadata.sorted_tables}


def _count(db: Connection, table: Table) -> int:
    return int(db.exec_driver_sql(f'SELECT count(*) FROM "{table.name}"').scalar_one())
