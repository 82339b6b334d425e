"""Python source of what the published shapes have from the rules: closed sets of words, settings of formats.

Nothing here imports the published shapes, which may be out of date.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from silverball.rules.model import literals
from silverball.rules.model.settings import FormatSetting
from silverball.rules.opdb import EntryType
from silverball.rules.registry import FORMATS, published_settings
from silverball.store.people.audit import SecurityEvent

SETTINGS_HEAD = '''"""The settings of all formats. Those that a format does not have are absent, not null."""

from typing import Literal

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.generated.words import {words}
from silverball_wire.parts import PlayoffCutoff


class FormatSettings(Wire, frozen=True, kw_only=True):
    """Every setting of every format."""

'''
SETTINGS_TAIL = """
SETTING_FIELDS: tuple[str, ...] = FormatSettings.__struct_fields__
"""


def modules() -> dict[str, str]:
    """Return the source of `silverball_wire/generated`, not yet formatted: file -> text."""
    folder = "silverball_wire/generated"
    return {
        f"{folder}/__init__.py": '"""Written from the rules by `make generated`."""\n',
        f"{folder}/format_settings.py": _settings_source(),
        f"{folder}/words.py": _words_source(),
    }


def _words_source() -> str:
    lines = ['"""The closed sets of words that the rules know."""', "", "from typing import Literal", ""]
    lines += [
        f"{name} = Literal[{', '.join(map(repr, get_args(kind)))}]" for name, kind in _closed_sets().items()
    ]
    types = "".join(f"{type_!r}, " for type_ in FORMATS)
    return "\n".join([*lines, f"TOURNAMENT_TYPES: tuple[str, ...] = ({types})"]) + "\n"


def _closed_sets() -> Mapping[str, Any]:
    """Return the sets of words by name."""
    named = {name: kind for name, kind in vars(literals).items() if get_origin(kind) is Literal}
    return dict(sorted({**named, "EntryType": EntryType, "SecurityEvent": SecurityEvent}.items()))


def _settings_source() -> str:
    lines = []
    for setting in published_settings():
        null = "" if setting.kind == "bands" else " | None"
        lines.append(f"    {setting.name}: {_setting_type(setting)} | UnsetType{null} = UNSET")
        if setting.published:
            lines.append(f'    """{setting.published}"""')
    head = SETTINGS_HEAD.replace("{words}", ", ".join(_closed_sets()))
    return head + "\n".join(lines) + "\n" + SETTINGS_TAIL


def _setting_type(setting: FormatSetting) -> str:
    if setting.kind == "bands":
        return "tuple[PlayoffCutoff, ...]"
    if setting.kind == "flag":
        return "bool"
    if setting.kind == "number" or isinstance(setting.values[0], int):
        return "int | str" if setting.accepts_text else "int"
    for name, kind in _closed_sets().items():
        if set(get_args(kind)) == set(setting.values):
            return name
    return f"Literal[{', '.join(map(repr, setting.values))}]"
