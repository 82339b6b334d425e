"""The published settings of all formats, which the Structs of the formats make: `format_settings.py`."""

from typing import get_args

from silverball.rules.model import literals
from silverball.rules.model.settings import FormatSetting
from silverball.rules.registry import published_settings

HEAD = '''"""The settings of all formats. Those that a format does not have are absent, not null.

Generated from the formats by `make client`.
"""

from typing import Literal

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.parts import PlayoffCutoff
from silverball_wire.values import {words}


class FormatSettings(Wire, frozen=True, kw_only=True):
    """Every setting of every format."""

'''
TAIL = """
SETTING_FIELDS: tuple[str, ...] = FormatSettings.__struct_fields__
"""


def source() -> str:
    """Return the text of the module, before it is formatted."""
    lines = []
    for setting in published_settings():
        null = "" if setting.kind == "bands" else " | None"
        lines.append(f"    {setting.name}: {_type(setting)} | UnsetType{null} = UNSET")
        if setting.published:
            lines.append(f'    """{setting.published}"""')
    head = HEAD.replace("{words}", ", ".join(sorted(_closed_sets().values())))
    return head + "\n".join(lines) + "\n" + TAIL


def _type(setting: FormatSetting) -> str:
    if setting.kind == "bands":
        return "tuple[PlayoffCutoff, ...]"
    if setting.kind == "flag":
        return "bool"
    if setting.kind == "number" or isinstance(setting.values[0], int):
        return "int | str" if setting.accepts_text else "int"
    return _closed_sets().get(frozenset(setting.values), f"Literal[{', '.join(map(repr, setting.values))}]")


def _closed_sets() -> dict[frozenset[object], str]:
    """Values -> the name of the closed set that has exactly these."""
    named = {name: get_args(kind) for name, kind in vars(literals).items() if name[0].isupper()}
    return {frozenset(values): name for name, values in named.items() if values}
