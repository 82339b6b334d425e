"""The published shapes against the observed answers."""

import json

import msgspec
import pytest

from golden.shapes import KNOCKOUTS, SHAPES, additions, differences, knockout, sample, sample_names
from silverball_wire.bundle import Bundle
from silverball_wire.games import Game, GameSummary


def test_every_sample_has_a_shape() -> None:
    assert sorted(SHAPES) == sample_names()


@pytest.mark.parametrize("name", sample_names())
def test_an_observed_answer_keeps_every_field_and_gains_only_what_is_listed(name: str) -> None:
    observed = sample(name)
    ours = msgspec.json.encode(msgspec.json.decode(observed, type=SHAPES[name], strict=True))
    changes = differences(json.loads(observed), json.loads(ours))
    changed = {path: difference for path, difference in changes.items() if difference != "added"}
    assert not changed, f"{name}: our shape loses or changes {changed}"
    added = set(changes)
    assert not added - additions(name), f"{name}: not listed in additions.json: {added - additions(name)}"
    assert not additions(name) - added, f"{name}: listed but not added: {additions(name) - added}"


def test_the_samples_have_twenty_one_knockout_tournaments() -> None:
    assert len(KNOCKOUTS) == 21


@pytest.mark.parametrize("name", KNOCKOUTS)
def test_a_knockout_tournament_is_read_as_a_bundle_without_loss(name: str) -> None:
    observed = knockout(name)
    ours = msgspec.json.encode(msgspec.json.decode(observed, type=Bundle, strict=True))
    changes = differences(json.loads(observed), json.loads(ours))
    changed = {path: difference for path, difference in changes.items() if difference != "added"}
    assert not changed, f"{name}: our shape loses or changes {changed}"
    unlisted = set(changes) - additions("knockouts")
    assert not unlisted, f"{name}: not listed in additions.json: {unlisted}"


def test_each_listed_addition_to_knockout_tournaments_occurs() -> None:
    added: set[str] = set()
    for name in KNOCKOUTS:
        observed = knockout(name)
        ours = msgspec.json.encode(msgspec.json.decode(observed, type=Bundle, strict=True))
        added |= set(differences(json.loads(observed), json.loads(ours)))
    assert additions("knockouts") == added


def test_a_game_has_every_field_of_the_observed_list_of_games() -> None:
    assert issubclass(Game, GameSummary)


@pytest.mark.parametrize(
    ("observed", "ours", "expected"),
    [
        ({"a": 1}, {"a": 1, "b": None}, {"b": "added"}),
        ({"a": [{"b": 1}]}, {"a": [{}]}, {"a[].b": "missing"}),
        ({"a": 1}, {"a": 1.0}, {"a": "1 became 1.0"}),
        ({"a": 1}, {"a": True}, {"a": "1 became True"}),
        ({"a": [1]}, {"a": []}, {"a": "[1] became []"}),
        ([1, {"x": None}], [1, {"x": None}], {}),
    ],
)
def test_differences_are_named_by_their_place(
    observed: object, ours: object, expected: dict[str, str]
) -> None:
    assert differences(observed, ours) == expected
