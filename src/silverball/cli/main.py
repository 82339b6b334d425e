"""The command `silverball`. A command's module is loaded when it is called, so help is quick."""

import gc
import importlib
import keyword
import sys

import click

import silverball
from silverball.settings import SettingError

# Every command: its module has a click command of this name. A new one is one line here.
COMMANDS: dict[str, tuple[str, str]] = {
    "migrate": ("silverball.cli.migrate", "Bring the database to the schema of this version."),
    "demo": ("silverball.cli.demo", "Serve real and invented tournaments to try everything with."),
    "export": ("silverball.cli.export", "Write tournaments and bulk files."),
    "import": (
        "silverball.cli.import_",
        "Read tournaments, ratings, machines, tips or the federation's records from files.",
    ),
    "submissions": ("silverball.cli.submissions", "List, approve and reject rating submissions."),
    "token": ("silverball.cli.token", "Create, list and revoke API tokens."),
    "user": ("silverball.cli.user", "Create accounts and set their passwords."),
    "watch": ("silverball.cli.watch", "Follow a tournament in the terminal, as it happens."),
    "verify": ("silverball.cli.verify", "Count everything again and say what differs."),
    "rate": ("silverball.cli.rate", "Rate what was played."),
    "serve": ("silverball.cli.serve", "Answer requests until told to stop."),
}


class LazyGroup(click.Group):
    """Lists commands without loading them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click hands it in
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click hands it in
        if cmd_name not in COMMANDS:
            return None
        # `import` is a word of the language, so its function is called `import_`.
        attribute = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        # What a module makes while it is loaded stays: whoever looks for garbage then looks in vain.
        gc.disable()
        try:
            command: click.Command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), attribute)
        finally:
            gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click hands it in
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])


@click.group(cls=LazyGroup)
@click.version_option(silverball.__version__, prog_name="silverball")
def silverball_group() -> None:
    """A self-hostable tournament data service for pinball.

    Settings are environment variables whose names begin with SILVERBALL_; the README lists them.
    """


def main() -> None:
    """Run the command; a setting that cannot be understood is told in one line."""
    try:
        silverball_group(prog_name="silverball")
    except SettingError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
