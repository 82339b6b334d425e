"""What was raised is known: at once in this process, within a second in every other."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import delete, update

import build
from silverball.store import revisions, tables
from silverball.store.engine import Commit, Store
from silverball.store.revisions import RETRY_SECONDS, Revisions
from silverball.store.transaction import Transaction

NOTICED_WITHIN_SECONDS = 1.0
RAISE_IN_ANOTHER_PROCESS_SCRIPT = """
import sys
from silverball.store import revisions
from silverball.store.engine import Store
with Store(sys.argv[1]).write() as db:
    revisions.raise_tournaments(db, [int(sys.argv[2])])
"""


@pytest.fixture
def known(store: Store) -> Iterator[Revisions]:
    """What this process knows, kept up to date by its watcher."""
    opened = Revisions(store)
    opened.start()
    yield opened
    opened.close()


def is_true_within_a_second(question: Callable[[], bool]) -> bool:
    until = time.monotonic() + NOTICED_WITHIN_SECONDS
    while time.monotonic() < until:
        if question():
            return True
        time.sleep(0.01)
    return False


def test_an_own_commit_is_known_before_the_writer_goes_on(store: Store, known: Revisions) -> None:
    night = build.a_tournament(store)
    before, world = known.refresh(night.tournament_id), known.known_revision(0)
    with store.write(night.tournament_id) as transaction:
        assert revisions.raise_tournaments(transaction, [night.tournament_id]) == {
            night.tournament_id: before + 1
        }
        # Nobody may learn of it before it is committed.
        assert known.known_revision(night.tournament_id) == before
    assert known.known_revision(night.tournament_id) == before + 1
    assert known.known_revision(0) == world + 1 == store.world_revision()


def test_a_write_that_fails_raises_nothing(store: Store, known: Revisions) -> None:
    night = build.a_tournament(store)
    before, world = known.refresh(night.tournament_id), known.known_revision(0)
    with pytest.raises(RuntimeError), store.write() as transaction:
        revisions.raise_tournaments(transaction, [night.tournament_id])
        raise RuntimeError
    assert (known.known_revision(night.tournament_id), known.known_revision(0)) == (before, world)
    assert known.refresh(night.tournament_id) == before


def test_a_commit_of_another_process_is_noticed_within_a_second(store: Store, known: Revisions) -> None:
    night = build.a_tournament(store)
    before = known.refresh(night.tournament_id)
    url = store.url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", RAISE_IN_ANOTHER_PROCESS_SCRIPT, url, str(night.tournament_id)]
    subprocess.run(command, check=True)
    assert is_true_within_a_second(lambda: known.known_revision(night.tournament_id) == before + 1)


def test_a_commit_of_a_second_store_in_between_own_ones_is_not_lost(store: Store, known: Revisions) -> None:
    nights = [build.a_tournament(store) for _ in range(2)]
    before = [known.refresh(night.tournament_id) for night in nights]
    other = Store(store.url.render_as_string(hide_password=False))
    with other.write() as transaction:
        revisions.raise_tournaments(transaction, [nights[0].tournament_id])
    with store.write() as transaction:
        revisions.raise_tournaments(transaction, [nights[1].tournament_id])
    other.close()
    assert known.known_revision(nights[1].tournament_id) == before[1] + 1
    assert is_true_within_a_second(lambda: known.known_revision(nights[0].tournament_id) == before[0] + 1)


def test_a_tournament_that_was_deleted_elsewhere_is_forgotten(store: Store, known: Revisions) -> None:
    night = build.a_tournament(store)
    assert known.refresh(night.tournament_id) > 0
    other = Store(store.url.render_as_string(hide_password=False))
    with other.write() as transaction:
        transaction.connection.execute(
            delete(tables.tournament).where(tables.tournament.c.tournament_id == night.tournament_id)
        )
    other.close()
    assert is_true_within_a_second(lambda: known.known_revision(night.tournament_id) == 0)
    assert known.refresh(night.tournament_id) == 0


def test_the_watcher_outlives_a_fault_of_the_database(
    store: Store, known: Revisions, caplog: pytest.LogCaptureFixture
) -> None:
    night = build.a_tournament(store)
    before = known.refresh(night.tournament_id)
    with store.migration() as db:
        db.exec_driver_sql("ALTER TABLE world RENAME TO gone")
    assert is_true_within_a_second(lambda: "cannot ask the database" in caplog.text)
    with store.migration() as db:
        db.exec_driver_sql("ALTER TABLE gone RENAME TO world")
    other = Store(store.url.render_as_string(hide_password=False))
    with other.write() as transaction:
        revisions.raise_tournaments(transaction, [night.tournament_id])
    other.close()
    until = time.monotonic() + RETRY_SECONDS + NOTICED_WITHIN_SECONDS
    while known.known_revision(night.tournament_id) == before and time.monotonic() < until:
        time.sleep(0.01)
    assert known.known_revision(night.tournament_id) == before + 1


def test_a_tournament_nobody_asked_for_and_one_that_does_not_exist_have_no_revision(
    store: Store, known: Revisions
) -> None:
    night = build.a_tournament(store)
    assert known.known_revision(night.tournament_id) == 0
    assert known.refresh(2**63 - 1) == 0


def test_a_quiet_write_makes_no_answer_worthless(store: Store, known: Revisions) -> None:
    user_id = build.a_user(store)
    told: list[Commit] = []
    store.after_commit.append(told.append)
    world = known.known_revision(0)
    with store.write(quiet=True) as transaction:
        transaction.connection.execute(
            update(tables.user).where(tables.user.c.user_id == user_id).values(name="Bo")
        )
    assert told == []
    assert known.known_revision(0) == store.world_revision() == world


def _tournaments_and_their_things(store: Store) -> tuple[dict[str, int], dict[str, int]]:
    """Tournaments by what is in them, and the things; every thing is in exactly one."""
    things = {"user": build.a_user(store), "keeper": build.a_user(store), "claimer": build.a_user(store)}
    things["player"] = build.a_player(store, things["user"])
    things["claimed"] = build.a_player(store, things["user"], claimed_by=things["claimer"])
    things["arena"] = build.an_arena(store, things["user"])
    things["played"] = build.an_arena(store, things["user"])
    things["location"] = build.row(store, tables.location, organizer_id=things["user"])
    things["series"] = build.row(store, tables.series, organizer_id=things["user"])
    nights = {
        name: build.a_tournament(store, players=2, arenas=0, **values)
        for name, values in {
            "organized": {"organizer_id": things["user"]},
            "kept": {},
            "claimed": {},
            "player": {},
            "arena": {},
            "played": {},
            "location": {"location_id": things["location"]},
            "series": {"series_id": things["series"]},
        }.items()
    }
    ids = {name: night.tournament_id for name, night in nights.items()}
    build.row(store, tables.scorekeeper, tournament_id=ids["kept"], user_id=things["keeper"])
    for name in ("player", "claimed"):
        build.row(store, tables.entrant, tournament_id=ids[name], player_id=things[name], place=9)
    build.row(store, tables.lineup_arena, tournament_id=ids["arena"], arena_id=things["arena"])
    build.a_game(store, ids["played"], nights["played"].player_ids, arena_id=things["played"])
    return ids, things


@pytest.mark.parametrize(
    ("raise_for", "thing", "raised"),
    [
        (revisions.raise_for_users, "user", "organized"),
        (revisions.raise_for_users, "keeper", "kept"),
        (revisions.raise_for_users, "claimer", "claimed"),
        (revisions.raise_for_players, "player", "player"),
        (revisions.raise_for_players, "claimed", "claimed"),
        (revisions.raise_for_arenas, "arena", "arena"),
        (revisions.raise_for_arenas, "played", "played"),
        (revisions.raise_for_locations, "location", "location"),
        (revisions.raise_for_series, "series", "series"),
    ],
)
def test_a_change_of_a_shared_thing_raises_the_tournaments_that_show_it_and_no_others(
    store: Store, raise_for: Callable[[Transaction, list[int]], dict[int, int]], thing: str, raised: str
) -> None:
    ids, things = _tournaments_and_their_things(store)
    before = store.tournament_revisions(list(ids.values()))
    with store.write() as transaction:
        told = raise_for(transaction, [things[thing]])
    after = store.tournament_revisions(list(ids.values()))
    assert told == {ids[raised]: before[ids[raised]] + 1}
    assert after == {**before, **told}
