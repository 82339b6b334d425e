"""The form of a format's settings, built from its Struct: titles, choices, limits and help.

A new format gets its form without a change here.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from silverball.rules.model.settings import FormatSetting, TournamentSettings, format_settings
from silverball.rules.pairing.groups import GROUP_SIZE
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import curves, point_maps
from silverball.web import forms
from silverball.web.form_values import parse_number
from silverball.web.forms import FormData

PREFIX = "set-"
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
CURVE_RANKS_SHOWN = 4
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
    settings = format_settings(format_.settings)
    fields = [
        _setting_field(setting, values.get(setting.key)) for setting in settings if not setting.is_derived
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


def _setting_field(setting: FormatSetting, value: Any) -> SettingField:
    text, choices = str(value), {}
    match setting.kind:
        case "flag":
            text = "on" if value else ""
        case "choice":
            listed = [choice for choice in setting.values if choice not in CHOICES_HIDDEN or choice == value]
            choices = {str(choice): choice_label(setting, choice) for choice in listed}
        case "number":
            # What is absent while it is 0 is shown as 0.
            text = str(value or 0)
        case "bands":
            text = "\n".join(f"{band['value']} {band['text']}".strip() for band in value)
    return SettingField(
        key=setting.key,
        title=setting.title,
        help=setting.help,
        kind=setting.kind,
        value=text,
        choices=choices,
        low=setting.low,
        high=setting.high,
    )


def choice_label(setting: FormatSetting, value: object) -> str:
    """A value in people's words; a table of points with its first points, where they are fixed."""
    name, label = str(value), setting.label(value)
    if setting.key == "bestGameScoring" and name != CUSTOM:
        points = ", ".join(map(str, curves.points_by_rank(name, CURVE_RANKS_SHOWN)))
        return f"{label}: {points} ..."
    if setting.key == "scoring" and point_maps.SCORINGS.get(name):
        return f"{label}: {', '.join(map(str, point_maps.SCORINGS[name][GROUP_SIZE - 1]))}"
    return label


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
