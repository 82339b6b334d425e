"""Secrets at rest: encrypted with a key outside the database, replaced while two nodes run."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import delete, insert, select, text

import build
from silverball.kit.security.encryption import (
    EncryptionKeyUnknown,
    KeyFileUnusable,
    NoEncryptionKey,
    fingerprint_of,
)
from silverball.service.accounts.writes import sessions
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import encryption
from silverball.store.people.encryption import OldKeysInUse
from silverball.store.tables import audit_entry, device

pytestmark = pytest.mark.both_databases

SECRET = "the secret that codes are derived from"


@dataclass(frozen=True)
class TwoNodes:
    """Two nodes on one database, each with a key file of its own machine."""

    here: Store
    there: Store

    def give_key_file(self) -> None:
        """Copy the file of the first machine to the second."""
        assert self.here.key_file.path is not None
        assert self.there.key_file.path is not None
        shutil.copy(self.here.key_file.path, self.there.key_file.path)


@pytest.fixture
def nodes(store: Store, tmp_path: Path) -> Iterator[TwoNodes]:
    there = Store(store.url.render_as_string(hide_password=False), tmp_path / "there.secret")
    there.key_file.may_make = False
    nodes = TwoNodes(store, there)
    encryption.open_keys(store)
    nodes.give_key_file()
    yield nodes
    there.close()


def store_secrets(store: Store, *secrets: str, is_plain: bool = False) -> int:
    tournament_id = build.a_tournament(store).tournament_id
    with store.write() as transaction:
        db = transaction.connection
        for secret in secrets:
            stored = secret if is_plain else encryption.encrypt(db, secret)
            values = {"tournament_id": tournament_id, "kind": "codes", "name": "Codes"}
            db.execute(insert(device).values(**values, secret=stored, created_at=build.NOW))
    return tournament_id


def stored_values(store: Store) -> list[str]:
    with store.read() as db:
        return list(db.execute(select(device.c.secret).order_by(device.c.device_id)).scalars())


def read_secrets(store: Store) -> list[str]:
    stored = stored_values(store)
    with store.read() as db:
        return [encryption.decrypt(db, each) for each in stored]


def test_a_secret_is_encrypted_differently_each_time_and_read_by_both_nodes(nodes: TwoNodes) -> None:
    store_secrets(nodes.here, SECRET, SECRET)
    store_secrets(nodes.there, SECRET)
    stored = stored_values(nodes.here)
    assert len(set(stored)) == 3
    assert not [each for each in stored if SECRET in each]
    assert read_secrets(nodes.here) == read_secrets(nodes.there) == [SECRET] * 3


def test_the_database_holds_the_fingerprint_and_never_the_key(nodes: TwoNodes) -> None:
    (key,) = nodes.here.key_file.keys()
    with nodes.here.read() as db:
        rows = db.execute(text("SELECT name, value FROM site_value")).all()
    kept = {row.name: row.value for row in rows}
    assert kept[encryption.FINGERPRINT] == key.fingerprint
    assert not any(key.text in value for value in kept.values())
    assert key.fingerprint not in key.text
    assert key.text not in repr(key)


def test_the_key_file_is_for_its_owner_only(nodes: TwoNodes) -> None:
    path = nodes.here.key_file.path
    assert path is not None
    assert path.stat().st_mode & 0o777 == 0o600
    nodes.here.key_file.add()
    assert path.stat().st_mode & 0o777 == 0o600
    assert not list(path.parent.glob(".*.part"))


def test_a_node_with_another_key_opens_without_it_and_makes_none(nodes: TwoNodes) -> None:
    store_secrets(nodes.here, SECRET)
    (key,) = nodes.here.key_file.keys()
    assert nodes.there.key_file.path is not None
    nodes.there.key_file.path.unlink()
    nodes.there.key_file.make()
    for is_missing in (False, True):
        if is_missing:
            nodes.there.key_file.path.unlink()
        reason = encryption.open_keys(nodes.there)
        assert isinstance(reason, EncryptionKeyUnknown)
        assert "not in this server's key file" in str(reason)
        assert missing_on(nodes.there) == key.fingerprint
    nodes.there.key_file.may_make = True
    assert isinstance(encryption.open_keys(nodes.there), EncryptionKeyUnknown)
    assert not nodes.there.key_file.path.exists()
    with pytest.raises(EncryptionKeyUnknown):
        store_secrets(nodes.there, SECRET)
    assert missing_on(nodes.here) is None
    nodes.give_key_file()
    assert missing_on(nodes.there) is None
    assert read_secrets(nodes.there) == [SECRET]


def missing_on(store: Store) -> str | None:
    with store.read() as db:
        return encryption.missing_key(db)


def test_no_key_is_made_where_the_database_forgot_which_it_was(nodes: TwoNodes) -> None:
    store_secrets(nodes.here, SECRET)
    with nodes.here.write() as transaction:
        transaction.connection.execute(delete(tables.site_value))
    assert nodes.here.key_file.path is not None
    nodes.here.key_file.path.unlink()
    assert isinstance(encryption.open_keys(nodes.here), EncryptionKeyUnknown)
    assert not nodes.here.key_file.path.exists()


def test_a_lost_key_that_nothing_is_encrypted_with_is_replaced(nodes: TwoNodes) -> None:
    assert nodes.here.key_file.path is not None
    nodes.here.key_file.path.unlink()
    assert encryption.open_keys(nodes.here) is None
    store_secrets(nodes.here, SECRET)
    assert read_secrets(nodes.here) == [SECRET]


def test_without_a_key_nothing_is_stored(store: Store) -> None:
    store.key_file.may_make = False
    assert isinstance(encryption.open_keys(store), NoEncryptionKey)
    with pytest.raises(NoEncryptionKey, match="silverball secret"):
        store_secrets(store, SECRET)
    assert stored_values(store) == []


def test_a_file_of_something_else_is_no_key(store: Store) -> None:
    assert store.key_file.path is not None
    store.key_file.path.write_text("correct horse\n")
    reason = encryption.open_keys(store)
    assert isinstance(reason, KeyFileUnusable)
    assert "something else" in str(reason)


def test_what_an_older_version_stored_in_plain_is_read_and_then_encrypted(store: Store) -> None:
    secrets = [f"plain {number}" for number in range(encryption.SLICE + 1)]
    store_secrets(store, *secrets, is_plain=True)
    assert read_secrets(store) == secrets
    encryption.open_keys(store)
    assert read_secrets(store) == secrets
    assert None not in map(fingerprint_of, stored_values(store))


def test_the_key_is_replaced_while_two_nodes_run(nodes: TwoNodes) -> None:
    store_secrets(nodes.here, "one", "two")
    store_secrets(nodes.there, "three")
    old = nodes.here.key_file.newest().fingerprint
    new = encryption.add_key(nodes.here)
    # A new key is used from the rotation on, so that it can be given to every node before.
    store_secrets(nodes.here, "four")
    assert {fingerprint_of(each) for each in stored_values(nodes.here)} == {old}
    nodes.give_key_file()
    assert encryption.rotate(nodes.here, build.NOW) == 4
    assert {fingerprint_of(each) for each in stored_values(nodes.here)} == {new}
    store_secrets(nodes.there, "five")
    everything = ["one", "two", "three", "four", "five"]
    assert read_secrets(nodes.here) == read_secrets(nodes.there) == everything
    assert {fingerprint_of(each) for each in stored_values(nodes.here)} == {new}
    assert encryption.drop_old_keys(nodes.here) == 1
    nodes.give_key_file()
    assert encryption.open_keys(nodes.there) is None
    assert read_secrets(nodes.there) == everything
    with nodes.here.read() as db:
        entry = db.execute(select(audit_entry.c.event, audit_entry.c.source, audit_entry.c.detail)).one()
    assert tuple(entry) == ("encryption-key-changed", "command line", new)


def test_a_node_that_was_not_given_the_new_key_refuses_and_changes_nothing(nodes: TwoNodes) -> None:
    store_secrets(nodes.here, SECRET)
    encryption.add_key(nodes.here)
    encryption.rotate(nodes.here, build.NOW)
    with pytest.raises(EncryptionKeyUnknown):
        read_secrets(nodes.there)
    with pytest.raises(EncryptionKeyUnknown):
        store_secrets(nodes.there, "another")
    assert len(stored_values(nodes.here)) == 1
    nodes.give_key_file()
    assert read_secrets(nodes.there) == [SECRET]


def test_a_rotation_that_was_cut_off_goes_on(nodes: TwoNodes) -> None:
    store_secrets(nodes.here, "one", "two")
    before = stored_values(nodes.here)
    encryption.add_key(nodes.here)
    encryption.rotate(nodes.here, build.NOW)
    # As if it had stopped after the first value.
    with nodes.here.write() as transaction:
        row = device.update().where(device.c.device_id == 2).values(secret=before[1])
        transaction.connection.execute(row)
    with pytest.raises(OldKeysInUse, match="1 secrets"):
        encryption.drop_old_keys(nodes.here)
    assert read_secrets(nodes.here) == ["one", "two"]
    assert encryption.rotate(nodes.here, build.NOW) == 1
    assert encryption.drop_old_keys(nodes.here) == 1
    assert read_secrets(nodes.here) == ["one", "two"]


def test_the_secrets_of_two_step_sign_ins_are_encrypted_anew_too(nodes: TwoNodes) -> None:
    user_id = build.a_user(nodes.here)
    with nodes.here.write() as transaction:
        secret = sessions.begin(transaction.connection, user_id, now=build.NOW, dice=Random(7))
    new = encryption.add_key(nodes.here)
    nodes.give_key_file()
    assert encryption.rotate(nodes.here, build.NOW) == 1
    encryption.drop_old_keys(nodes.here)
    with nodes.there.read() as db:
        stored = db.execute(select(tables.two_step.c.secret)).scalar_one()
        assert fingerprint_of(stored) == new
        assert sessions.unconfirmed_secret(db, user_id) == secret


def test_every_column_of_secrets_is_found_by_the_rotation() -> None:
    columns = {table.c.secret for table in tables.metadata.sorted_tables if "secret" in table.c}
    # Codes of a door have to work on a site without a key, and are on its printed sheets.
    assert columns - {tables.code_secret.c.secret} == {column for _, column in encryption.ENCRYPTED}


def test_a_changed_value_is_not_read(nodes: TwoNodes) -> None:
    store_secrets(nodes.here, SECRET)
    (stored,) = stored_values(nodes.here)
    with nodes.here.read() as db, pytest.raises(EncryptionKeyUnknown):
        encryption.decrypt(db, stored[:-8] + "AAAAAAA=")
