"""Combinations of settings with which a format cannot start, found by asking the format about each pair."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Any

import msgspec
from msgspec import Struct

from silverball.kit.conversions import convert
from silverball.kit.values import replace
from silverball.rules.registry import FORMATS
from silverball.web.console import settings_form
from silverball.web.console.settings_form import SettingField

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
    fields = {field.key: field for field in settings_form.setting_fields(type_)}
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
