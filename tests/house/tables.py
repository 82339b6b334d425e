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
TYPED_CLIENT_README = "clients/python/README.md"
CALLERS = {
    Access.OWN: "own",
    Access.TOKEN: "token",
    Access.OPENABLE: "open",
    Access.ANYONE: "anyone",
}


# Routes that share so many fields, all but a few, are told by the difference.
SHARED_FIELDS_MIN, OTHER_FIELDS_MAX = 20, 6
# Method, path and fields of a route.
Takes = tuple[str, str, list[str]]


def endpoints() -> str:
    """Every route: the callers it accepts, its parameters and body fields, its title."""
    declared = collect_endpoints(*ROUTE_MODULES)
    lines = ["| Route | For | Takes | |", "|---|---|---|---|"]
    subject = ""
    above: list[Takes] = []
    for endpoint in sorted(declared, key=lambda route: (route.path, METHODS.index(route.method))):
        path = openapi.documented_path(endpoint).removeprefix("/api")
        if path.split("/")[1] != subject:
            subject = path.split("/")[1]
            above.clear()
        fields = [*(field.encoded_name for field in endpoint.parser.fields), *endpoint.body_parser.fields]
        callers = endpoint.ability if endpoint.is_write else CALLERS[endpoint.access]
        shown_path = path.replace("/tournaments/{tournamentId}/", ".../")
        takes, is_new = _takes(fields, above)
        lines.append(f"| {endpoint.method} `{shown_path}` | {callers} | {takes} | {endpoint.title} |")
        if is_new:
            above.append((endpoint.method, shown_path, fields))
    return "\n".join(lines)


def _takes(fields: list[str], above: list[Takes]) -> tuple[str, bool]:
    """The fields in words, and whether they are written out: they may be those of a route above."""
    nearest = {method: path for method, path, _ in above}
    for method, path, earlier in reversed(above):
        name = method if nearest[method] == path else f"{method} `{path}`"
        if earlier == fields and len(fields) > 2:
            return f"as {name}", False
        more = [field for field in fields if field not in earlier]
        fewer = [field for field in earlier if field not in fields]
        shared = len(fields) - len(more)
        if shared >= SHARED_FIELDS_MIN and len(more) + len(fewer) <= OTHER_FIELDS_MAX:
            also = f", and `{', '.join(more)}`" if more else ""
            without = f", without `{', '.join(fewer)}`" if fewer else ""
            return f"as {name}{also}{without}", True
    return (f"`{', '.join(fields)}`" if fields else ""), True


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
    "database_url": "sqlite:////var/lib/silverball/silverball.db",
    "base_url": "https://pinball.example.org",
    "exports_folder": "/var/lib/silverball/exports",
}


def environment_file() -> str:
    """Every setting as a line of deploy/silverball.env, below what it means."""
    lines = [
        "# /etc/silverball/silverball.env: the settings of the service. Those below a # have their default.",
        "# The service reads them when it starts: systemctl restart silverball",
    ]
    for setting in settings.SETTINGS:
        field_name = setting.name.removeprefix(settings.PREFIX).lower()
        value = INSTALLED.get(field_name)
        # As a shell reads it too.
        default = f'"{setting.default}"' if set(" ;&|") & set(setting.default) else setting.default
        lines += ["", f"# {setting.meaning}"]
        lines.append(f"#{setting.name}={default}" if value is None else f"{setting.name}={value}")
    return "\n".join(lines) + "\n"


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
    ("docs/routes.md", "endpoints"): endpoints,
    ("docs/codes.md", "codes"): refusal_codes,
    ("docs/commands.md", "commands"): commands,
    ("docs/directors/which-format.md", "planned"): planned_table,
    ("docs/formats/README.md", "settings"): common_settings_table,
    **{(f"docs/formats/{type_}.md", "settings"): partial(format_settings_table, type_) for type_ in FORMATS},
}


def typed_client_page() -> str:
    """The README of the typed client, as a page of the handbook."""
    text = (ROOT / TYPED_CLIENT_README).read_text(encoding="utf-8")
    title, _, rest = text.partition("\n")
    note = f"<!-- A copy of {TYPED_CLIENT_README}; edit that file. -->"
    return f"{title}\n\n{note}\n{rest.replace('../../README.md', 'README.md')}"


# Documents that are generated as a whole.
FILES: dict[str, Callable[[], str]] = {
    # The AsyncAPI document has these examples, so they come first.
    "clients/python/src/silverball_wire/examples.json": examples.examples_json,
    "docs/typed-client.md": typed_client_page,
    "deploy/silverball.env": environment_file,
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
