"""Settings of the formats. Source: formats, sections 14.1, 14.2 and 24."""

from typing import Any

import msgspec
import pytest

from silverball.rules.model import settings
from silverball.rules.registry import FORMATS

COMMON = "scorekeeping seeding firstRoundPairing pairing playerOrder playerOrderOpen arenaAssignment"
KEYS = {
    "knockout": f"{COMMON} knockoutStrikeCount suggestions byes playoffsCutoffs",
    "group_knockout": (
        f"{COMMON} knockoutStrikeCount knockoutProgressive knockoutFair knockoutThreePlayerStrikes "
        "knockoutFourPlayerStrikes suggestions playoffsCutoffs"
    ),
}


def test_the_keys_of_each_format_are_those_of_its_payload() -> None:
    # The other formats are checked beside their own tests.
    assert {name: list(settings.default_values(FORMATS[name].settings)) for name in KEYS} == {
        name: keys.split() for name, keys in KEYS.items()
    }


def test_every_format_is_registered_under_its_own_wire_name() -> None:
    assert all(name == form.type for name, form in FORMATS.items())


def test_every_setting_has_a_title_and_help() -> None:
    for form in FORMATS.values():
        properties = msgspec.json.schema(form.settings)["$defs"][form.settings.__name__]["properties"]
        assert {
            key
            for key, schema in properties.items()
            if not (schema.get("title") and schema.get("description"))
        } == set()


def test_the_settings_shown_first_exist() -> None:
    for form in FORMATS.values():
        assert set(form.primary_settings) <= set(settings.default_values(form.settings))


@pytest.mark.parametrize(
    ("type_", "given"),
    [
        ("knockout", {"knockoutStrikeCount": 0}),
        ("knockout", {"knockoutStrikeCount": 31}),
        ("knockout", {"byes": "double"}),
        ("group_knockout", {"knockoutFourPlayerStrikes": 4}),
        ("group_knockout", {"knockoutThreePlayerStrikes": 3}),
        ("group_knockout", {"pairing": "alphabetical"}),
    ],
)
def test_a_value_outside_its_limits_is_refused_by_name(type_: str, given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=next(iter(given))):
        settings.read_settings(FORMATS[type_].settings, given)


def test_null_means_the_default_and_keys_of_other_formats_are_left_alone() -> None:
    read = settings.read_settings(FORMATS["knockout"].settings, {"pairing": None, "golfDuration": 9})
    assert read == FORMATS["knockout"].settings()
