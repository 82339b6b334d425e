"""What every command has in common, tried with each of the table."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from silverball.cli import main
from silverball.cli.main import silverball_group

# Commands that make a database, and those that need none.
MAKERS = frozenset({"migrate", "demo"})
WITHOUT_DATABASE = frozenset({"config", "doctor", "mail test", "ready", "watch"})
# Where what is required is not enough.
MORE_WORDS = {"serve": ("--port", "0"), "restore": ("--here",)}
LISTINGS = ("network list", "submissions list", "token list", "user list")


def leaf_commands(
    group: click.Group = silverball_group, before: str = ""
) -> Iterator[tuple[str, click.Command]]:
    """Every command by its full name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        full_name = f"{before} {name}".strip()
        if isinstance(command, click.Group):
            yield from leaf_commands(command, full_name)
        else:
            yield full_name, command


COMMAND = [sys.executable, "-m", "silverball.cli.main"]
COMMANDS = dict(leaf_commands())


def plausible_words(name: str, folder: Path) -> list[str]:
    """The words of a command with a plausible value for everything that it requires."""
    words = [*name.split(), *MORE_WORDS.get(name, ())]
    for parameter in COMMANDS[name].params:
        if parameter.required:
            words += [parameter.opts[0]] if isinstance(parameter, click.Option) else []
            words.append(_plausible_value(parameter, folder))
    return words


def _plausible_value(parameter: click.Parameter, folder: Path) -> str:
    if isinstance(parameter.type, click.IntRange):
        return "1"
    if isinstance(parameter.type, click.Choice):
        return str(parameter.type.choices[0])
    if isinstance(parameter.type, click.Path):
        return str(folder if parameter.type.dir_okay else folder / "file")
    return "203.0.113.0/24" if parameter.name == "cidr" else "text"


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - MAKERS - WITHOUT_DATABASE))
def test_no_command_makes_a_database_by_accident(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty, elsewhere = tmp_path / "empty", tmp_path / "elsewhere"
    for folder in (empty, elsewhere):
        folder.mkdir()
    (elsewhere / "file").write_text("[]")
    monkeypatch.chdir(empty)
    done = CliRunner().invoke(silverball_group, plausible_words(name, elsewhere), input="a long passphrase\n")
    assert done.exit_code == 1, done.output
    assert f"There is no database at {empty / 'silverball.db'}." in done.output
    assert list(empty.iterdir()) == []


def test_migrate_and_a_start_that_is_asked_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(silverball_group, ["migrate"]).exit_code == 0
    assert (tmp_path / "silverball.db").exists()


@pytest.mark.sample(15)
@pytest.mark.parametrize("name", ["", *sorted({word.split()[0] for word in COMMANDS}), *sorted(COMMANDS)])
def test_every_command_has_short_and_long_help(name: str) -> None:
    short, long = (CliRunner().invoke(silverball_group, [*name.split(), word]) for word in ("-h", "--help"))
    assert (short.exit_code, long.exit_code) == (0, 0)
    assert short.stdout == long.stdout
    assert short.stdout.startswith("Usage: ")


def test_every_listing_is_known() -> None:
    assert sorted(name for name in COMMANDS if name.endswith(" list")) == sorted(LISTINGS)


@pytest.mark.parametrize("name", LISTINGS)
def test_every_listing_of_nothing_is_an_empty_list_of_json(name: str, sqlite_url: str) -> None:
    done = CliRunner(env={"SILVERBALL_DATABASE_URL": sqlite_url}).invoke(
        silverball_group, [*name.split(), "--json"]
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_made_and_can_be_read(shell: str, tmp_path: Path) -> None:
    given = {**os.environ, "_SILVERBALL_COMPLETE": f"{shell}_source"}
    made = subprocess.run(COMMAND, env=given, capture_output=True, text=True, check=True).stdout
    assert "_SILVERBALL_COMPLETE" in made
    if shutil.which(shell):
        (tmp_path / "completions").write_text(made)
        subprocess.run([shell, "-n", str(tmp_path / "completions")], check=True)


def test_commands_and_their_options_are_completed() -> None:
    assert "plain,backup" in completed("silverball ba")
    assert "plain,list" in completed("silverball token li")
    assert "plain,--json" in completed("silverball doctor --js")


def completed(line: str) -> str:
    """What bash offers at the end of a line."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    given = {**os.environ, **words, "_SILVERBALL_COMPLETE": "bash_complete"}
    return subprocess.run(COMMAND, env=given, capture_output=True, text=True, check=True).stdout


def test_the_table_of_commands_is_that_of_their_modules() -> None:
    assert {name.split()[0] for name in COMMANDS} == set(main.COMMANDS)
