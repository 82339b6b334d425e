"""The form of a format's settings, built from its Struct: titles, choices, limits and help.

A new format gets its form without a change here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Any, Literal

import msgspec
from msgspec import Struct

from silverball.kit.values import convert, replace
from silverball.rules.drawing.groups import GROUP_SIZE
from silverball.rules.model.settings import FormatSetting, TournamentSettings, format_settings
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import curves, point_maps
from silverball.service.series import reads as series_reads
from silverball.service.users import reads as users_reads
from silverball.service.venues import reads as venues_reads
from silverball.web import forms, qr_codes
from silverball.web.console import details, door, people
from silverball.web.forms import FormData, parse_number
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

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
        help_ = f"From first to last, as in {example}. Used with “{setting.choices[CUSTOM]}”."
        value = " ".join(map(str, points.get(key) or ()))
        fields.append(SettingField(key=key, title=title, help=help_, kind="points", value=value, choices={}))
    return fields


def _setting_field(setting: FormatSetting, value: Any) -> SettingField:
    text, choices = str(value), {}
    match setting.kind:
        case "flag":
            text = "on" if value else ""
        case "choice":
            choices = _choices(setting, value)
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


def _choices(setting: FormatSetting, current: object) -> dict[str, str]:
    """Value -> label; of values that mean the same, the current one, the default, or the last."""
    listed = [choice for choice in setting.values if choice not in CHOICES_HIDDEN or choice == current]
    labels = {choice: choice_label(setting, choice) for choice in listed}
    shown = {label: choice for choice, label in labels.items()}
    shown |= {labels[value]: value for value in (setting.default, current) if value in labels}
    return {str(choice): label for choice, label in labels.items() if shown[label] == choice}


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
    """Finals, one a line: `8 A final` is the number of players and the name."""
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


# Combinations of settings with which a format cannot start, found by asking the format about each pair.


# Numbers are tried up to here; the settings of formats that depend on each other are small.
NUMBERS_TRIED_MAX = 100


class ImpossibleChoice(Struct, frozen=True, kw_only=True):
    """While `field` has one of `values`, `other` may have none of `excluded`."""

    field: str
    values: tuple[str, ...]
    other: str
    excluded: tuple[str, ...]
    sentence: str


@cache
def impossible_choices(type_: str) -> tuple[ImpossibleChoice, ...]:
    """The impossible pairs of a format's settings, each pair in both directions."""
    fields = {field.key: field for field in setting_fields(type_)}
    finite = [key for key, field in fields.items() if field.kind in ("choice", "flag")]
    pairs = {*combinations(finite, 2), *_pairs_with_numbers(type_, fields, finite)}
    return tuple(
        choice
        for key, other_key in sorted(pairs)
        for choice in _impossible_pair(type_, fields[key], fields[other_key])
    )


def as_data(type_: str) -> list[dict[str, Any]]:
    """The impossible pairs as the script of the form takes them."""
    return [
        {
            "field": choice.field,
            "values": choice.values,
            "other": choice.other,
            "excluded": choice.excluded,
            "sentence": choice.sentence,
        }
        for choice in impossible_choices(type_)
    ]


def possible_fields(type_: str, fields: Iterable[SettingField]) -> list[SettingField]:
    """The fields without choices that are always impossible, except where one is the current value."""
    return [_without_impossible_choices(type_, field) for field in fields]


def _without_impossible_choices(type_: str, field: SettingField) -> SettingField:
    excluded = {value for value in impossible_values(type_, field) if value != field.value}
    choices = {value: label for value, label in field.choices.items() if value not in excluded}
    return replace(field, choices=choices)


def impossible_values(type_: str, field: SettingField) -> list[str]:
    """The values of a setting that no other setting can make possible."""
    if field.kind != "choice":
        return []
    return [value for value in field.choices if set(_faults(type_, (field, value))) == {field.key}]


def _pairs_with_numbers(
    type_: str, fields: Mapping[str, SettingField], finite: list[str]
) -> Iterator[tuple[str, str]]:
    """The pairs of a choice and a number that a fault of the choice names."""
    for key in finite:
        for value in _values(fields[key]):
            for named in _faults(type_, (fields[key], value)):
                if named in fields and fields[named].kind == "number":
                    yield key, named


def _impossible_pair(type_: str, field: SettingField, other: SettingField) -> Iterator[ImpossibleChoice]:
    """The impossible values of two settings, where it is the combination that is impossible."""
    faults = {
        (value, other_value): _faults(type_, (field, value), (other, other_value))
        for value in _values(field)
        for other_value in _values(other)
    }
    sentences = {pair: next(iter(found.values())) for pair, found in faults.items() if found}
    # A value that is impossible with every value of the other setting is not a matter of this pair.
    lonely = {value for value in _values(field) if all((value, each) in sentences for each in _values(other))}
    lonely_others = {
        value for value in _values(other) if all((each, value) in sentences for each in _values(field))
    }
    pairs = [pair for pair in sentences if pair[0] not in lonely and pair[1] not in lonely_others]
    yield from _grouped(field, other, pairs, sentences)
    yield from _grouped(
        other, field, [(b, a) for a, b in pairs], {(b, a): sentence for (a, b), sentence in sentences.items()}
    )


def _grouped(
    field: SettingField,
    other: SettingField,
    pairs: list[tuple[str, str]],
    sentences: Mapping[tuple[str, str], str],
) -> Iterator[ImpossibleChoice]:
    """The pairs by what they exclude, so that a hundred numbers are one line."""
    excluded: dict[str, list[str]] = {}
    for value, other_value in pairs:
        excluded.setdefault(value, []).append(other_value)
    groups: dict[tuple[str, ...], list[str]] = {}
    for value, others in excluded.items():
        groups.setdefault(tuple(others), []).append(value)
    for group, values in groups.items():
        sentence = sentences[values[0], group[0]]
        yield ImpossibleChoice(
            field=field.name, values=tuple(values), other=other.name, excluded=group, sentence=sentence
        )


def _values(field: SettingField) -> tuple[str, ...]:
    """The values that a setting may have, as the form sends them."""
    if field.kind == "flag":
        return ("", "on")
    if field.kind == "choice":
        return tuple(field.choices)
    highest = min(field.high or NUMBERS_TRIED_MAX, NUMBERS_TRIED_MAX)
    return tuple(str(number) for number in range(field.low or 0, highest + 1))


def _faults(type_: str, *chosen: tuple[SettingField, str]) -> Mapping[str, str]:
    """The faults of a format with these values, and its defaults for the others."""
    format_ = FORMATS[type_]
    given = {field.key: _wire_value(field, value) for field, value in chosen}
    try:
        settings = convert(given, format_.settings)
    except msgspec.ValidationError as error:
        # It does not say which settings contradict each other.
        sentence = f"{str(error)[:1].upper()}{str(error)[1:]}."
        return dict.fromkeys(format_.settings.__struct_encode_fields__, sentence)
    return format_.setting_faults(settings)


def _wire_value(field: SettingField, value: str) -> Any:
    if field.kind == "flag":
        return value == "on"
    is_number = field.kind == "number" or all(choice.lstrip("-").isdigit() for choice in field.choices)
    return int(value) if is_number else value


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The settings and details, with the organizer's locations, series and tournaments to choose from."""
    tournament = night.tournament
    stored = tournament.details
    with request.site.store.read() as db:
        locations = venues_reads.location_names(db, stored["organizer_id"])
        series = series_reads.series_names(db, stored["organizer_id"])
        others = people.organizer_tournaments(db, request, stored["organizer_id"])
        codes = users_reads.current_codes(db, night.id)
        devices = users_reads.active_devices(db, night.id)
        given = users_reads.devices_by_giver(db, night.id)
    excluded = {night.id, *(link["linked_tournament_id"] for link in stored["links"])}
    return {
        "fields": possible_fields(
            tournament.type,
            setting_fields(tournament.type, tournament.settings, stored["points_map_custom"]),
        ),
        "impossible": as_data(tournament.type),
        "locations": details.with_current(locations, stored["location_id"]),
        "series": details.with_current(series, stored["series_id"]),
        "linkable": [
            (other.tournament_id, other.name) for other in others if other.tournament_id not in excluded
        ],
        "link_types": details.LINK_TYPES,
        "registration": details.registration_values(stored),
        "flags": details.REGISTRATION_FLAGS,
        "prices": details.price_values(stored),
        "sign_up_link": door.sign_up_link(request, tournament),
        "qr_code": qr_codes.draw_qr_code,
        "devices": devices,
        "devices_by_giver": given,
        "codes": codes,
    }
