"""No read of a big database goes through a table of more than 10,000 rows, unless it is listed here.

The database is a hundredth of the one that `benchmarks/big.py` measures. On SQLite it is planned without
statistics and with those of the big one; PostgreSQL plans by the size that its files really have, so there
each row has a price, and statements for which no index leads to the rows are found. `make soak` builds the
big one on PostgreSQL and counts the rows that its own plans read, also where it knows little of the tables.
"""

import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError

from conftest import PostgreSQL
from query_plans import AS_IF_LARGE, AS_IT_IS, PostgresqlPlans, SqlitePlans, WholeRead
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.store.people import rating_days

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import big_requests
import big_world
from big_visitors import Visitors

# Modules there share their names with folders of tests.
sys.path.pop()

SCALE = 0.01
# More than 10,000 rows in the big database.
BIG_TABLES = {
    *("announcement", "arena_summary", "audit_entry", "entrant", "federation_player", "game", "game_player"),
    *("journal", "lineup_arena", "match_summary", "player", "player_arena_summary", "rating"),
    *("rating_revision", "round", "single_player_game", "standing", "tournament", "user"),
}
# A part of a statement, and the reason why it may read such a table whole.
REASONS = {
    "user.suspended_at IS NOT NULL": "An index holds the suspended alone.",
    "SELECT count(*) AS count_1 \nFROM tournament": "The number of all; kept until the next commit.",
    "FROM tournament ORDER BY tournament.start_utc DESC": "A page of all, in the order of an index.",
    "FROM tournament \nORDER BY tournament.start_utc DESC": "A page of all, in the order of an index.",
    "FROM audit_entry": "A page of the whole log, newest first, for administrators.",
    "FROM confirmed_number": "All numbers of accounts and books: they are counted, for administrators.",
    "FROM claim JOIN": "No claims are here, so SQLite does not know how few there are.",
    "FROM rating_submission JOIN": "No submissions are here, so SQLite does not know how few there are.",
    "SELECT user.user_id \nFROM user\n LIMIT 1": "Whether there is any account: the first row is the answer.",
}
# SQLite reads these by an index, or has them in another text.
POSTGRESQL_REASONS = REASONS | {
    "FROM match_summary": "The summaries of a tournament are more rows than the accounts of a hundredth are.",
    "AS published_rating \nWHERE": "The number of all ratings, and a page of them in the order of an index.",
    "ORDER BY rating.rating": "The lowest and the highest, in the order of an index.",
    "SELECT user.user_id \nFROM user \n LIMIT": "Whether there is any account: the first row is the answer.",
}
# PostgreSQL knows a table from a sample of 300 rows for each of these; 100 are usual. From a small sample it
# plans what it plans from a usual one now and then, by chance.
SAMPLE_SMALL = 8
# A regular played a fifth of all tournaments: to read some columns of all takes less than to look those up.
OF_A_REGULAR = "The tournaments of a regular are many of all."
FULL_SIZE_REASONS = POSTGRESQL_REASONS | {
    "WHERE tournament.tournament_id IN (SELECT entrant.tournament_id": OF_A_REGULAR,
    "row_number() OVER (PARTITION BY entrant.player_id": OF_A_REGULAR,
}


def unlisted_reads(
    plans: SqlitePlans | PostgresqlPlans, world: big_world.BigWorld, reasons: Mapping[str, str]
) -> list[str]:
    """The requests and statements that read a big table whole without a reason."""
    found = whole_reads(plans, world)
    return [
        f"{name} reads {read.table} whole: {read.statement}"
        for read, name in found.items()
        if not any(part in read.statement for part in reasons)
    ]


def whole_reads(plans: SqlitePlans | PostgresqlPlans, world: big_world.BigWorld) -> dict[WholeRead, str]:
    """What is read whole of the big tables, each with a request that does it."""
    visitors = Visitors(plans.store)
    found: dict[WholeRead, str] = {}
    for request in big_requests.requests(world):
        plans.forget()
        for turn in range(2):
            visitors.milliseconds(request, turn)
        found |= {read: request.name for read in plans.whole_reads() if read.table in BIG_TABLES}
    visitors.close()
    return found


def gather_statistics(path: Path) -> None:
    """Let the planner think that the database has its full size."""
    db = sqlite3.connect(path)
    db.execute("ANALYZE")
    for table, index, stat in db.execute("SELECT tbl, idx, stat FROM sqlite_stat1").fetchall():
        rows, *rest = stat.split()
        scaled = " ".join([str(int(rows) * int(1 / SCALE)), *rest])
        db.execute("UPDATE sqlite_stat1 SET stat = ? WHERE tbl = ? AND idx IS ?", (scaled, table, index))
    db.commit()
    db.close()


# The program gathers no statistics on SQLite; whoever has the file may have done so.
@pytest.mark.parametrize("has_statistics", [False, True])
def test_sqlite_reads_no_big_table_whole(tmp_path: Path, *, has_statistics: bool) -> None:
    path = tmp_path / "big.db"
    world = big_world.build(f"sqlite:///{path}", SCALE)
    if has_statistics:
        gather_statistics(path)
    plans = SqlitePlans(str(path))
    try:
        unlisted = unlisted_reads(plans, world, REASONS)
        assert unlisted == [], "\n\n".join(unlisted)
    finally:
        plans.close()


@pytest.fixture
def explaining_url(postgresql: PostgreSQL) -> str:
    """A new database on a PostgreSQL that can tell its plans."""
    url = postgresql.new_database()
    store = Store(url)
    try:
        with store.migration() as db:
            db.execute(text("LOAD 'auto_explain'"))
    except DBAPIError:
        pytest.skip("PostgreSQL is installed without auto_explain")
    finally:
        store.close()
    return url


def take_small_samples(url: str) -> None:
    """Let PostgreSQL forget what it knows of the tables, but for a little."""
    store = Store(url)
    with store.migration() as db:
        db.execute(text(f"SET LOCAL default_statistics_target = {SAMPLE_SMALL}"))
        db.execute(text("ANALYZE"))
    store.close()


def test_postgresql_reads_no_big_table_whole(explaining_url: str) -> None:
    world = big_world.build(explaining_url, SCALE)
    plans = PostgresqlPlans(explaining_url, AS_IF_LARGE)
    try:
        unlisted = unlisted_reads(plans, world, POSTGRESQL_REASONS)
        assert unlisted == [], "\n\n".join(unlisted)
    finally:
        plans.close()


@pytest.mark.soak
def test_postgresql_reads_no_big_table_whole_at_its_full_size(explaining_url: str) -> None:
    world = big_world.build(explaining_url, 1.0)
    plans = PostgresqlPlans(explaining_url, AS_IT_IS)
    try:
        unlisted = unlisted_reads(plans, world, FULL_SIZE_REASONS)
        take_small_samples(explaining_url)
        unlisted += unlisted_reads(plans, world, FULL_SIZE_REASONS)
        assert unlisted == [], "\n\n".join(unlisted)
        # It would notice: this is read whole, and has a reason.
        plans.forget()
        with plans.store.read() as db:
            db.execute(select(func.count()).select_from(tables.audit_entry))
        assert [read.table for read in plans.whole_reads()] == ["audit_entry"]
    finally:
        plans.close()


def test_the_first_day_of_erased_people_is_found_in_their_own_tournaments(tmp_path: Path) -> None:
    # By the order of completion it took 0.25 s among 10,000 tournaments, and everybody waited.
    big_world.build(f"sqlite:///{tmp_path / 'big.db'}", SCALE)
    plans = SqlitePlans(str(tmp_path / "big.db"))
    with plans.store.write() as transaction:
        plans.forget()
        rating_days.mark_players(transaction.connection, range(1, 60))
    steps = [step for statement, step in plans.steps() if statement.startswith("SELECT min(")]
    assert "SEARCH tournament USING INTEGER PRIMARY KEY (rowid=?)" in steps
    assert [step for step in steps if step.startswith("SEARCH entrant USING")]
    plans.close()


def test_each_statement_is_looked_at(tmp_path: Path) -> None:
    plans = SqlitePlans(str(tmp_path / "small.db"))
    migrate.migrate(plans.store)
    assert_only_the_read_without_index_is_found(plans)


def test_each_statement_of_postgresql_is_looked_at(explaining_url: str) -> None:
    assert_only_the_read_without_index_is_found(PostgresqlPlans(explaining_url, AS_IF_LARGE))


def assert_only_the_read_without_index_is_found(plans: SqlitePlans | PostgresqlPlans) -> None:
    with plans.store.read() as db:
        plans.forget()
        db.execute(select(tables.game).where(tables.game.c.scorbit_id == "1"))
        db.execute(select(tables.game).where(tables.game.c.tournament_id == 1))
    assert [read.table for read in plans.whole_reads()] == ["game"]
    plans.close()
