"""silverball migrate"""

import click

from silverball import settings


@click.command()
def migrate() -> None:
    """Bring the database to the schema of this version."""
    from silverball.store import migrate as schema
    from silverball.store.engine import Store

    store = Store(settings.load().database_url)
    try:
        click.echo(f"The database has schema {schema.migrate(store)}.")
    except schema.NewerSchema as error:
        raise click.ClickException(str(error)) from error
    finally:
        store.close()
