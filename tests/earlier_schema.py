"""Gives an empty database the tables of an earlier version, so that a test can upgrade it."""

from alembic import command
from alembic.config import Config

from silverball.store import migrate
from silverball.store.engine import Store


def upgrade(store: Store, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(migrate.FOLDER))
    with store.migration() as db:
        config.attributes["connection"] = db
        command.upgrade(config, revision)
