"""The bulk tables: what is in them, who is not, and how they are written."""

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

import build
from exchange import bulk_world
from exchange.bulk_world import APRIL, MARCH, NOW, claim, rows, write_all
from selection import examples
from service import stored_nights
from silverball.exchange import bulk
from silverball.service.accounts.writes import accounts
from silverball.service.tables.reads import bulk as reads_bulk
from silverball.store import tables
from silverball.store.database.engine import Store

DOCUMENT = Path(__file__).parents[2] / "docs" / "exports.md"
TABLES = (*bulk.MONTHLY, *bulk.WHOLE)


@pytest.fixture
def site(empty_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A database for tests of the files alone."""
    file = tmp_path_factory.mktemp("site") / "site.db"
    file.write_bytes(empty_sqlite.read_bytes())
    opened = Store(f"sqlite:///{file}")
    stored_nights.skip_disk_sync(opened)
    yield opened
    opened.close()


def test_every_table_and_column_is_in_the_handbook() -> None:
    listed = re.findall(r"^\| `(\w+)` \| [^|]+ \| (.+) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert listed == [(table.name, ", ".join(f"`{c.name}`" for c in table.columns)) for table in TABLES]


def test_a_night_is_written_as_it_was_played(store: Store, tmp_path: Path) -> None:
    night = bulk_world.a_night(store)
    assert write_all(store, tmp_path) == ["2026-03", "all"]
    (game,) = rows(tmp_path, "games")
    assert game | {"game_id": "", "arena_id": ""} == {
        "game_id": "",
        "tournament_id": str(night.tournament_id),
        "round_number": "1",
        "arena_id": "",
        "arena_name": "Machine 1",
        "opdb_id": "",
        "set_number": "0",
        "bye": "false",
        "tiebreak": "false",
        "started_at": "2026-03-05T19:30:00.000000Z",
        "duration_seconds": "900",
        "player_count": "4",
    }
    results = rows(tmp_path, "results")
    assert [row["game_id"] for row in results] == [game["game_id"]] * 4
    assert [row["player_id"] for row in results] == list(map(str, night.player_ids))
    assert [row["playing_order"] for row in results] == ["1", "2", "3", "4"]
    assert [row["place"] for row in results] == ["2", "4", "1", "3"]
    assert [row["points"] for row in results] == ["5.00", "1.00", "7.00", "3.00"]
    assert [row["score"] for row in results] == ["", "", str(2**63 - 1), ""]
    standings = [(row["position"], row["points"]) for row in rows(tmp_path, "standings")]
    assert standings == [("1", "7.00"), ("2", "5.00"), ("3", "3.00"), ("4", "1.00")]
    assert [row["name"] for row in rows(tmp_path, "players")] == [f"Player {n}" for n in (1, 2, 3, 4)]
    assert [row["name"] for row in rows(tmp_path, "arenas", "all")] == ["Machine 1"]


@pytest.mark.both_databases
def test_single_player_games_are_a_table_of_their_own(store: Store, tmp_path: Path) -> None:
    night = bulk_world.a_night(store)
    player_id = night.player_ids[0]
    for values in ({}, {"voided": True}, {"status": "started"}):
        attempt = {"player_id": player_id, "points": 99, "score": 12_345, "status": "completed"}
        build.row(
            store,
            tables.single_player_game,
            **{"tournament_id": night.tournament_id, "arena_id": night.arena_ids[1], **attempt, **values},
        )
    write_all(store, tmp_path)
    (row,) = rows(tmp_path, "single_player_games")
    assert (row["player_id"], row["points"], row["score"]) == (str(player_id), "99.00", "12345")
    assert len(rows(tmp_path, "games")) == 1
    assert [row["name"] for row in rows(tmp_path, "arenas", "all")] == ["Machine 1", "Machine 2"]


@pytest.mark.parametrize(
    "values",
    [{"status": "started"}, {"status": "planned"}, {"test": True}, {"start_utc": MARCH.replace(year=1989)}],
    ids=str,
)
def test_nothing_else_is_published(site: Store, tmp_path: Path, values: dict[str, Any]) -> None:
    bulk_world.a_night(site, **values)
    assert write_all(site, tmp_path) == ["all"]
    assert rows(tmp_path, "ratings", "all") == []


def test_a_month_ends_where_the_next_one_begins(store: Store) -> None:
    begin, end = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    for start in (begin, end - timedelta(seconds=1), end):
        bulk_world.a_night(store, start)
    # The month of `now` is the last one.
    bulk_world.a_night(store, NOW + timedelta(days=31))
    with store.read() as db:
        months = bulk.parts_to_write(db, NOW)
        counts = [len(list(reads_bulk.tournament_rows(db, reads_bulk.month_period(m)))) for m in months[:2]]
    assert (months, counts) == (["2026-03", "2026-04", "all"], [2, 1])


@pytest.mark.parametrize("opt_out", ["stats_opt_out", "history_opt_out"])
def test_who_opted_out_has_no_row_and_the_game_stays(store: Store, tmp_path: Path, opt_out: str) -> None:
    night = bulk_world.a_night(store)
    hidden = str(night.player_ids[2])
    claim(store, night.player_ids[2], **{opt_out: True})
    write_all(store, tmp_path)
    assert [game["player_count"] for game in rows(tmp_path, "games")] == ["4"]
    for table in ("players", "results", "standings"):
        listed = [row["player_id"] for row in rows(tmp_path, table)]
        assert len(listed) == 3
        assert hidden not in listed
    # The others keep the places that they had.
    assert [row["place"] for row in rows(tmp_path, "results")] == ["2", "4", "3"]


def test_a_hidden_profile_has_no_number_and_a_hidden_rating_no_id(store: Store, tmp_path: Path) -> None:
    first, second, third, _ = bulk_world.a_night(store).player_ids
    users = [claim(store, first), claim(store, second, profile_opt_out=True)]
    users.append(claim(store, third, ratings_opt_out=True))
    rated = [str(build.a_rating(store, user_id=user_id, ifpa_id=n)) for n, user_id in enumerate(users, 1)]
    write_all(store, tmp_path)
    players = [(row["ifpa_id"], row["rating_id"]) for row in rows(tmp_path, "players")]
    assert players == [("777123", rated[0]), ("", rated[1]), ("777123", ""), ("", "")]
    listed = {row["rating_id"]: row["ifpa_id"] for row in rows(tmp_path, "ratings", "all")}
    assert listed == {rated[0]: "1", rated[1]: ""}


@pytest.mark.both_databases
def test_players_are_joined_with_ratings_by_number_and_by_name(store: Store, tmp_path: Path) -> None:
    night = bulk_world.a_night(store)
    with store.write() as transaction:
        own = tables.player.c.player_id == night.player_ids[0]
        transaction.connection.execute(update(tables.player).where(own).values(ifpa_id=4711))
    by_number = build.a_rating(store, ifpa_id=4711)
    by_name = build.a_rating(store, organizer_id=night.organizer_id, name_key="player 2")
    write_all(store, tmp_path)
    ids = [row["rating_id"] for row in rows(tmp_path, "players")]
    assert ids == [str(by_number), str(by_name), "", ""]


def test_an_erased_person_changes_the_digest_of_their_months_only(store: Store) -> None:
    march, april = bulk_world.a_night(store), bulk_world.a_night(store, APRIL)
    user_id = claim(store, april.player_ids[0])

    def digests() -> list[str]:
        with store.read() as db:
            return [
                reads_bulk.people_digest(db, reads_bulk.month_period(month))
                for month in ("2026-03", "2026-04")
            ]

    before = digests()
    with store.write() as transaction:
        accounts.erase_account(transaction, user_id)
    after = digests()
    assert march.player_ids
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)


@settings(
    max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(nights=st.lists(st.tuples(st.integers(1, 4), st.sets(st.integers(0, 5))), min_size=1, max_size=6))
def test_all_months_together_have_every_player_once(
    empty_sqlite: Path, tmp_path_factory: pytest.TempPathFactory, nights: list[tuple[int, set[int]]]
) -> None:
    file = tmp_path_factory.mktemp("months") / "site.db"
    file.write_bytes(empty_sqlite.read_bytes())
    store = Store(f"sqlite:///{file}")
    stored_nights.skip_disk_sync(store)
    owner = build.a_user(store, role="organizer")
    book = [build.a_player(store, owner) for _ in range(6)]
    for month, seated in nights:
        start = datetime(2026, month, 5, tzinfo=UTC)
        own = {"organizer_id": owner, "status": "completed", "start_utc": start, "completed_at": start}
        night = build.a_tournament(store, players=0, arenas=0, **own)
        for place in seated:
            seat = {"player_id": book[place], "place": place}
            build.row(store, tables.entrant, tournament_id=night.tournament_id, **seat)
    with store.read() as db:
        months = [part for part in bulk.parts_to_write(db, NOW) if part != bulk.ALL]
        listed = Counter(
            row[0] for month in months for row in reads_bulk.player_rows(db, reads_bulk.month_period(month))
        )
    store.close()
    assert months == sorted({f"2026-{month:02}" for month, _ in nights})
    assert listed == Counter(book[place] for place in set().union(*(seated for _, seated in nights)))


def test_the_manifest_describes_every_file(site: Store, tmp_path: Path) -> None:
    bulk_world.a_night(site)
    write_all(site, tmp_path)
    manifest = json.loads((tmp_path / bulk.MANIFEST).read_bytes())
    assert {file["file"] for file in manifest["files"]} == {
        path.name for path in tmp_path.iterdir() if not path.name.startswith(".")
    } - {bulk.MANIFEST}
    for file in manifest["files"]:
        content = (tmp_path / file["file"]).read_bytes()
        assert (file["bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        if file["format"] == "csv":
            assert file["rows"] == len(rows(tmp_path, file["table"], file["month"] or "all"))
    assert [column["name"] for column in manifest["tables"]["standings"]] == [
        "tournament_id",
        "player_id",
        "position",
        "points",
    ]


def test_a_file_without_news_stays_as_it_is(site: Store, tmp_path: Path) -> None:
    bulk_world.a_night(site)
    write_all(site, tmp_path)
    before = {path.name: path.stat().st_ino for path in tmp_path.iterdir() if path.name[0] != "."}
    bulk_world.a_night(site, APRIL)
    write_all(site, tmp_path, NOW + timedelta(days=1))
    changed = {name for name, number in before.items() if (tmp_path / name).stat().st_ino != number}
    assert {name.partition(".")[0] for name in changed} == {"tables", "arenas-all"}


def test_a_server_without_pyarrow_writes_csv_and_says_so(
    site: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bulk_world.a_night(site)
    write_all(site, tmp_path)
    # As if it was removed since.
    monkeypatch.setitem(sys.modules, bulk.MODULE, None)
    write_all(site, tmp_path)
    manifest = json.loads((tmp_path / bulk.MANIFEST).read_bytes())
    assert (manifest["formats"], manifest["notes"]) == (["csv"], [bulk.NO_PARQUET])
    assert list(tmp_path.glob("*.parquet")) == []


def test_parquet_has_the_same_rows_with_types(site: Store, tmp_path: Path) -> None:
    reader = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed here")
    bulk_world.a_night(site)
    write_all(site, tmp_path)
    results = reader.read_table(tmp_path / "results-2026-03.parquet").to_pylist()
    written = rows(tmp_path, "results")
    assert [row["points"] for row in results] == [float(row["points"]) for row in written]
    assert [row["score"] for row in results] == [None, None, 2**63 - 1, None]
    (game,) = reader.read_table(tmp_path / "games-2026-03.parquet").to_pylist()
    assert (game["bye"], game["started_at"]) == (False, MARCH)
    empty = reader.read_table(tmp_path / "single_player_games-2026-03.parquet")
    assert empty.column_names == [column.name for column in bulk.MONTHLY[4].columns]


def test_a_failed_write_leaves_the_old_files(site: Store, tmp_path: Path) -> None:
    bulk_world.a_night(site)
    write_all(site, tmp_path)
    bulk_world.a_night(site)
    target = tmp_path / "results-2026-03.csv"
    before = target.read_bytes()
    target.unlink()
    # A folder is one thing that no file can replace.
    target.mkdir()
    with pytest.raises(OSError, match="irectory"):
        bulk.write_part(site, "2026-03", tmp_path, NOW)
    target.rmdir()
    target.write_bytes(before)
    assert list(tmp_path.glob(".*.part")) == []
