"""The registry, the wire, the stories and the handbook have the same 21 formats."""

import re
from pathlib import Path

import yaml

from silverball.rules.registry import FORMATS

ROOT = Path(__file__).resolve().parents[2]
WIRE = set(yaml.safe_load((ROOT / "tests/golden/wire.yaml").read_text())["schemas"]["TournamentType"]["enum"])


def _names(folder: str, pattern: str) -> set[str]:
    matches = (re.fullmatch(pattern, path.name) for path in (ROOT / folder).iterdir())
    return {match[1] for match in matches if match is not None}


def test_every_format_of_the_interface_can_be_played() -> None:
    assert set(FORMATS) == WIRE
    assert len(WIRE) == 21


def test_every_format_is_one_file() -> None:
    assert _names("src/silverball/rules/formats", r"([a-z][a-z_]*)\.py") == WIRE


def test_every_format_has_its_story() -> None:
    stories = _names("tests/stories", r"test_([a-z_]+)\.py")
    assert stories >= WIRE
    # These stories are not about a format.
    assert stories - WIRE == {
        "attacks",
        "backup_drill",
        "door_crowd",
        "rolling_update",
        "two_tournaments",
    }


def test_every_format_has_its_page_in_the_handbook() -> None:
    assert _names("docs/formats", r"([a-z_]+)\.md") == WIRE
