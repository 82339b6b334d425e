"""silverball migrate: the only way to update the tables of a PostgreSQL database."""

import click

from silverball.cli import database
from silverball.service.accounts import erasing
from silverball.store.database import migrate as database_migrate


@click.command()
@click.option(
    "--contract",
    is_flag=True,
    help="Also remove what only the version before needs; its nodes must be stopped.",
)
@database.no_backup_option
def migrate(*, contract: bool, no_backup: bool) -> None:
    """Bring the database to the schema of this version.

    Before its tables change, it is copied into the folder of backups.
    """
    with database.open_database(may_migrate=True, may_create=True, is_backed_up=not no_backup) as store:
        # Also where the tables are there already: their indexes may have become possible since.
        database_migrate.migrate(store)
        # A stopped server, or the version before, may have left some of it.
        erasing.finish_changes(store)
        click.echo("The database has the tables of this version.")
        if contract:
            database_migrate.contract(store)
            click.echo("What only earlier versions needed is removed; they can no longer be used with it.")
        with store.read() as db:
            problem = database_migrate.problem(db)
        if problem is not None:
            click.echo(problem)
