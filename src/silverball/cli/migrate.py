"""silverball migrate: the only way to update the tables of a PostgreSQL database."""

import click

from silverball.cli import database


@click.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""
    with database.open_database(may_migrate=True):
        click.echo("The database has the tables of this version.")
