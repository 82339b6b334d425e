"""The generated tables in the documents. To write them, run `make generated`."""

import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import click

import silverball
from golden import examples
from house.planned_table import planned_table
from silverball import app, settings
from silverball.cli import main
from silverball.kit.errors import Refusal
from silverball.kit.http import openapi
from silverball.kit.http.endpoints import METHODS, Access, collect_endpoints
from silverball.kit.http.refusals import status_for
from silverball.rules.model.settings import FormatSetting, format_settings
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES

ROOT = Path(__file__).parents[2]
EXAMPLE_URL = "http://127.0.0.1:8000"
# Codes that clients may rely on. A code is added when it is released and never removed.
RELEASED_CODES = ROOT / "tests/golden/refusal_codes.txt"
# Page of the handbook -> the README that it is a copy of.
CLIENT_PAGES = {
    "docs/typed-client.md": "clients/python/README.md",
    "docs/typescript-client.md": "clients/typescript/README.md",
}
# What a README links to -> the page of the handbook.
LINKS_OF_CLIENTS = {
    "../../README.md": "README.md",
    "../../docs/": "",
    "../python/README.md": "typed-client.md",
}
CALLERS = {
    Access.OWN: "own",
    Access.TOKEN: "token",
    Access.OPENABLE: "open",
    Access.ANYONE: "anyone",
}


def endpoints(*, are_of_tournaments: bool) -> str:
    """The routes of tournaments or all others: the callers, parameters and body fields, and the title."""
    declared = [
        endpoint
        for endpoint in collect_endpoints(*ROUTE_MODULES)
        if endpoint.path.startswith("/api/tournaments/") is are_of_tournaments
    ]
    lines = ["| Route | For | Takes | |", "|---|---|---|---|"]
    subject = ""
    names_by_method: dict[str, str] = {}
    for endpoint in sorted(declared, key=lambda route: (route.path, METHODS.index(route.method))):
        path = openapi.documented_path(endpoint).removeprefix("/api")
        if path.split("/")[1] != subject:
            subject = path.split("/")[1]
            names_by_method.clear()
        fields = [*(field.encoded_name for field in endpoint.parser.fields), *endpoint.body_parser.fields]
        callers = endpoint.ability if endpoint.is_write else CALLERS[endpoint.access]
        names = f"`{', '.join(fields)}`" if fields else ""
        same = [method for method, earlier in names_by_method.items() if earlier == names and len(fields) > 2]
        takes = f"as {same[0]}" if same else names
        shown_path = path.replace("/tournaments/{tournamentId}/", ".../")
        lines.append(f"| {endpoint.method} `{shown_path}` | {callers} | {takes} | {endpoint.title} |")
        if not same:
            names_by_method[endpoint.method] = names
    return "\n".join(lines)


def commands() -> str:
    """Every command and its purpose."""
    lines = ["| Command | Purpose |", "|---|---|"]
    lines += [f"| `{usage}` | {purpose} |" for usage, purpose in sorted(_commands())]
    return "\n".join(lines)


def _commands() -> Iterator[tuple[str, str]]:
    # As the program makes it: a command keeps the option of help that it is first asked for with.
    group = click.Context(main.silverball_group, **main.silverball_group.context_settings)
    for name in main.COMMANDS:
        command = main.silverball_group.get_command(group, name)
        assert command is not None
        listed = [command]
        if isinstance(command, click.Group):
            listed = [*([command] if command.invoke_without_command else []), *command.commands.values()]
        for subcommand in listed:
            full_name = name if subcommand is command else f"{name} {subcommand.name}"
            usage = " ".join(subcommand.collect_usage_pieces(click.Context(subcommand, parent=group)))
            yield f"silverball {full_name} {usage}", (subcommand.help or "").strip().splitlines()[0]


def refusal_classes() -> list[type[Refusal]]:
    """Every class of refusals in the program, by code."""
    for module in pkgutil.walk_packages(silverball.__path__, "silverball."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)
    found: list[type[Refusal]] = []
    waiting: list[type[Refusal]] = [Refusal]
    while waiting:
        subclasses = waiting.pop().__subclasses__()
        waiting += subclasses
        found += [kind for kind in subclasses if kind.__module__.startswith("silverball.")]
    return sorted(dict.fromkeys(found), key=lambda kind: kind.code)


def refusal_codes() -> str:
    """Every code by status, and the first sentence of its refusal, with `{...}` where facts go."""
    by_status: dict[int, list[str]] = {}
    for kind in refusal_classes():
        has_sentence = kind.sentence != Refusal.sentence
        sentence = kind.sentence if has_sentence else (kind.__doc__ or "").split(". ")[0].strip()
        text = " ".join(sentence.split()).split(". ")[0].rstrip(".").replace("|", "\\|")
        by_status.setdefault(status_for(kind), []).append(f"| `{kind.code}` | {text} |")
    tables = (
        "\n".join([f"**{status}**", "", "| Code | Sentence |", "|---|---|", *by_status[status]])
        for status in sorted(by_status)
    )
    return "\n\n".join(tables)


# Settings that an installation of deploy/ has, by their fields; the rest is a comment with the default.
INSTALLED = {
    "base_url": "https://pinball.example.org",
    "data_folder": "/var/lib/silverball",
    "exports_folder": "exports",
    "backup_folder": "/var/backups/silverball",
    "backup_passphrase_file": "/etc/silverball/backup-passphrase",
}


def settings_file() -> str:
    """Every setting as a line of deploy/silverball.toml, below what it means."""
    return settings.settings_file(INSTALLED)


FORMATS_OF_COMMON_SETTING_MIN = 3


def format_settings_table(type_: str) -> str:
    """The settings of a format by their names on the page, in the order of the form.

    Those that several formats have follow as a list of names and defaults.
    """
    form = FORMATS[type_]
    shown_first = {key: place for place, key in enumerate(form.form_settings)}
    listed = sorted(
        format_settings(form.settings), key=lambda setting: shown_first.get(setting.key, len(shown_first))
    )
    common = _common_settings()
    own = [setting for setting in listed if _setting_row(setting) not in common]
    lines = ["| Setting | | At first | Choices | In the interface |", "|---|---|---|---|---|"] if own else []
    lines += [
        f"| *{setting.title}* | {setting.help} | {_setting_default(setting)} | {_setting_values(setting)} "
        f"| `{setting.key}` |"
        for setting in own
    ]
    shared = [f"*{setting.title}* ({_setting_default(setting)})" for setting in listed if setting not in own]
    if shared:
        lines += ["", f"[As in other formats](README.md#format-settings): {', '.join(shared)}."]
    return "\n".join(lines).strip()


def common_settings_table() -> str:
    """The settings that several formats have in the same way, with their choices."""
    head = ["| Setting | | Choices | In the interface |", "|---|---|---|---|"]
    return "\n".join([*head, *_common_settings()])


@cache
def _common_settings() -> tuple[str, ...]:
    """Rows of the settings that several formats have, one for each setting, in alphabetic order."""
    counts = Counter(
        (setting.key, _setting_row(setting))
        for form in FORMATS.values()
        for setting in format_settings(form.settings)
    )
    rows: dict[str, str] = {}
    for (key, row), count in sorted(counts.items(), key=lambda item: -item[1]):
        if count >= FORMATS_OF_COMMON_SETTING_MIN:
            rows.setdefault(key, row)
    return tuple(sorted(rows.values()))


def _setting_row(setting: FormatSetting) -> str:
    return f"| *{setting.title}* | {setting.help} | {_setting_values(setting)} | `{setting.key}` |"


def _setting_default(setting: FormatSetting) -> str:
    if setting.default == ():
        return "none"
    if setting.default is None or isinstance(setting.default, bool):
        return "on" if setting.default else "off"
    # The words before a colon are the name of the choice, after it its explanation.
    words = setting.words.get(str(setting.default), str(setting.default))
    return words.removeprefix("Yes: ").partition(":")[0]


def _setting_values(setting: FormatSetting) -> str:
    if setting.is_derived:
        return "set by the service"
    if setting.kind == "flag":
        return "on, off"
    if setting.kind == "bands":
        return "places"
    if setting.kind == "number":
        return f"{setting.low} to {setting.high}"
    hidden = {"", *point_maps.IMPORT_ONLY}
    return "; ".join(
        f"{setting.words[str(value)]} (`{value}`)" if str(value) in setting.words else f"`{value}`"
        for value in setting.values
        if value not in hidden
    )


# Document and the word of its markers -> the text between `<!-- word -->` and `<!-- /word -->`.
TABLES: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/settings.md", "settings"): settings.settings_table,
    ("docs/settings.md", "quotas"): settings.quotas_table,
    ("docs/routes.md", "endpoints"): partial(endpoints, are_of_tournaments=False),
    ("docs/tournament-routes.md", "endpoints"): partial(endpoints, are_of_tournaments=True),
    ("docs/codes.md", "codes"): refusal_codes,
    ("docs/commands.md", "commands"): commands,
    ("docs/directors/which-format.md", "planned"): planned_table,
    ("docs/formats/README.md", "settings"): common_settings_table,
    **{(f"docs/formats/{type_}.md", "settings"): partial(format_settings_table, type_) for type_ in FORMATS},
}


def client_page(readme: str) -> str:
    """The README of a client, as a page of the handbook."""
    title, _, rest = (ROOT / readme).read_text(encoding="utf-8").partition("\n")
    for link, page in LINKS_OF_CLIENTS.items():
        rest = rest.replace(link, page)
    return f"{title}\n\n<!-- A copy of {readme}; edit that file. -->\n{rest}"


# Documents that are generated as a whole.
FILES: dict[str, Callable[[], str]] = {
    # The AsyncAPI document has these examples, so they come first.
    "clients/python/src/silverball_wire/examples.json": examples.examples_json,
    **{page: partial(client_page, readme) for page, readme in CLIENT_PAGES.items()},
    "deploy/silverball.toml": settings_file,
    "docs/wire/asyncapi.json": lambda: app.asyncapi_document(Settings(base_url=EXAMPLE_URL)).decode() + "\n",
}


def between(text: str, word: str) -> re.Match[str] | None:
    """The text between the markers of this word."""
    return re.search(rf"(?<=<!-- {word} -->\n)(.*?)(?=<!-- /{word} -->)", text, re.DOTALL)


def write() -> None:
    """Bring every table up to date."""
    for (name, word), table in TABLES.items():
        file = ROOT / name
        text = file.read_text(encoding="utf-8")
        marked = between(text, word)
        assert marked is not None, f"{name} has no <!-- {word} -->"
        file.write_text(f"{text[: marked.start()]}\n{table()}\n\n{text[marked.end() :]}", encoding="utf-8")
    for name, document in FILES.items():
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    write()
