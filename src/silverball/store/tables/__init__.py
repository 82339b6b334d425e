"""Every table, by name: `from silverball.store import tables`, then `tables.arena.c.name`."""

# A table is named where it is defined, and nowhere else.
from silverball.store.tables.base import metadata as metadata
from silverball.store.tables.book import *  # noqa: F403
from silverball.store.tables.operation import *  # noqa: F403
from silverball.store.tables.people import *  # noqa: F403
from silverball.store.tables.play import *  # noqa: F403
from silverball.store.tables.ratings import *  # noqa: F403
