"""Secrets that the program needs in plain again, encrypted in the database with a key outside it.

    encrypt(db, secret) -> the text for the column     decrypt(db, row.secret) -> the secret

The database holds the fingerprint of the key in use. While keys are replaced values of several keys are
there; what an older version stored in plain is read as it is until the next start has encrypted it. A
column with such values belongs in ENCRYPTED.
"""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Column, ColumnElement, Connection, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from silverball.kit.errors import Conflict, ServiceUnavailable
from silverball.kit.security import encryption
from silverball.kit.security.encryption import (
    EncryptionKey,
    EncryptionKeyUnknown,
    KeyFile,
    KeyFileUnusable,
    NoEncryptionKey,
)
from silverball.store.database.engine import Store
from silverball.store.people import audit
from silverball.store.tables import device, history_pull, site_value, two_step, webhook

# Name of the site's value that holds the fingerprint of the key in use.
FINGERPRINT = "encryption-key"
# Every column with secrets, and the key column of its table.
ENCRYPTED: tuple[tuple[Column[int], Column[str]], ...] = (
    (webhook.c.webhook_id, webhook.c.secret),
    (device.c.device_id, device.c.secret),
    (two_step.c.user_id, two_step.c.secret),
    (history_pull.c.history_pull_id, history_pull.c.secret),
)


class LostSecrets(Struct, frozen=True, kw_only=True):
    """How many secrets are lost with a key, in the order of ENCRYPTED."""

    webhooks: int
    printed_codes: int
    two_step: int
    pulls: int


# What a site does without while it lacks the key.
OFF_WITHOUT_KEY = (
    "Off without the key for secrets: webhooks (their messages wait), printed codes, codes of two-step"
    " sign-ins (recovery codes work), and moving with a stored token"
)
# Values encrypted in one transaction: other writers wait no longer than for that.
SLICE = 200


class OldKeysInUse(Conflict):
    sentence = "{count} secrets are encrypted with older keys still. Run `silverball secret rotate` first."


def encrypt(db: Connection, plain: str) -> str:
    """Encrypt a secret with the key in use, in a writing transaction.

    Raises NoEncryptionKey, EncryptionKeyUnknown and KeyFileUnusable.
    """
    return _key_in_use(db).encrypt(plain)


def decrypt(db: Connection, stored: str) -> str:
    """Decrypt what `encrypt` returned. Raises EncryptionKeyUnknown and KeyFileUnusable."""
    fingerprint = encryption.fingerprint_of(stored)
    return stored if fingerprint is None else _key_file(db).key(fingerprint).decrypt(stored)


def open_keys(store: Store) -> ServiceUnavailable | None:
    """Make a server ready to encrypt: with a key made here if it may be, and old values encrypted.

    Returns why secrets cannot be used where there is no key and none may be made, or the file does not have
    the key that the database's secrets are encrypted with. Everything else works without it.
    """
    try:
        with store.write(quiet=True) as transaction:
            db = transaction.connection
            if not store.key_file.keys() and not is_anything_encrypted(db):
                # A key that nothing is encrypted with may be lost.
                db.execute(delete(site_value).where(site_value.c.name == FINGERPRINT))
            _key_in_use(db)
        encrypt_leftovers(store)
    except (EncryptionKeyUnknown, KeyFileUnusable, NoEncryptionKey) as error:
        return error
    return None


def missing_key(db: Connection) -> str | None:
    """The fingerprint of the key that stored secrets need and the key file does not have; None with it."""
    fingerprint = fingerprint_in_use(db)
    if fingerprint is None or fingerprint in _key_file(db).fingerprints():
        return None
    return fingerprint if is_anything_encrypted(db) else None


def is_readable(db: Connection, column: Column[str]) -> ColumnElement[bool]:
    """Whether this process can read the values of a column: those in plain, and those of keys that it has."""
    known = (encryption.encrypted_prefix(fingerprint) for fingerprint in _key_file(db).fingerprints())
    return or_(
        column.is_(None), ~column.startswith(encryption.SCHEME), *(column.startswith(each) for each in known)
    )


def count_unreadable(db: Connection) -> LostSecrets:
    """How many secrets this process cannot read."""
    return LostSecrets(
        **{
            name: db.execute(
                select(func.count()).select_from(column.table).where(~is_readable(db, column))
            ).scalar_one()
            for name, (_, column) in zip(LostSecrets.__struct_fields__, ENCRYPTED, strict=True)
        }
    )


def begin_anew(db: Connection) -> str:
    """Use another key than the one that is lost, one that the file has or a new one; its fingerprint.

    Raises NoEncryptionKey where no place for the file is known, and KeyFileUnusable.
    """
    file = _key_file(db)
    key = file.newest() if file.keys() else file.make()
    db.execute(delete(site_value).where(site_value.c.name == FINGERPRINT))
    db.execute(insert(site_value).values(name=FINGERPRINT, value=key.fingerprint))
    return key.fingerprint


def add_key(store: Store) -> str:
    """Add a key to the file for the next rotation, and return its fingerprint.

    The key in use stays in use. Raises EncryptionKeyUnknown when the file does not have it.
    """
    with store.write(quiet=True) as transaction:
        _key_in_use(transaction.connection)
    return store.key_file.add().fingerprint


def rotate(store: Store, now: datetime) -> int:
    """Encrypt all secrets with the newest key of the file, and return the number of those that were not.

    A rotation that was cut off goes on where it was.
    """
    with store.write(quiet=True) as transaction:
        db = transaction.connection
        key, old = store.key_file.newest(), _key_in_use(db)
        if key != old:
            row = update(site_value).where(site_value.c.name == FINGERPRINT)
            # Whoever encrypts with the old key has finished when this row is written.
            db.execute(row.values(value=key.fingerprint))
            source, detail = audit.COMMAND_LINE, key.fingerprint
            audit.record(db, "encryption-key-changed", at=now, user_id=None, source=source, detail=detail)
    return encrypt_leftovers(store)


def drop_old_keys(store: Store) -> int:
    """Remove the keys that are not in use from the file, and return their number. Raises OldKeysInUse."""
    with store.write(quiet=True) as transaction:
        key = _key_in_use(transaction.connection)
        count = sum(
            transaction.connection.execute(
                select(func.count()).select_from(column.table).where(_is_left_over(column, key))
            ).scalar_one()
            for _, column in ENCRYPTED
        )
    if count:
        raise OldKeysInUse(count=count)
    return store.key_file.keep_only(key.fingerprint)


def encrypt_leftovers(store: Store) -> int:
    """Encrypt values in plain or of an older key with the key in use, in slices; return their number."""
    count = 0
    with store.write(quiet=True) as transaction:
        # Nearly every start finds none, by this one statement.
        if not _are_any_left_over(transaction.connection):
            return count
    for key_column, column in ENCRYPTED:
        while True:
            with store.write(quiet=True) as transaction:
                changed = _encrypt_slice(transaction.connection, key_column, column)
            count += changed
            if changed < SLICE:
                break
    return count


def fingerprint_in_use(db: Connection, *, to_write: bool = False) -> str | None:
    """The fingerprint of the key in use; None before the first one.

    `to_write` keeps others from replacing the key until the transaction ends.
    """
    row = select(site_value.c.value).where(site_value.c.name == FINGERPRINT)
    if to_write:
        row = row.with_for_update(read=True)
    return db.execute(row).scalar_one_or_none()


def is_anything_encrypted(db: Connection) -> bool:
    """Whether a value is stored that only a key can read."""
    return any(
        db.execute(select(column).where(column.startswith(encryption.SCHEME)).limit(1)).first()
        for _, column in ENCRYPTED
    )


def _encrypt_slice(db: Connection, key_column: Column[int], column: Column[str]) -> int:
    key = _key_in_use(db)
    rows = select(key_column, column).where(_is_left_over(column, key)).order_by(key_column).limit(SLICE)
    found = db.execute(rows.with_for_update()).all()
    for row_id, stored in found:
        row = update(column.table).where(key_column == row_id)
        db.execute(row.values({column: key.encrypt(decrypt(db, stored))}))
    return len(found)


def _are_any_left_over(db: Connection) -> bool:
    key = _key_in_use(db)
    left_over = (exists(column).where(_is_left_over(column, key)) for _, column in ENCRYPTED)
    return bool(db.execute(select(or_(*left_over))).scalar_one())


def _is_left_over(column: Column[str], key: EncryptionKey) -> ColumnElement[bool]:
    prefix = encryption.encrypted_prefix(key.fingerprint)
    return column.is_not(None) & ~column.startswith(prefix)


def _key_in_use(db: Connection) -> EncryptionKey:
    """The key in use, which nobody replaces until the transaction ends; a first one is chosen."""
    file = _key_file(db)
    fingerprint = fingerprint_in_use(db, to_write=True)
    if fingerprint is None:
        if is_anything_encrypted(db):
            # No key is made in the place of one that is lost.
            raise EncryptionKeyUnknown(fingerprint="unknown")
        newest = file.newest()
        try:
            with db.begin_nested():
                db.execute(insert(site_value).values(name=FINGERPRINT, value=newest.fingerprint))
        except IntegrityError:
            # Another node was faster.
            fingerprint = fingerprint_in_use(db, to_write=True)
        else:
            return newest
    return file.key(str(fingerprint))


def _key_file(db: Connection) -> KeyFile:
    file: KeyFile = db.get_execution_options()[encryption.KEYS]
    return file
