"""The environment of Alembic: our metadata over the connection that `store/database/migrate.py` passes."""

from alembic import context
from sqlalchemy import Connection

from silverball.store import tables

connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=tables.metadata, render_as_batch=True)
context.run_migrations()
