"""Downloads of an account's data, which the audit log counts."""

from datetime import datetime

from silverball.store.database.engine import Store
from silverball.store.people import audit


def note_download(store: Store, user_id: int, source: str, now: datetime) -> None:
    """Count that the data of this account was downloaded, from this address."""
    with store.write(quiet=True) as transaction:
        audit.count(transaction.connection, "data-exported", at=now, user_id=user_id, source=source)
