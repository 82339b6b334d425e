"""There is always an administrator who can sign in: with a password, not suspended, not deleted."""

from collections.abc import Callable
from threading import Barrier, Thread

import pytest
from sqlalchemy import select

import build
from silverball.kit.errors import NotAllowed, Refusal
from silverball.service.accounts import erasing, reads
from silverball.service.accounts.writes import accounts, links
from silverball.store.database.engine import Store
from silverball.store.tables import user

Act = Callable[[Store, int, int], object]


def an_administrator(store: Store, name: str, **values: object) -> int:
    sign_in = {"email": f"{name}@silverball.test", "password_hash": "x"}
    return build.a_user(store, name=name, role="admin", **{**sign_in, **values})


def demote(store: Store, by: int, user_id: int) -> None:
    act = links.AdminAct(user_id=by, source="203.0.113.7", now=build.NOW)
    with store.write() as transaction:
        links.change_role(transaction, user_id, "player", act)


def suspend(store: Store, by: int, user_id: int) -> None:
    with store.write() as transaction:
        accounts.suspend(transaction, user_id, now=build.NOW, by_user_id=by)


def suspend_in_the_shell(store: Store, _by: int, user_id: int) -> None:
    with store.write() as transaction:
        accounts.suspend(transaction, user_id, now=build.NOW)


def delete_own(store: Store, by: int, _user_id: int) -> None:
    erasing.erase_account(store, by, build.NOW)


def try_at_once(store: Store, *acts: tuple[Act, int, int]) -> list[type[Exception]]:
    """Do all of this at the same time, and return the refusals."""
    refusals: list[type[Exception]] = []
    start = Barrier(len(acts))

    def run(act: Act, by: int, user_id: int) -> None:
        start.wait()
        try:
            act(store, by, user_id)
        except Refusal as refusal:
            refusals.append(type(refusal))

    threads = [Thread(target=run, args=each) for each in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refusals


def who_can_administrate(store: Store) -> list[int]:
    able = (user.c.role == "admin", user.c.password_hash.is_not(None), user.c.suspended_at.is_(None))
    with store.read() as db:
        return list(db.execute(select(user.c.user_id).where(*able)).scalars())


@pytest.mark.both_databases
@pytest.mark.sample(3)
@pytest.mark.parametrize("second", [demote, suspend, suspend_in_the_shell, delete_own])
@pytest.mark.parametrize("first", [demote, suspend, suspend_in_the_shell, delete_own])
def test_of_two_administrators_who_end_each_other_at_once_one_stays(
    store: Store, first: Act, second: Act
) -> None:
    ada, bo = an_administrator(store, "ada"), an_administrator(store, "bo")
    # They cannot sign in, so they do not count.
    an_administrator(store, "cy", password_hash=None)
    an_administrator(store, "di", suspended_at=build.NOW)
    refusals = try_at_once(store, (first, ada, bo), (second, bo, ada))
    assert len(who_can_administrate(store)) == 1
    assert set(refusals) <= {NotAllowed, reads.LastAdmin}


@pytest.mark.both_databases
def test_who_is_no_administrator_any_more_changes_no_account(store: Store) -> None:
    ada, bo, cy = (an_administrator(store, name) for name in ("ada", "bo", "cy"))
    demote(store, ada, bo)
    for act in (demote, suspend):
        with pytest.raises(NotAllowed):
            act(store, bo, ada)
    suspend(store, ada, cy)
    with pytest.raises(NotAllowed), store.write() as transaction:
        accounts.unsuspend(transaction, cy, now=build.NOW, by_user_id=bo)
    assert who_can_administrate(store) == [ada]


def test_only_a_forced_command_suspends_the_last_administrator(store: Store) -> None:
    ada = an_administrator(store, "ada")
    with pytest.raises(reads.LastAdmin):
        suspend_in_the_shell(store, 0, ada)
    with store.write() as transaction:
        accounts.suspend(transaction, ada, now=build.NOW, is_forced=True)
    assert who_can_administrate(store) == []
