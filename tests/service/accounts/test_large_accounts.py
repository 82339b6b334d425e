"""An account in many tournaments changes at once, and these follow in short transactions."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select, text

import build
from service.accounts.erased_world import ErasedWorld, a_world, everything, traces
from silverball.jobs import follow_accounts
from silverball.service.accounts import announcing
from silverball.service.accounts.writes import accounts, tournaments
from silverball.service.accounts.writes import announcing as slices_of_tournaments
from silverball.service.verify import reads as verifier
from silverball.store import announcements, group_commit, hidings, pending_announcements, rating_days, tables
from silverball.store.engine import Store
from silverball.store.pending_announcements import PendingAnnouncement

OLD, NEW = "Quentin Oldname", "Quentin Newname"
TOURNAMENTS = 7
# Drawn anew in each run, or counted once more by a run that was interrupted.
VOLATILE = ("tournament.stamp", "world.", "announcement.", "tournament.epoch", "site_value.")
KILLED_AFTER = """
import os, signal, sys
from silverball.service.accounts import announcing
from silverball.service.accounts.writes import announcing as slices_of_tournaments
from silverball.store import slices
from silverball.store.engine import Store

url, slices_left = sys.argv[1], int(sys.argv[2])
slices_of_tournaments.SLICE_SECONDS = 0.0
slices_of_tournaments.TOURNAMENTS_PER_STATEMENT = 2

def rest(_store, _seconds):
    global slices_left
    slices_left -= 1
    if not slices_left:
        os.kill(os.getpid(), signal.SIGKILL)

slices.rest = rest
announcing.finish_announcing(Store(url))
"""


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tournaments are many here, and a slice has two."""
    monkeypatch.setattr(pending_announcements, "TOURNAMENTS_AT_ONCE", 3)
    monkeypatch.setattr(slices_of_tournaments, "TOURNAMENTS_PER_STATEMENT", 2)
    monkeypatch.setattr(slices_of_tournaments, "SLICE_SECONDS", 0.0)


def a_regular(store: Store, **values: object) -> tuple[int, list[int]]:
    """An account that plays in seven running tournaments of as many organizers, and their ids."""
    user_id = build.a_user(store, name=OLD, role="organizer", **values)
    ids = []
    for _ in range(TOURNAMENTS):
        night = build.a_tournament(store)
        player_id = build.a_player(store, night.organizer_id, name="Q. Oldname", claimed_by=user_id)
        at = {"tournament_id": night.tournament_id}
        build.row(store, tables.entrant, **at, player_id=player_id, place=9)
        build.row(store, tables.scorekeeper, **at, user_id=user_id)
        ids.append(night.tournament_id)
    return user_id, ids


def revisions(store: Store, ids: Sequence[int]) -> list[int]:
    with store.read() as db:
        own = tables.tournament.c
        rows = select(own.tournament_id, own.revision).where(own.tournament_id.in_(ids))
        found = {row.tournament_id: row.revision for row in db.execute(rows)}
    return [found[tournament_id] for tournament_id in ids]


def let_some_follow(store: Store, slices_done: int) -> None:
    """Run so many slices, as a server that is stopped after them."""
    with store.read() as db:
        pending = pending_announcements.first_pending(db)
        assert pending is not None
        waiting = tournaments.find_waiting(db, pending)
    for _ in range(slices_done):
        with store.write() as transaction:
            left = slices_of_tournaments.change_slice(transaction, waiting)
        assert left is not None
        waiting = left


def rename(store: Store, user_id: int) -> None:
    status, _, _ = build.do(store, "PATCH", "/api/users/profile", {"name": NEW}, by=user_id)
    assert status == 200


def test_every_tournament_follows_before_the_answer(store: Store) -> None:
    user_id, ids = a_regular(store)
    commits: list[int] = []
    store.finish_deferred = partial(announcing.finish_announcing, store)
    store.after_commit.append(lambda commit: commits.append(len(commit.tournament_revisions)))
    before = revisions(store, ids)
    rename(store, user_id)
    assert revisions(store, ids) == [revision + 1 for revision in before]
    # The change itself, the slices, and the end.
    assert commits == [0, 2, 2, 2, 1, 0]
    with store.read() as db:
        assert pending_announcements.first_pending(db) is None
        for tournament_id in ids:
            head = announcements.channel_head(db, tournament_id)
            assert head is not None
            events = announcements.load_since(db, tournament_id, head.epoch, 0, 10)
            assert [event.name for event in events] == ["TournamentUpdated", "PlayersChanged"]


def test_a_program_without_slices_changes_all_in_one_transaction(store: Store) -> None:
    user_id, ids = a_regular(store)
    commits: list[int] = []
    store.after_commit.append(lambda commit: commits.append(len(commit.tournament_revisions)))
    rename(store, user_id)
    assert commits == [len(ids)]


def test_a_few_tournaments_change_in_the_same_transaction(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_announcements, "TOURNAMENTS_AT_ONCE", TOURNAMENTS)
    user_id, ids = a_regular(store)
    commits: list[int] = []
    store.finish_deferred = partial(announcing.finish_announcing, store)
    store.after_commit.append(lambda commit: commits.append(len(commit.tournament_revisions)))
    rename(store, user_id)
    assert commits == [len(ids)]


@pytest.mark.parametrize("slices_done", [0, 1, 2, 3, 4])
def test_the_job_goes_on_where_a_server_was_stopped(store: Store, slices_done: int) -> None:
    user_id, ids = a_regular(store)
    # A server that is stopped right after the commit.
    store.finish_deferred = lambda: None
    before = revisions(store, ids)
    rename(store, user_id)
    assert revisions(store, ids) == before
    let_some_follow(store, slices_done)
    assert revisions(store, ids) == [
        revision + (place < 2 * slices_done) for place, revision in enumerate(before)
    ]
    follow_accounts.run(store, build.NOW)
    assert revisions(store, ids) == [revision + 1 for revision in before]
    with store.read() as db:
        assert pending_announcements.first_pending(db) is None


def test_a_change_begins_again_what_an_earlier_one_has_left(store: Store) -> None:
    user_id, ids = a_regular(store)
    store.finish_deferred = lambda: None
    build.do(store, "PATCH", "/api/users/profile", {"profileOptOut": True}, by=user_id)
    let_some_follow(store, 2)
    rename(store, user_id)
    with store.read() as db:
        assert pending_announcements.find(db, user_id) == PendingAnnouncement(
            user_id=user_id, is_hiding=True, player_ids=[]
        )
        heads = announcements.channel_heads_by_id(db, ids)
    follow_accounts.run(store, build.NOW)
    with store.read() as db:
        later = announcements.channel_heads_by_id(db, ids)
    # What was announced before is gone in those too that the first change had not reached.
    assert all(later[tournament_id].epoch != heads[tournament_id].epoch for tournament_id in ids)


def ranks(store: Store) -> list[tuple[int, int | None]]:
    columns = (tables.rating.c.user_id, tables.rating.c.rank)
    with store.read() as db:
        rows = db.execute(select(*columns).where(columns[0].is_not(None)).order_by(columns[0]))
        return [(row.user_id, row.rank) for row in rows]


@pytest.mark.both_databases
def test_ranks_follow_after_the_tournaments(store: Store) -> None:
    user_id, _ = a_regular(store)
    build.a_rating(store, user_id=user_id, lower_bound=1500.0, rank=1)
    other = build.a_user(store)
    build.a_rating(store, user_id=other, lower_bound=1400.0, rank=2)
    before = sorted([(user_id, 1), (other, 2)])
    hidden: list[tuple[int, int | None]] = sorted([(user_id, None), (other, 1)], key=lambda pair: pair[0])
    store.finish_deferred = lambda: None
    for opt_out, then in ((True, hidden), (False, before)):
        build.do(store, "PATCH", "/api/users/profile", {"ratingsOptOut": opt_out}, by=user_id)
        follow_accounts.run(store, build.NOW)
        assert ranks(store) == then
        # Once more changes nothing.
        with store.write() as transaction:
            rating_days.settle_rank(transaction.connection, user_id)
        assert ranks(store) == then


@pytest.mark.both_databases
def test_a_slice_of_another_process_is_not_done_twice(store: Store) -> None:
    user_id, ids = a_regular(store)
    store.finish_deferred = lambda: None
    rename(store, user_id)
    with store.read() as db:
        pending = pending_announcements.first_pending(db)
        assert pending is not None
        waiting = tournaments.find_waiting(db, pending)
    let_some_follow(store, 1)
    before = revisions(store, ids)
    with store.write() as transaction:
        assert slices_of_tournaments.change_slice(transaction, waiting) is None
    assert revisions(store, ids) == before


def test_a_replayed_answer_waits_for_what_a_stopped_server_has_left(store: Store) -> None:
    user_id, ids = a_regular(store)
    store.finish_deferred = lambda: None
    before = revisions(store, ids)
    body = {"name": NEW}
    build.do(store, "PATCH", "/api/users/profile", body, by=user_id, key="once")
    store.finish_deferred = partial(announcing.finish_announcing, store)
    status, _, _ = build.do(store, "PATCH", "/api/users/profile", body, by=user_id, key="once")
    assert status == 200
    assert revisions(store, ids) == [revision + 1 for revision in before]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_change_that_is_not_shown_everywhere_is_not_acknowledged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_id, ids = a_regular(store)
    store.finish_deferred = lambda: None
    rename(store, user_id)
    before = revisions(store, ids)
    other = Store(str(store.url))
    with monkeypatch.context() as impatient, other.write(quiet=True):
        impatient.setattr(group_commit, "SQLITE_QUEUE_SECONDS", 0.02)
        with pytest.raises(announcing.ChangeNotShownEverywhere, match="is stored"):
            announcing.finish_announcing(store)
    other.close()
    follow_accounts.run(store, build.NOW)
    assert revisions(store, ids) == [revision + 1 for revision in before]


# Erasing


def a_large_world(store: Store) -> ErasedWorld:
    """The person who is everywhere, in seven more tournaments, one of them with labels."""
    world = a_world(store)
    for number in range(TOURNAMENTS):
        night = build.a_tournament(store)
        player_id = build.a_player(store, night.organizer_id, name="canary", claimed_by=world.user_id)
        labels = ["canary-later"] if number == 5 else []
        build.row(
            store,
            tables.entrant,
            tournament_id=night.tournament_id,
            player_id=player_id,
            place=9,
            labels=labels,
        )
        build.a_game(store, night.tournament_id, [player_id, night.player_ids[0]])
    return world


def switch_off(store: Store, user_id: int) -> None:
    with store.write() as transaction:
        accounts.erase_account(transaction, user_id)


@pytest.mark.both_databases
def test_a_person_in_many_tournaments_leaves_no_trace(store: Store) -> None:
    world = a_large_world(store)
    store.finish_deferred = partial(announcing.finish_announcing, store)
    switch_off(store, world.user_id)
    # As after any erasing: places that are erased while they are read.
    assert {where.partition(".")[0] for where in traces(store)} == {"journal", "idempotency", "site_value"}
    with store.read() as db:
        ids = tables.tournament.c.tournament_id
        # The journal of the night is made up.
        for tournament_id in db.execute(select(ids).where(ids != world.night.tournament_id)).scalars().all():
            assert verifier.verify_tournament(db, tournament_id).faults == []


def test_what_was_exported_while_tournaments_followed_is_exported_again(store: Store) -> None:
    world = a_large_world(store)
    store.finish_deferred = lambda: None
    switch_off(store, world.user_id)
    with store.read() as db:
        count = hidings.hiding_count(db)
    follow_accounts.run(store, build.NOW)
    with store.read() as db:
        assert hidings.hiding_count(db) == count + 1


def state(store: Store) -> list[tuple[str, str]]:
    """Everything in the database but what a second try may count or draw anew."""
    return sorted(line for line in everything(store) if not line[0].startswith(VOLATILE))


def _copy(database: Path, name: str) -> str:
    copy = database.with_name(name)
    shutil.copy(database, copy)
    return f"sqlite:///{copy}"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_killed_between_any_two_slices_it_ends_as_if_it_had_not_been(store: Store) -> None:
    world = a_large_world(store)
    database = Path(str(store.url.database))
    with store.engine.connect() as db:
        db.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    at_once = Store(_copy(database, "at_once.db"))
    switch_off(at_once, world.user_id)
    in_one_transaction = state(at_once)
    at_once.close()
    store.finish_deferred = lambda: None
    switch_off(store, world.user_id)
    with store.engine.connect() as db:
        db.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    whole = Store(_copy(database, "whole.db"))
    announcing.finish_announcing(whole)
    expected = state(whole)
    whole.close()
    # A tournament with announcements is raised at once, and again when it follows.
    assert [line for line in expected if line[0] != "tournament.revision"] == [
        line for line in in_one_transaction if line[0] != "tournament.revision"
    ]
    killed = 0
    for slices_left in range(1, 9):
        url = _copy(database, f"killed_{slices_left}.db")
        program = subprocess.run([sys.executable, "-c", KILLED_AFTER, url, str(slices_left)], check=False)
        killed += program.returncode == -signal.SIGKILL
        again = Store(url)
        follow_accounts.run(again, build.NOW)
        assert state(again) == expected
        again.close()
    assert killed >= 5
