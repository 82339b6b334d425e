"""A database that goes back and on from there: no node mixes what was with what is."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

import build
import going_back
from silverball.service.core import loaded
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions, stamps
from silverball.store.revisions.known_revisions import KnownRevisions

pytestmark = pytest.mark.both_databases

WRITES = 5


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    """Another node on the same database."""
    opened = Store(store.url.render_as_string(hide_password=False))
    yield opened
    opened.close()


def rename(store: Store, tournament_id: int, name: str, times: int = 1) -> None:
    """Write as often, so that revisions rise; the name tells the histories apart."""
    for _ in range(times):
        with store.write(tournament_id) as transaction:
            own = update(tables.tournament).where(tables.tournament.c.tournament_id == tournament_id)
            transaction.connection.execute(own.values(name=name))
            revisions.raise_tournaments(transaction, [tournament_id])


def loaded_name(store: Store, tournament_id: int) -> object:
    with store.read() as db:
        return loaded.load_tournament(db, tournament_id).details["name"]


def generation(store: Store) -> str:
    with store.read() as db:
        return stamps.current_generation(db)


def test_a_node_that_was_not_asked_meanwhile_shows_nothing_of_the_lost_history(
    store: Store, other: Store
) -> None:
    night = build.a_tournament(store)
    rename(store, night.tournament_id, "before")
    other.close()
    earlier = going_back.take_copy(store)
    rename(store, night.tournament_id, "lost", WRITES)
    node = KnownRevisions(store)
    node.poll()
    before = node.refresh(night.tournament_id), node.refresh(0)
    assert loaded_name(store, night.tournament_id) == "lost"
    first = generation(store)
    store.disconnect()
    earlier.bring_back()
    # As many writes as were lost: all revisions are as the node knows them.
    rename(other, night.tournament_id, "kept", WRITES)
    assert loaded_name(store, night.tournament_id) == "kept"
    node.poll()
    after = node.refresh(night.tournament_id), node.refresh(0)
    assert not set(before) & set(after)
    assert generation(store) != first
    assert all(after)


@pytest.mark.parametrize("kept", [0, WRITES - 2, WRITES + 2], ids=["none", "fewer", "more"])
def test_however_many_writes_follow_a_node_knows_what_the_database_has(
    store: Store, other: Store, kept: int
) -> None:
    night = build.a_tournament(store)
    other.close()
    earlier = going_back.take_copy(store)
    rename(store, night.tournament_id, "lost", WRITES)
    node = KnownRevisions(store)
    node.poll()
    before = node.refresh(night.tournament_id)
    store.disconnect()
    earlier.bring_back()
    rename(other, night.tournament_id, "kept", kept)
    node.poll()
    after = node.refresh(night.tournament_id)
    assert (after != before, loaded_name(store, night.tournament_id) != "lost") == (True, True)


def test_two_nodes_that_notice_it_together_draw_one_generation(store: Store, other: Store) -> None:
    first = generation(store)
    store.begin_generation(first)
    second = generation(store)
    other.begin_generation(first)
    assert (second != first, generation(store)) == (True, second)


def test_a_node_of_the_version_before_can_go_on_writing(store: Store) -> None:
    night = build.a_tournament(store)
    node = KnownRevisions(store)
    node.poll()
    before = node.refresh(night.tournament_id), node.refresh(0)
    with store.migration() as db:
        db.execute(text("UPDATE tournament SET revision = revision + 1"))
        db.execute(text("UPDATE world SET revision = revision + 1 WHERE slot = 0"))
    node.poll()
    after = node.known_version(night.tournament_id), node.known_version(0)
    assert all(new > old for new, old in zip(after, before, strict=True))


def test_every_write_of_a_tournament_has_a_stamp_of_its_own(store: Store) -> None:
    night = build.a_tournament(store)
    column = select(tables.tournament.c.stamp)
    stamps = set()
    for _ in range(WRITES):
        rename(store, night.tournament_id, "Friday")
        with store.read() as db:
            stamps.add(db.execute(column).scalar_one())
    assert len(stamps) == WRITES
    assert min(stamps) > 0


# An SQLite file that is replaced while no server runs.


@pytest.fixture
def path(tmp_path: Path, empty_sqlite: Path) -> Path:
    path = tmp_path / "club.db"
    path.write_bytes(empty_sqlite.read_bytes())
    return path


def run_node(path: Path, tournament_id: int, writes: int) -> str:
    """Start, write and stop a node; returns the generation that it found."""
    store = Store(f"sqlite:///{path}")
    node = KnownRevisions(store)
    node.start()
    found = generation(store)
    rename(store, tournament_id, "Friday", writes)
    node.close()
    store.close()
    return found


def test_a_start_that_finds_less_than_the_last_stop_left_draws_a_new_generation(path: Path) -> None:
    store = Store(f"sqlite:///{path}")
    tournament_id = build.a_tournament(store).tournament_id
    earlier = going_back.SQLiteCopy(path)
    store.close()
    first = run_node(path, tournament_id, WRITES)
    assert run_node(path, tournament_id, WRITES) == first
    earlier.bring_back_file()
    second = run_node(path, tournament_id, WRITES)
    assert second != first
    assert run_node(path, tournament_id, 0) == second


def test_as_many_writes_by_a_command_hide_nothing_from_the_next_start(path: Path) -> None:
    store = Store(f"sqlite:///{path}")
    tournament_id = build.a_tournament(store).tournament_id
    earlier = going_back.SQLiteCopy(path)
    store.close()
    first = run_node(path, tournament_id, WRITES)
    earlier.bring_back_file()
    store = Store(f"sqlite:///{path}")
    rename(store, tournament_id, "kept", WRITES)
    store.close()
    assert run_node(path, tournament_id, 0) != first


def test_the_file_beside_the_database_is_private_and_may_be_missing_or_broken(path: Path) -> None:
    store = Store(f"sqlite:///{path}")
    tournament_id = build.a_tournament(store).tournament_id
    store.close()
    first = run_node(path, tournament_id, 1)
    beside = path.with_name("club.db.newest")
    assert beside.stat().st_mode & 0o777 == 0o600
    beside.write_text("[1, 2")
    assert run_node(path, tournament_id, 1) == first
    beside.unlink()
    assert run_node(path, tournament_id, 1) == first


KILLED_NODE_SCRIPT = """
import os, sys, time
from silverball.store.revisions import revisions
from silverball.store.database.engine import Store
from silverball.store.revisions.known_revisions import KnownRevisions
store = Store(sys.argv[1])
KnownRevisions(store).start()
for _ in range(5):
    with store.write(int(sys.argv[2])) as transaction:
        revisions.raise_tournaments(transaction, [int(sys.argv[2])])
time.sleep(2.5)
os.kill(os.getpid(), 9)
"""


def test_a_node_that_was_killed_has_noted_where_the_database_was_a_second_before(path: Path) -> None:
    store = Store(f"sqlite:///{path}")
    tournament_id = build.a_tournament(store).tournament_id
    earlier = going_back.SQLiteCopy(path)
    first = generation(store)
    store.close()
    command = [sys.executable, "-c", KILLED_NODE_SCRIPT, f"sqlite:///{path}", str(tournament_id)]
    done = subprocess.run(command, check=False, env=os.environ)
    assert done.returncode == -9
    earlier.bring_back_file()
    assert run_node(path, tournament_id, 0) != first
