"""silverball config: the settings that hold, and whence they come."""

import click
import msgspec

from silverball import settings
from silverball.cli import database


@click.command()
@database.json_option
def config(*, as_json: bool) -> None:
    """Print the settings that hold, and whence they come. Passwords are shown as ***.

    It changes nothing, and reads what root may read when root asks.
    """
    listed = settings.in_use()
    for sentence in settings.warnings():
        click.echo(f"Warning: {sentence}", err=True)
    if as_json:
        database.print_json([msgspec.structs.asdict(setting) for setting in listed])
        return
    rows = [(setting.name, setting.value or "(empty)", setting.origin) for setting in listed]
    database.print_table([("SETTING", "VALUE", "FROM"), *rows])
