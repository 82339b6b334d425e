"""The form of a format's settings, built from its Struct: titles, choices, limits and help.

A new format gets its form without a change here.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct, inspect

from silverball.kit import conversions
from silverball.kit.http.query import humanize_name
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps
from silverball.service.tournaments import configuration
from silverball.web import forms
from silverball.web.console import setting_words
from silverball.web.form_values import parse_number
from silverball.web.forms import FormData

PREFIX = "set-"
# Settings that follow from others, and settings that need a list.
KEYS_HIDDEN = frozenset({*configuration.IGNORED_SETTINGS, "roundCount"})
# Points of an import whose table is unknown, and no points at all.
CHOICES_HIDDEN = frozenset({"", *point_maps.IMPORT_ONLY})
CUSTOM = "custom"
# Settings that accept a custom table of points -> the fields of the table: by group size, or by rank.
CUSTOM_POINTS_KEYS: Mapping[str, tuple[str, ...]] = {"scoring": ("3P", "4P"), "bestGameScoring": ("curve",)}
# Field of a table -> title and example.
POINTS_FIELDS: Mapping[str, tuple[str, str]] = {
    "3P": ("Points in a group of three", "7 4 1"),
    "4P": ("Points in a group of four", "7 5 3 1"),
    "curve": ("Points by rank", "100 90 85"),
}
POINTS_MAP_KEY = "pointsMapCustom"
SEPARATORS = re.compile(r"[\s,;/]+")


class SettingField(Struct, frozen=True, kw_only=True):
    """A setting as a field of the form."""

    key: str
    title: str
    help: str
    kind: Literal["choice", "number", "flag", "bands", "points"]
    value: str
    # Value -> label.
    choices: Mapping[str, str]
    low: int | None = None
    high: int | None = None

    @property
    def name(self) -> str:
        return PREFIX + self.key


def setting_fields(
    type_: str, current: TournamentSettings | None = None, points: Mapping[str, Any] | None = None
) -> list[SettingField]:
    """The settings of a format with their current values, or their defaults.

    A scoring that accepts a custom table is followed by the fields of the table; `points` is the
    current table.
    """
    format_ = FORMATS[type_]
    values = msgspec.to_builtins(current or format_.settings())
    fields = [
        _setting_field(each.encode_name, conversions.inspect(each.type), values.get(each.encode_name))
        for each in msgspec.structs.fields(format_.settings)
        if each.encode_name not in KEYS_HIDDEN
    ]
    shown_first = {key: place for place, key in enumerate(format_.form_settings)}
    fields.sort(key=lambda setting: shown_first.get(setting.key, len(shown_first)))
    return [each for setting in fields for each in (setting, *_points_fields(setting, points or {}))]


def _points_fields(setting: SettingField, points: Mapping[str, Any]) -> list[SettingField]:
    if CUSTOM not in setting.choices:
        return []
    fields = []
    for key in CUSTOM_POINTS_KEYS[setting.key]:
        title, example = POINTS_FIELDS[key]
        help_ = (
            f"From first to last, as in {example}. It counts where the {setting.title.lower()} is your own."
        )
        value = " ".join(map(str, points.get(key) or ()))
        fields.append(SettingField(key=key, title=title, help=help_, kind="points", value=value, choices={}))
    return fields


def _setting_field(key: str, kind: inspect.Type, value: Any) -> SettingField:
    schema: Mapping[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        schema = {**(kind.extra_json_schema or {}), **schema}
        kind = kind.type
    common: dict[str, Any] = {
        "key": key,
        "title": schema.get("title", humanize_name(key).capitalize()),
        "help": schema.get("description", ""),
        "value": str(value),
        "choices": {},
    }
    if isinstance(kind, inspect.BoolType):
        return SettingField(kind="flag", **{**common, "value": "on" if value else ""})
    if isinstance(kind, inspect.LiteralType):
        listed = [choice for choice in kind.values if choice not in CHOICES_HIDDEN or choice == value]
        choices = {str(choice): setting_words.choice_label(key, choice) for choice in listed}
        return SettingField(kind="choice", **{**common, "choices": choices})
    if isinstance(kind, inspect.IntType):
        # What is absent while it is 0 is shown as 0.
        return SettingField(kind="number", low=kind.ge, high=kind.le, **{**common, "value": str(value or 0)})
    lines = [f"{band['value']} {band['text']}".strip() for band in value]
    return SettingField(kind="bands", **{**common, "value": "\n".join(lines)})


def submitted_settings(type_: str, form: FormData) -> dict[str, Any]:
    """Wire key -> entered value; the interface decides what is valid."""
    entered = {setting.key: _submitted_value(setting, form) for setting in setting_fields(type_)}
    settings = {key: value for key, value in entered.items() if value is not None}
    for scoring, keys in CUSTOM_POINTS_KEYS.items():
        if settings.get(scoring) == CUSTOM:
            table = {key: SEPARATORS.split(form.value(PREFIX + key).strip()) for key in keys}
            settings[POINTS_MAP_KEY] = {"type": "matchplay", **table} if scoring == "scoring" else table
    return settings


def _submitted_value(setting: SettingField, form: FormData) -> Any:
    text = form.value(setting.name).strip()
    if setting.kind == "flag":
        return bool(text)
    if setting.kind == "points":
        return None
    if setting.kind == "bands":
        return _parse_bands(text) if form.has(setting.name) else None
    if not text:
        return None
    is_number = setting.kind == "number" or all(key.lstrip("-").isdigit() for key in setting.choices)
    return parse_number(text) if is_number else text


def _parse_bands(text: str) -> list[dict[str, Any]]:
    """Playoff bands, one a line: `8 A final` is the number of players and the name."""
    bands: list[dict[str, Any]] = []
    cumulative = 0
    for index, line in enumerate(forms.nonempty_lines(text)):
        size, _, title = line.partition(" ")
        value = parse_number(size)
        cumulative += value if isinstance(value, int) else 0
        bands.append(
            {"index": index, "value": value, "cumulative": cumulative, "text": title.strip(), "color": None}
        )
    return bands
