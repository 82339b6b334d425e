"""The form of a format's settings, made from its Struct: what can be chosen, its limits, its help.

A format that is new tomorrow has its form without a line here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from msgspec import inspect

from silverball.kit.http.query import humanize_name
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.registry import FORMATS
from silverball.service.tournaments import configuration
from silverball.web import forms
from silverball.web.forms import FormData

PREFIX = "set-"
BANDS = "playoffsCutoffs"
# What follows from something else, and what needs a list of its own.
KEYS_HIDDEN = frozenset({*configuration.IGNORED_SETTINGS, "roundCount"})
CHOICES_HIDDEN = frozenset({""})
CUSTOM = "custom"
# Settings that may be a table of one's own, and the fields that hold it: points of a group, or by rank.
CUSTOM_POINTS_KEYS: Mapping[str, tuple[str, ...]] = {"scoring": ("3P", "4P"), "bestGameScoring": ("curve",)}
POINTS_FIELDS: Mapping[str, tuple[str, str]] = {
    "3P": ("Points in a group of three", "7 4 1"),
    "4P": ("Points in a group of four", "7 5 3 1"),
    "curve": ("Points by rank", "100 90 85"),
}
POINTS_MAP_KEY = "pointsMapCustom"
SEPARATORS = re.compile(r"[\s,;/]+")
TITLES: Mapping[str, str] = {
    "matchplay": "Match play",
    "group_matchplay": "Group match play",
    "max_matchplay": "Max match play",
    "pace_matchplay": "Pace match play",
    "manual_matchplay": "Manual match play",
    "target": "Target match play",
    "knockout": "Strikes, two players",
    "group_knockout": "Strikes, groups of four",
    "round_robin": "Round robin",
    "double_round_robin": "Double round robin",
    "bracket": "Bracket, single elimination",
    "double_bracket": "Bracket, double elimination",
    "group_bracket": "Group bracket",
    "golf_bracket": "Golf bracket",
    "ladder": "Ladder",
    "frenzy": "Frenzy",
    "best_game": "Best game",
    "card_best_game": "Best game on cards",
    "golf": "Pingolf",
    "bowling": "Pinbowling",
    "amazingrace": "Amazing race",
}
# Words of the wire that say little by themselves.
CHOICE_LABELS: Mapping[str, str] = {
    "mp_rating": "rating, on the safe side",
    "mp_rating_rating": "rating",
    "ifpa": "IFPA",
    "ifpa_womens": "IFPA, women's rank",
    "slaughter": "slaughter: best meets worst",
    "adjacent": "adjacent: neighbours meet",
    "cross": "cross: upper half meets lower half",
    "strictswiss": "strict swiss",
    "user": "yes, those named below",
    "custom": "your own points, below",
}


@dataclass(frozen=True, kw_only=True)
class SettingField:
    """One setting as a form shows it."""

    key: str
    title: str
    help: str
    kind: Literal["choice", "number", "flag", "bands", "points"]
    value: str
    # Value -> what it is called.
    choices: Mapping[str, str]
    low: int | None = None
    high: int | None = None

    @property
    def name(self) -> str:
        return PREFIX + self.key


def format_title(type_: str) -> str:
    return TITLES.get(type_, humanize_name(type_).capitalize())


def setting_fields(
    type_: str, now: TournamentSettings | None = None, points: Mapping[str, Any] | None = None
) -> list[SettingField]:
    """The settings of a format with the values that they have now, or their defaults.

    Below a scoring that may be a table of one's own are the fields of it; `points` is the present table.
    """
    form = FORMATS[type_]
    values = msgspec.to_builtins(now or form.settings())
    primary = form.primary_settings
    listed = [
        _setting_field(one.encode_name, inspect.type_info(one.type), values[one.encode_name])
        for one in msgspec.structs.fields(form.settings)
        if one.encode_name not in KEYS_HIDDEN
    ]
    listed.sort(key=lambda one: one.key not in primary)
    return [field for one in listed for field in (one, *_points_fields(one, points or {}))]


def _points_fields(one: SettingField, points: Mapping[str, Any]) -> list[SettingField]:
    if CUSTOM not in one.choices:
        return []
    made = []
    for key in CUSTOM_POINTS_KEYS[one.key]:
        title, example = POINTS_FIELDS[key]
        help_ = f"From first to last, as in {example}. It counts where the {one.title.lower()} is your own."
        value = " ".join(map(str, points.get(key) or ()))
        made.append(SettingField(key=key, title=title, help=help_, kind="points", value=value, choices={}))
    return made


def _setting_field(key: str, kind: inspect.Type, value: Any) -> SettingField:
    told: Mapping[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        told = {**(kind.extra_json_schema or {}), **told}
        kind = kind.type
    shown: dict[str, Any] = {
        "key": key,
        "title": told.get("title", humanize_name(key).capitalize()),
        "help": told.get("description", ""),
        "value": str(value),
        "choices": {},
    }
    if isinstance(kind, inspect.BoolType):
        return SettingField(kind="flag", **{**shown, "value": "on" if value else ""})
    if isinstance(kind, inspect.LiteralType):
        choices = {
            str(one): choice_label(one) for one in kind.values if one not in CHOICES_HIDDEN or one == value
        }
        return SettingField(kind="choice", **{**shown, "choices": choices})
    if isinstance(kind, inspect.IntType):
        return SettingField(kind="number", low=kind.ge, high=kind.le, **shown)
    lines = [f"{band['value']} {band['text']}".strip() for band in value]
    return SettingField(kind="bands", **{**shown, "value": "\n".join(lines)})


def choice_label(value: object) -> str:
    """A value of a setting, as a form calls it."""
    return CHOICE_LABELS.get(str(value), str(value).replace("_", " "))


def submitted_settings(type_: str, form: FormData) -> dict[str, Any]:
    """Wire key -> what was entered; the interface itself says what is wrong with it."""
    entered = {one.key: _submitted_value(one, form) for one in setting_fields(type_)}
    given = {key: value for key, value in entered.items() if value is not None}
    for scoring, keys in CUSTOM_POINTS_KEYS.items():
        if given.get(scoring) == CUSTOM:
            told = {key: SEPARATORS.split(form.value(PREFIX + key).strip()) for key in keys}
            given[POINTS_MAP_KEY] = {"type": "matchplay", **told} if scoring == "scoring" else told
    return given


def _submitted_value(one: SettingField, form: FormData) -> Any:
    text = form.value(one.name).strip()
    if one.kind == "flag":
        return bool(text)
    if one.kind == "points":
        return None
    if one.kind == "bands":
        return _parse_bands(text) if form.has(one.name) else None
    if not text:
        return None
    is_number = one.kind == "number" or all(key.lstrip("-").isdigit() for key in one.choices)
    return parse_number(text) if is_number else text


def parse_number(text: str) -> int | str:
    """The number that was typed, with or without separators; other text as it is, for a refusal."""
    bare = text.strip().translate(dict.fromkeys(map(ord, " .,'\u00a0\u202f")))
    is_whole = bare.isascii() and bare.removeprefix("-").isdigit() and len(bare) <= 25
    return int(bare) if is_whole else text


def _parse_bands(text: str) -> list[dict[str, Any]]:
    """`8 A final` on each line: how many go through, and what to."""
    found: list[dict[str, Any]] = []
    reached = 0
    for index, line in enumerate(forms.nonempty_lines(text)):
        size, _, title = line.partition(" ")
        value = parse_number(size)
        reached += value if isinstance(value, int) else 0
        found.append(
            {"index": index, "value": value, "cumulative": reached, "text": title.strip(), "color": None}
        )
    return found
