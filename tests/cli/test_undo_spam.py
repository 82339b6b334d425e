"""`silverball user undo-spam`: what an account made is gone, nothing of others. Source: issue 13, item 9."""

from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import func, select

import build
from silverball.cli.main import silverball_group
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.fixture
def spammer(store: Store) -> int:
    return build.a_user(store, name="Sam Spam", role="organizer")


def undo(store: Store, user_id: int, *words: str, given: str | None = None) -> Result:
    url = store.url.render_as_string(hide_password=False)
    runner = CliRunner(env={"SILVERBALL_DATABASE_URL": url})
    return runner.invoke(silverball_group, ["user", "undo-spam", str(user_id), *words], input=given)


def ids(store: Store, table: Any, owner: int, owner_name: str = "organizer_id") -> list[int]:
    (key,) = table.primary_key.columns
    with store.read() as db:
        return list(db.execute(select(key).where(table.c[owner_name] == owner).order_by(key)).scalars())


def rows_of_others(store: Store, spammer: int) -> dict[str, list[Any]]:
    """Return what belongs to other accounts."""
    found: dict[str, list[Any]] = {}
    with store.read() as db:
        for table in (tables.tournament, tables.player, tables.arena, tables.series, tables.location):
            rows = select(table).where(table.c.organizer_id != spammer)
            found[table.name] = [tuple(row) for row in db.execute(rows)]
    return found


@pytest.mark.both_databases
def test_all_that_the_account_made_is_deleted_and_nothing_of_others(store: Store, spammer: int) -> None:
    for _ in range(3):
        build.a_tournament(store, organizer_id=spammer)
    build.row(store, tables.club, user_id=spammer, name="Cheap Pills")
    other = build.a_tournament(store)
    claimed = build.a_player(store, other.organizer_id)
    build.row(store, tables.claim, player_id=claimed, user_id=spammer, at=build.NOW)
    before = rows_of_others(store, spammer)
    done = undo(store, spammer, "--yes")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Deleted 3 tournaments and ")
    for table in (tables.tournament, tables.player, tables.arena):
        assert ids(store, table, spammer) == []
    assert ids(store, tables.club, spammer, "user_id") == []
    assert rows_of_others(store, spammer) == before
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.claim)).scalar_one() == 0
        suspended = select(tables.user.c.suspended_at).where(tables.user.c.user_id == spammer)
        assert db.execute(suspended).scalar_one() is not None
        entry = tables.audit_entry.c
        events = db.execute(select(entry.event).order_by(entry.audit_entry_id)).scalars().all()
    assert events == ["account-suspended", "account-cleaned"]


@pytest.mark.both_databases
def test_what_others_use_stays_and_is_counted(store: Store, spammer: int) -> None:
    location = build.row(store, tables.location, organizer_id=spammer)
    build.a_tournament(store, location_id=location)
    done = undo(store, spammer, "--yes")
    assert "Others use the rest: tournaments none, and 1 rows of the book." in done.stdout
    assert ids(store, tables.location, spammer) == [location]


def test_a_tournament_that_somebody_links_to_stays(store: Store, spammer: int) -> None:
    night, other = build.a_tournament(store, organizer_id=spammer), build.a_tournament(store)
    link = {"tournament_id": other.tournament_id, "linked_tournament_id": night.tournament_id}
    build.row(store, tables.tournament_link, **link, place=0, link_type="playoffs", shown={})
    done = undo(store, spammer, "--yes")
    assert f"Others use the rest: tournaments {night.tournament_id}, and" in done.stdout
    assert ids(store, tables.tournament, spammer) == [night.tournament_id]


def test_it_asks_first_and_can_be_given_again(store: Store, spammer: int) -> None:
    build.a_tournament(store, organizer_id=spammer)
    declined = undo(store, spammer, given="n\n")
    assert declined.exit_code == 1
    assert len(ids(store, tables.tournament, spammer)) == 1
    assert undo(store, spammer, given="y\n").exit_code == 0
    again = undo(store, spammer, "--yes")
    assert (again.exit_code, again.stdout) == (0, "Deleted 0 tournaments and 0 rows of the book.\n")


def test_an_unknown_account_is_a_sentence(store: Store) -> None:
    done = undo(store, 999, "--yes")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "There is no user 999." in done.stderr
