"""Values of the whole site, by name: what all nodes and commands of one database know."""

from sqlalchemy import Connection, select

from silverball.store.database.statements import insert_into
from silverball.store.tables import site_value


def find_site_value(db: Connection, name: str) -> str | None:
    """The value of this name; None when nobody noted it."""
    return db.execute(select(site_value.c.value).where(site_value.c.name == name)).scalar_one_or_none()


def note_site_value(db: Connection, name: str, value: str) -> None:
    """Note the value of this name, in the place of an earlier one."""
    new = insert_into(db, site_value).values(name=name, value=value)
    db.execute(new.on_conflict_do_update(index_elements=["name"], set_={"value": value}))
