"""The generated tables in the documents. Run this file to write them: `python tests/house/tables.py`."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from silverball import app, settings
from silverball.cli import main
from silverball.kit.http import openapi
from silverball.kit.http.endpoints import METHODS, Access, collect_endpoints
from silverball.settings import Settings

ROOT = Path(__file__).parents[2]
SHOWN_URL = "http://127.0.0.1:8000"
WHO = {
    Access.OWN: "token; your own things",
    Access.TOKEN: "token",
    Access.OPENABLE: "token, or anyone under `SILVERBALL_PUBLIC_READ`",
    Access.ANYONE: "anyone",
}


def endpoints() -> str:
    """Every built route: who may call it, what it takes, what it is."""
    lines = ["| Route | Who | Takes | What |", "|---|---|---|---|"]
    table = collect_endpoints(*app.ROUTE_MODULES)
    for one in sorted(table, key=lambda endpoint: (endpoint.path, METHODS.index(endpoint.method))):
        taken = [*(field.encoded_name for field in one.parser.fields), *one.body_parser.fields]
        who = f"token with `{one.ability}`" if one.is_write else WHO[one.access]
        names = ", ".join(f"`{name}`" for name in taken)
        lines.append(f"| {one.method} `{openapi.documented_path(one)}` | {who} | {names} | {one.title} |")
    return "\n".join(lines)


def commands() -> str:
    """Every command and what it does."""
    lines = ["| Command | What |", "|---|---|"]
    lines += [f"| `{usage}` | {meaning} |" for usage, meaning in sorted(_commands())]
    return "\n".join(lines)


def _commands() -> Iterator[tuple[str, str]]:
    for name in main.COMMANDS:
        command = main.silverball_group.get_command(click.Context(main.silverball_group), name)
        assert command is not None
        listed = command.commands.values() if isinstance(command, click.Group) else [command]
        for one in listed:
            full = f"{name} {one.name}" if isinstance(command, click.Group) else name
            usage = " ".join(one.collect_usage_pieces(click.Context(one)))
            yield f"silverball {full} {usage}", (one.help or "").strip().splitlines()[0]


# Document and the word of its markers -> what stands between `<!-- word -->` and `<!-- /word -->`.
TABLES: dict[tuple[str, str], Callable[[], str]] = {
    ("README.md", "settings"): settings.settings_table,
    ("docs/interface.md", "endpoints"): endpoints,
    ("docs/commands.md", "commands"): commands,
}


# Documents that are generated as a whole.
FILES: dict[str, Callable[[], str]] = {
    "docs/wire/asyncapi.json": lambda: app.asyncapi_document(Settings(base_url=SHOWN_URL)).decode() + "\n",
}


def between(text: str, word: str) -> re.Match[str] | None:
    """What stands between the markers."""
    return re.search(rf"(?<=<!-- {word} -->\n)(.*?)(?=<!-- /{word} -->)", text, re.DOTALL)


def write() -> None:
    """Bring every table up to date."""
    for (name, word), table in TABLES.items():
        file = ROOT / name
        text = file.read_text(encoding="utf-8")
        found = between(text, word)
        assert found is not None, f"{name} has no <!-- {word} -->"
        file.write_text(f"{text[: found.start()]}\n{table()}\n\n{text[found.end() :]}", encoding="utf-8")

    for name, made in FILES.items():
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    write()
