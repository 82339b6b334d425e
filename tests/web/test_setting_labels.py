"""Values of settings as people read them, never as the wire has them."""

import re
from collections.abc import Mapping

import pytest

from silverball.rules.registry import FORMATS
from silverball.web.console import settings


@pytest.mark.parametrize("type_", list(FORMATS))
def test_no_choice_of_a_format_shows_a_value_of_the_wire(type_: str) -> None:
    labels = [label for field in settings.setting_fields(type_) for label in field.choices.values()]
    assert [
        label for label in labels if re.search(r"_|\bbg\b|\bpct\b|\bmod de\b|\bqck\b|disabled", label)
    ] == []


def choice_labels(type_: str, key: str) -> Mapping[str, str]:
    return next(field.choices for field in settings.setting_fields(type_) if field.key == key)


def test_a_curve_is_shown_with_its_first_points() -> None:
    label = choice_labels("best_game", "bestGameScoring")["bg_95_pct_mod_de"]
    assert label == "95 percent of the place before, at least one less: 100, 95, 90, 85 ..."


def test_a_value_that_two_settings_have_has_the_words_of_each() -> None:
    assert choice_labels("group_matchplay", "scoring")["ifpa"] == "IFPA: 7, 5, 3, 1"
    assert choice_labels("group_matchplay", "seeding")["ifpa"] == "IFPA rank"
