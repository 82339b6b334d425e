"""Any file of machines, changes, tips or videos is read, or refused with a sentence."""

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange import opdb_files as files
from silverball.exchange import machine_files, opdb
from silverball.exchange.bundle.checks import BrokenFile

CHANGE = {
    "changelogId": 1,
    "action": "move",
    "opdbIdDeleted": "GA",
    "opdbIdReplacement": "GB",
    "createdAt": files.MOMENT,
}
FILM = {"opdbId": "G4ODR", "title": "How to nudge", "url": "https://films.example/1", "durationSeconds": 9}
READERS: dict[str, tuple[Callable[[Any], object], Any]] = {
    "export": (opdb.parse_machines, files.export_file()),
    "first": (opdb.parse_machines, files.first_shape()),
    "second": (opdb.parse_machines, files.second_shape()),
    "slim": (opdb.parse_machines, files.slim_shape()),
    "changes": (opdb.parse_changelog, {"data": [CHANGE]}),
    "tips": (machine_files.parse_pintips, [files.a_tip()]),
    "films": (machine_files.parse_videos, [FILM]),
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def _json_places(raw: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a file."""
    steps: list[Any] = []
    if isinstance(raw, dict):
        steps = list(raw)
    elif isinstance(raw, list):
        steps = list(range(len(raw)))
    return [path, *(place for step in steps for place in _json_places(raw[step], (*path, step)))]


def _replace_value(raw: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the file with another value at one place."""
    whole = json.loads(json.dumps([raw]))
    there = whole
    *way, last = (0, *path)
    for step in way:
        there = there[step]
    there[last] = value
    return whole[0]


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
def test_one_odd_value_is_accepted_or_refused(kind: str, data: st.DataObject) -> None:
    read, whole = READERS[kind]
    raw = _replace_value(whole, data.draw(st.sampled_from(_json_places(whole))), data.draw(ANYTHING))
    # Any other exception is a bug.
    with contextlib.suppress(BrokenFile):
        assert read(machine_files.decode(json.dumps(raw).encode())) is not None


@pytest.mark.parametrize("kind", READERS)
def test_each_unchanged_file_is_valid(kind: str) -> None:
    read, whole = READERS[kind]
    assert read(machine_files.decode(json.dumps(whole).encode())) is not None
