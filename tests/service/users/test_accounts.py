"""Accounts and their passwords. Source: the rules of service/users/writes.py."""

import pytest
from sqlalchemy import select

import build
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.service.accounts import reads as accounts_reads
from silverball.service.users import writes
from silverball.store import tables
from silverball.store.database.engine import Store


def create(store: Store, **values: str) -> int:
    given = {"name": "Ada Quill", "email": "ada@silverball.test", "role": "organizer", **values}
    with store.write() as transaction:
        return writes.create_user(transaction.connection, now=build.NOW, **given)


def test_a_new_account_has_a_lower_case_email_and_no_password(store: Store) -> None:
    user_id = create(store, email=" Ada@Silverball.TEST ", name="  Ada Quill ")
    with store.read() as db:
        row = db.execute(select(tables.user).where(tables.user.c.user_id == user_id)).mappings().one()
    assert (row["name"], row["email"], row["role"]) == ("Ada Quill", "ada@silverball.test", "organizer")
    assert row["password_hash"] is None
    assert row["created_at"] == build.NOW


@pytest.mark.parametrize(
    ("values", "field", "sentence"),
    [
        ({"name": " "}, "name", "The name field is required."),
        ({"name": "x" * 101}, "name", "The name field must not be greater than 100 characters."),
        ({"name": "a\x1bb"}, "name", "The name field must not have line breaks or control characters."),
        ({"email": ""}, "email", "The email field must be a valid email address."),
        ({"email": "ada"}, "email", "The email field must be a valid email address."),
        ({"email": "a b@c.test"}, "email", "The email field must be a valid email address."),
        ({"email": "a\x00@c.test"}, "email", "The email field must be a valid email address."),
        (
            {"email": "a" * 250 + "@c.test"},
            "email",
            "The email field must not be greater than 254 characters.",
        ),
        ({"role": "owner"}, "role", "The selected role is invalid."),
    ],
)
def test_an_account_with_a_fault_is_refused_by_field(
    store: Store, values: dict[str, str], field: str, sentence: str
) -> None:
    with pytest.raises(Invalid) as refused:
        create(store, **values)
    assert refused.value.errors == {field: [sentence]}


def test_an_email_belongs_to_one_account_in_any_case(store: Store) -> None:
    create(store)
    with pytest.raises(Invalid, match="already been taken"):
        create(store, email="ADA@silverball.test")
    with store.read() as db:
        assert len(db.execute(select(tables.user)).all()) == 1


@pytest.mark.both_databases
def test_only_an_account_with_an_email_can_have_a_password(store: Store) -> None:
    placeholder = build.a_user(store, placeholder=True)
    with pytest.raises(NotFound), store.write() as transaction:
        writes.set_password(transaction.connection, 404, "hash")
    with pytest.raises(Conflict, match="cannot sign in"), store.write() as transaction:
        writes.set_password(transaction.connection, placeholder, "hash")
    with store.read() as db:
        assert db.execute(select(tables.user.c.password_hash)).scalars().all() == [None]


@pytest.mark.both_databases
def test_an_outdated_hash_is_renewed_only_while_it_is_the_current_one(store: Store) -> None:
    user_id = create(store)
    with store.write() as transaction:
        writes.set_password(transaction.connection, user_id, "first")
        writes.rehash_password(transaction.connection, user_id, old="first", new="second")
        writes.rehash_password(transaction.connection, user_id, old="first", new="third")
    with store.read() as db:
        found = accounts_reads.find_credentials(db, "ada@silverball.test")
    assert found == accounts_reads.Credentials(user_id, "second")
