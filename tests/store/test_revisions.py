"""Raised revisions are known at once in this process, and within a second in every other."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import delete, update

import build
from patience import PATIENCE_SECONDS
from silverball.store import tables
from silverball.store.database.engine import Commit, Store
from silverball.store.database.transaction import Transaction
from silverball.store.revisions import revisions
from silverball.store.revisions.known_revisions import LEASE_SECONDS, KnownRevisions
from silverball.store.revisions.stamps import Revision, number_in

pytestmark = pytest.mark.both_databases

RAISE_IN_ANOTHER_PROCESS_SCRIPT = """
import sys
from silverball.store.revisions import revisions
from silverball.store.database.engine import Store
with Store(sys.argv[1]).write() as transaction:
    revisions.raise_tournaments(transaction, [int(sys.argv[2])])
"""


class Watcher(KnownRevisions):
    """The known revisions as numbers."""

    def known(self, scope_id: int) -> int:
        return number_in(self.known_version(scope_id))

    def refreshed(self, scope_id: int) -> int:
        return number_in(self.refresh(scope_id))


@pytest.fixture
def watcher(store: Store) -> Iterator[Watcher]:
    """The revisions that this process knows, kept up to date by the watcher."""
    started = Watcher(store)
    started.start()
    yield started
    started.close()


def is_true_soon(question: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        if question():
            return True
        time.sleep(0.01)
    return False


def test_an_own_commit_is_known_before_the_write_returns(store: Store, watcher: Watcher) -> None:
    night = build.a_tournament(store)
    before, world = watcher.refreshed(night.tournament_id), watcher.known(0)
    with store.write(night.tournament_id) as transaction:
        assert revisions.raise_tournaments(transaction, [night.tournament_id]) == {
            night.tournament_id: before + 1
        }
        # It is not known before the commit.
        assert watcher.known(night.tournament_id) == before
    assert watcher.known(night.tournament_id) == before + 1
    assert watcher.known(0) == world + 1 == store.world_revision()


def test_a_write_that_fails_raises_nothing(store: Store, watcher: Watcher) -> None:
    night = build.a_tournament(store)
    before, world = watcher.refreshed(night.tournament_id), watcher.known(0)
    with pytest.raises(RuntimeError), store.write() as transaction:
        revisions.raise_tournaments(transaction, [night.tournament_id])
        raise RuntimeError
    assert (watcher.known(night.tournament_id), watcher.known(0)) == (
        before,
        world,
    )
    assert watcher.refreshed(night.tournament_id) == before


def test_a_commit_of_another_process_is_noticed_within_a_second(store: Store, watcher: Watcher) -> None:
    night = build.a_tournament(store)
    before = watcher.refreshed(night.tournament_id)
    url = store.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", RAISE_IN_ANOTHER_PROCESS_SCRIPT, url, str(night.tournament_id)]
    subprocess.run(command, check=True)
    assert is_true_soon(lambda: watcher.known(night.tournament_id) == before + 1)


def test_a_commit_of_a_second_store_in_between_own_ones_is_not_lost(store: Store, watcher: Watcher) -> None:
    nights = [build.a_tournament(store) for _ in range(2)]
    before = [watcher.refreshed(night.tournament_id) for night in nights]
    other = Store(store.url.render_as_string(hide_password=False))
    with other.write() as transaction:
        revisions.raise_tournaments(transaction, [nights[0].tournament_id])
    with store.write() as transaction:
        revisions.raise_tournaments(transaction, [nights[1].tournament_id])
    other.close()
    assert watcher.known(nights[1].tournament_id) == before[1] + 1
    assert is_true_soon(lambda: watcher.known(nights[0].tournament_id) == before[0] + 1)


def test_a_poll_asks_for_what_another_process_committed_before_an_own_commit(store: Store) -> None:
    """The own commit leaves the world as new as the database, so only the gap tells of the other one."""
    nights = [build.a_tournament(store) for _ in range(2)]
    watcher = Watcher(store)
    watcher.poll()
    before = watcher.refreshed(nights[0].tournament_id)
    other = Store(store.url.render_as_string(hide_password=False))
    with other.write() as transaction:
        revisions.raise_tournaments(transaction, [nights[0].tournament_id])
    other.close()
    with store.write() as transaction:
        revisions.raise_tournaments(transaction, [nights[1].tournament_id])
    watcher.poll()
    assert number_in(watcher.last_version(nights[0].tournament_id)) == before + 1
    watcher.close()


def test_a_tournament_that_another_process_deleted_is_forgotten(store: Store, watcher: Watcher) -> None:
    night = build.a_tournament(store)
    assert watcher.refreshed(night.tournament_id) > 0
    other = Store(store.url.render_as_string(hide_password=False))
    with other.write() as transaction:
        transaction.connection.execute(
            delete(tables.tournament).where(tables.tournament.c.tournament_id == night.tournament_id)
        )
    other.close()
    assert is_true_soon(lambda: watcher.known(night.tournament_id) == 0)
    assert watcher.refreshed(night.tournament_id) == 0


def test_the_watcher_outlives_a_fault_of_the_database(
    store: Store, watcher: Watcher, caplog: pytest.LogCaptureFixture
) -> None:
    night = build.a_tournament(store)
    before = watcher.refreshed(night.tournament_id)
    with store.migration() as db:
        db.exec_driver_sql("ALTER TABLE world RENAME TO gone")
    assert is_true_soon(lambda: "cannot ask the database" in caplog.text)
    with store.migration() as db:
        db.exec_driver_sql("ALTER TABLE gone RENAME TO world")
    other = Store(store.url.render_as_string(hide_password=False))
    with other.write() as transaction:
        revisions.raise_tournaments(transaction, [night.tournament_id])
    other.close()
    until = time.monotonic() + PATIENCE_SECONDS
    while watcher.known(night.tournament_id) == before and time.monotonic() < until:
        time.sleep(0.01)
    assert watcher.known(night.tournament_id) == before + 1


def test_what_could_not_be_looked_up_for_two_seconds_is_not_known(store: Store) -> None:
    moment = 100.0
    known = KnownRevisions(store, lambda: moment)
    night = build.a_tournament(store)
    known.look(lambda: True)
    revision, world = known.refresh(night.tournament_id), known.known_version(0)
    moment += LEASE_SECONDS
    assert (known.known_version(night.tournament_id), known.known_version(0)) == (revision, world)
    moment += 0.1
    assert (known.known_version(night.tournament_id), known.known_version(0)) == (0, 0)
    assert (known.refresh(night.tournament_id), known.refresh(0)) == (revision, world)
    known.look(lambda: False)
    assert (known.known_version(night.tournament_id), known.known_version(0)) == (revision, world)


def test_an_unknown_tournament_and_a_missing_one_have_no_revision(store: Store, watcher: Watcher) -> None:
    night = build.a_tournament(store)
    assert watcher.known(night.tournament_id) == 0
    assert watcher.refreshed(2**63 - 1) == 0


def test_a_quiet_write_raises_nothing(store: Store, watcher: Watcher) -> None:
    user_id = build.a_user(store)
    commits: list[Commit] = []
    store.after_commit.append(commits.append)
    world = watcher.known(0)
    with store.write(quiet=True) as transaction:
        transaction.connection.execute(
            update(tables.user).where(tables.user.c.user_id == user_id).values(name="Bo")
        )
    assert commits == []
    assert watcher.known(0) == store.world_revision() == world


def test_a_state_is_reached_where_its_commit_or_a_later_one_is_known(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    here, commits = KnownRevisions(store), list[Commit]()
    store.after_commit.append(commits.append)
    other_store = Store(store.url.render_as_string(hide_password=False))
    behind = KnownRevisions(other_store)
    for _ in range(2):
        with store.write(tournament_id) as transaction:
            revisions.raise_tournaments(transaction, [tournament_id])
    first, last = (Revision(commit.tournament_revisions[tournament_id], commit.stamp) for commit in commits)
    # The world's state is one transaction: that a later one is known says nothing about the other slots.
    old_world, world = (Revision(commit.world_revision, commit.stamp) for commit in commits)
    ahead, other = last._replace(number=last.number + 1), last._replace(stamp=last.stamp ^ 1)
    asked = [first, last, ahead, other]
    assert [here.has_reached(tournament_id, state) for state in asked] == [True, True, False, False]
    assert [here.has_reached(0, state) for state in (world, old_world)] == [True, False]
    assert not behind.has_reached(tournament_id, first)
    assert not behind.has_reached(0, world)
    behind.refresh(tournament_id)
    assert behind.has_reached(tournament_id, last)
    behind.poll()
    assert behind.has_reached(0, world)
    other_store.close()


def _tournaments_and_shared_rows(store: Store) -> tuple[dict[str, int], dict[str, int]]:
    """Tournaments by their contents, and the shared rows; each of these is in exactly one tournament."""
    rows = {"user": build.a_user(store), "keeper": build.a_user(store), "claimer": build.a_user(store)}
    rows["player"] = build.a_player(store, rows["user"])
    rows["claimed"] = build.a_player(store, rows["user"], claimed_by=rows["claimer"])
    rows["arena"] = build.an_arena(store, rows["user"])
    rows["played"] = build.an_arena(store, rows["user"])
    rows["location"] = build.row(store, tables.location, organizer_id=rows["user"])
    rows["series"] = build.row(store, tables.series, organizer_id=rows["user"])
    nights = {
        name: build.a_tournament(store, players=2, arenas=0, **values)
        for name, values in {
            "organized": {"organizer_id": rows["user"]},
            "scored": {},
            "claimed": {},
            "player": {},
            "arena": {},
            "played": {},
            "location": {"location_id": rows["location"]},
            "series": {"series_id": rows["series"]},
        }.items()
    }
    ids = {name: night.tournament_id for name, night in nights.items()}
    build.row(store, tables.scorekeeper, tournament_id=ids["scored"], user_id=rows["keeper"])
    for name in ("player", "claimed"):
        build.row(store, tables.entrant, tournament_id=ids[name], player_id=rows[name], place=9)
    build.row(store, tables.lineup_arena, tournament_id=ids["arena"], arena_id=rows["arena"])
    build.a_game(store, ids["played"], nights["played"].player_ids, arena_id=rows["played"])
    return ids, rows


def _raise_for_users(transaction: Transaction, user_ids: list[int]) -> dict[int, int]:
    shown_in = revisions.tournaments_of_users(transaction.connection, user_ids)
    return revisions.raise_tournaments(transaction, shown_in)


@pytest.mark.parametrize(
    ("raise_for", "row_name", "raised"),
    [
        (_raise_for_users, "user", "organized"),
        (_raise_for_users, "keeper", "scored"),
        (_raise_for_users, "claimer", "claimed"),
        (revisions.raise_for_players, "player", "player"),
        (revisions.raise_for_players, "claimed", "claimed"),
        (revisions.raise_for_arenas, "arena", "arena"),
        (revisions.raise_for_arenas, "played", "played"),
        (revisions.raise_for_locations, "location", "location"),
        (revisions.raise_for_series, "series", "series"),
    ],
)
def test_a_change_of_a_shared_row_raises_the_tournaments_that_show_it_and_no_others(
    store: Store, raise_for: Callable[[Transaction, list[int]], dict[int, int]], row_name: str, raised: str
) -> None:
    ids, rows = _tournaments_and_shared_rows(store)
    before = store.tournament_revisions(list(ids.values()))
    with store.write() as transaction:
        returned = raise_for(transaction, [rows[row_name]])
    after = store.tournament_revisions(list(ids.values()))
    assert returned == {ids[raised]: before[ids[raised]].number + 1}
    assert after == {**before, ids[raised]: Revision(returned[ids[raised]], transaction.stamp)}


def test_an_outage_lasts_from_the_last_look_until_the_next(store: Store) -> None:
    now = 100.0
    known = KnownRevisions(store, clock=lambda: now)

    def fail() -> bool:
        raise ConnectionError

    known.look(lambda: True)
    world = known.known_version(0)
    now += LEASE_SECONDS
    with pytest.raises(ConnectionError):
        known.look(fail)
    assert known.outage_seconds() == 0
    now += 0.5
    # It was asked and has not answered for half a second: it may be slow.
    assert (known.known_version(0), known.outage_seconds()) == (0, 0)
    now += LEASE_SECONDS
    assert known.outage_seconds() == LEASE_SECONDS + 0.5 + LEASE_SECONDS
    assert known.last_version(0) == world
    known.look(lambda: True)
    assert known.outage_seconds() == 0
    known.close()


def test_a_process_that_was_stopped_for_a_while_is_in_no_outage(store: Store) -> None:
    now = 100.0
    known = KnownRevisions(store, clock=lambda: now)
    known.look(lambda: True)
    now += 20
    assert (known.known_version(0), known.outage_seconds()) == (0, 0)
    known.close()
