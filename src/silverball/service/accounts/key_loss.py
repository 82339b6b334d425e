"""Give up the secrets of a lost key: say which they are, and go on with a new key."""

from datetime import datetime, timedelta
from random import Random

from silverball.kit.errors import Conflict
from silverball.service.accounts.writes import sessions
from silverball.service.moving import writes as moving
from silverball.service.users import writes as users
from silverball.service.webhooks import writes as webhooks
from silverball.store.database.engine import Db, Store
from silverball.store.people import audit, encryption, site_values
from silverball.store.people.encryption import LostSecrets

# The site's value with the moment at which a server had the key in use.
KEY_HELD_AT = "encryption-key-held-at"
HELD_WITHIN = timedelta(minutes=1)


class KeyIsThere(Conflict):
    sentence = "Nothing is lost: the key that the secrets need is in the key file."


class KeyHeldElsewhere(Conflict):
    sentence = (
        "Another server of this site had the key {seconds} seconds ago. Copy its key file here, or stop it"
        " and wait a minute."
    )


def note_key(store: Store, now: datetime) -> None:
    """Note that this server has the key in use, where several may share a database."""
    with store.read() as db:
        fingerprint = encryption.fingerprint_in_use(db)
    if fingerprint is None or fingerprint not in store.key_file.fingerprints():
        return
    with store.write(quiet=True) as transaction:
        site_values.note_site_value(transaction.connection, KEY_HELD_AT, now.isoformat())


def find_lost(db: Db) -> LostSecrets:
    """The secrets that are lost with the key that is not there. Raises KeyIsThere."""
    if encryption.missing_key(db) is None:
        raise KeyIsThere
    return encryption.count_unreadable(db)


def forget_key(store: Store, now: datetime, dice: Random) -> str:
    """Give up what is lost, and return the fingerprint of the key that is used from now on.

    Who had two-step sign-in keeps its duty: a recovery code lets them in, no code of an app does. Raises
    KeyIsThere, KeyHeldElsewhere, NoEncryptionKey and KeyFileUnusable.
    """
    with store.write(quiet=True) as transaction:
        db = transaction.connection
        lost = find_lost(db)
        noted = site_values.find_site_value(db, KEY_HELD_AT)
        held = None if noted is None else now - datetime.fromisoformat(noted)
        if held is not None and held < HELD_WITHIN:
            raise KeyHeldElsewhere(seconds=max(0, int(held.total_seconds())))
        fingerprint = encryption.begin_anew(db)
        webhooks.replace_lost_secrets(db, now, dice)
        users.end_lost_codes(db, now)
        sessions.replace_lost_secrets(db, dice)
        moving.end_lost_pulls(db, now)
        detail = ", ".join(f"{name} {getattr(lost, name)}" for name in LostSecrets.__struct_fields__)
        audit.record(
            db,
            "encryption-key-forgotten",
            at=now,
            user_id=None,
            source=audit.COMMAND_LINE,
            detail=detail,
        )
    return fingerprint
