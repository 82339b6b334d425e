"""The number of times that somebody hid something or was erased: what was written before is out of date."""

from sqlalchemy import Connection, select, text

from silverball.store.tables import site_value
from silverball.store.transaction import Transaction

NAME = "hidings"
_COUNT_ONE_MORE = text(
    "INSERT INTO site_value (name, value) VALUES (:name, '1') ON CONFLICT (name) DO UPDATE"
    " SET value = CAST(CAST(site_value.value AS BIGINT) + 1 AS TEXT)"
)
_COUNT = select(site_value.c.value).where(site_value.c.name == NAME)


def note_hiding(transaction: Transaction) -> None:
    """Count a hiding. Called last, because until the commit nobody else can hide anything."""
    transaction.connection.execute(_COUNT_ONE_MORE, {"name": NAME})
    transaction.hides = True


def hiding_count(db: Connection) -> int:
    """The number of hidings as this connection sees it."""
    return int(db.execute(_COUNT).scalar_one_or_none() or 0)
