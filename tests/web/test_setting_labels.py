"""Values of settings as people read them, never as the wire has them."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from silverball.rules.model import fields
from silverball.rules.model.settings import FormatSetting, format_settings
from silverball.rules.registry import FORMATS
from silverball.service.journal.texts import Names, change_sentence
from silverball.web.console import settings
from web.raw_words import RAW_TEXT


@pytest.mark.parametrize("type_", list(FORMATS))
def test_each_value_of_a_setting_is_offered_once_and_in_words(type_: str) -> None:
    for field in settings.setting_fields(type_):
        labels = list(field.choices.values())
        assert len(set(labels)) == len(labels), field.key
        texts = [field.title, field.help, *labels]
        assert [text for text in texts if RAW_TEXT.search(text)] == []
        assert [
            value for value, label in field.choices.items() if value == label and not label.isdigit()
        ] == []


@pytest.mark.parametrize("type_", list(FORMATS))
def test_the_history_says_a_changed_setting_with_its_value_in_words(type_: str) -> None:
    lines = []
    for setting in format_settings(FORMATS[type_].settings):
        for value in values_of(setting):
            edit = {"before": {}, "after": {"settings": {setting.key: value}}}
            line = change_sentence("TournamentEdited", edit, Names(type=type_))
            assert (line == "No visible change.") == setting.is_derived, setting.key
            lines.append(line)
    assert [line for line in lines if RAW_TEXT.search(line)] == []


def values_of(setting: FormatSetting) -> list[Any]:
    if setting.kind == "flag":
        return [False, True]
    if setting.kind == "number":
        # A number without bounds is checked beside others.
        return [value for value in (setting.low, setting.high) if value is not None] or [setting.default]
    band = {"index": 0, "value": 8, "cumulative": 8, "text": "A final", "color": None}
    return list(setting.values) or [[], [band]]


@pytest.mark.parametrize("field", fields.DETAILS, ids=lambda field: field.name)
def test_the_history_names_a_changed_detail_in_words(field: fields.PartField) -> None:
    edit = {"before": {"details": {}}, "after": {"details": {field.name: "new"}}}
    line = change_sentence("TournamentEdited", edit, Names())
    assert line.startswith("Changed: ")
    assert not re.search(r"_|utc|motd|rsvp|\bid\b|: links|: test\.|womens|tgp|config", line)


def test_a_setting_of_the_same_name_has_the_title_of_its_format() -> None:
    edit = {"before": {}, "after": {"settings": {"tiebreaker": "none", "playoffsCutoffs": []}}}
    assert change_sentence("TournamentEdited", edit, Names(type="golf")) == (
        "Changed: ties (None: they share the place), finals (none)."
    )


def test_of_two_values_that_mean_the_same_the_stored_one_is_offered() -> None:
    stored = next(field for field in settings.setting_fields("group_matchplay") if field.key == "tiebreaker")
    assert (stored.value in stored.choices, "none" in stored.choices) == (True, False)


def choice_labels(type_: str, key: str) -> Mapping[str, str]:
    return next(field.choices for field in settings.setting_fields(type_) if field.key == key)


def test_a_curve_is_shown_with_its_first_points() -> None:
    label = choice_labels("best_game", "bestGameScoring")["bg_95_pct_mod_de"]
    assert label == "95 percent of the place before, at least one less: 100, 95, 90, 85 ..."


def test_a_value_that_two_settings_have_has_the_words_of_each() -> None:
    assert choice_labels("group_matchplay", "scoring")["ifpa"] == "IFPA: 7, 5, 3, 1"
    assert choice_labels("group_matchplay", "seeding")["ifpa"] == "IFPA rank"


def test_the_help_of_a_table_of_points_names_the_choice_that_uses_it() -> None:
    field = next(field for field in settings.setting_fields("group_matchplay") if field.key == "4P")
    assert field.help == "From first to last, as in 7 5 3 1. Used with “Your own points, below”."
