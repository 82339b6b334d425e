"""The command `silverball`. Modules of commands are loaded on use, so help is quick."""

import difflib
import importlib
import keyword
import sys

import click

import silverball
from silverball.kit import loading

# Command -> its module, which has a click command of this name, and its help. One line per command.
COMMANDS: dict[str, tuple[str, str]] = {
    "backup": ("silverball.cli.backup", "Write a checked copy of the database, while servers run."),
    "config": ("silverball.cli.config", "Print the settings that hold, and whence they come."),
    "migrate": ("silverball.cli.migrate", "Bring the database to the schema of this version."),
    "demo": ("silverball.cli.demo", "Serve real and invented tournaments to try everything with."),
    "doctor": ("silverball.cli.doctor", "Look for what is wrong with the installation."),
    "export": ("silverball.cli.export", "Write tournaments and bulk files."),
    "import": (
        "silverball.cli.import_",
        "Read tournaments, ratings, machines, tips or the federation's records from files.",
    ),
    "pull": ("silverball.cli.pull", "Bring tournaments along from another service."),
    "mirror": ("silverball.cli.mirror", "Follow a tournament that another service runs, and take it over."),
    "mail": ("silverball.cli.mail", "Try the mail server of the settings."),
    "network": ("silverball.cli.network", "Refuse requests from networks."),
    "secret": ("silverball.cli.secret", "Make and replace the key that encrypts secrets in the database."),
    "restore": ("silverball.cli.restore", "Put a backup in the place of the database."),
    "submissions": ("silverball.cli.submissions", "List, approve and reject rating submissions."),
    "token": ("silverball.cli.token", "Create, list and revoke API tokens."),
    "user": ("silverball.cli.user", "Create accounts and set their passwords."),
    "watch": ("silverball.cli.watch", "Follow a tournament in the terminal, as it happens."),
    "verify": ("silverball.cli.verify", "Recompute stored results and report differences."),
    "ready": ("silverball.cli.ready", "Ask a running server whether it is ready."),
    "rate": ("silverball.cli.rate", "Rate all results."),
    "serve": ("silverball.cli.serve", "Serve the site until stopped."),
}


# These have their own, or need none.
WITHOUT_SETTINGS = frozenset({"demo", "ready", "watch"})


class LazyGroup(click.Group):
    """A group that lists its commands without loading their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click passes it
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click passes it
        if cmd_name not in COMMANDS:
            return None
        # `import` is a keyword, so its function is called `import_`.
        attribute = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        with loading.collector_paused():
            command: click.Command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and (near := difflib.get_close_matches(args[0], COMMANDS, n=1)):
            raise click.UsageError(f"There is no command {args[0]!r}. Did you mean {near[0]}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click passes it
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])


def _print_version(ctx: click.Context, _option: click.Parameter, is_asked: bool) -> None:  # click passes it
    if not is_asked or ctx.resilient_parsing:
        return
    commit = silverball.commit()
    click.echo(f"silverball, version {silverball.__version__}" + (f", commit {commit}" if commit else ""))
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Version and commit.",
)
@click.option(
    "--config", metavar="FILE", help="The settings file, in the place of /etc/silverball/silverball.toml."
)
@click.pass_context
def silverball_group(context: click.Context, config: str | None) -> None:
    """A self-hostable tournament data service for pinball.

    Settings are in a file, or in environment variables whose names begin with SILVERBALL_: docs/settings.md
    lists them. Run as root, a command becomes the owner of the data folder first.
    """
    if context.invoked_subcommand in WITHOUT_SETTINGS or {"-h", "--help"} & set(sys.argv):
        return
    from silverball import settings
    from silverball.kit import privileges

    if config is not None:
        settings.name_file(config)
    if context.invoked_subcommand != "config" and (folder := settings.load_data_folder()):
        privileges.become_owner(folder)


def main() -> None:
    """Run the command; an invalid setting is reported in one line."""
    try:
        silverball_group(prog_name="silverball")
    except ValueError as error:
        # The help has no settings: they are a third of its time.
        from silverball.settings import SettingError

        if not isinstance(error, SettingError):
            raise
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
