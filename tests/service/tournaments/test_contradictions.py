"""Settings with which no start is possible are refused when they are entered. Source: interface.md 4."""

from typing import Any

import pytest

import build
from service.desk import a_desk
from silverball.service.core.access import AuthenticatedCaller
from silverball.store.database.engine import Store

IMPOSSIBLE: list[tuple[str, dict[str, Any]]] = [
    ("best_game", {"useQueues": True, "suggestions": "restricted"}),
    ("card_best_game", {"useQueues": True, "suggestions": "automatic"}),
    ("group_knockout", {"knockoutFair": True, "knockoutProgressive": True}),
    ("round_robin", {"roundRobinGroupSize": 1}),
    ("double_round_robin", {"roundRobinGroupSize": 1}),
    ("matchplay", {"pairing": "tiers"}),
    ("knockout", {"pairing": "tiers"}),
    ("group_knockout", {"pairing": "tiers"}),
    ("group_matchplay", {"pairing": "tiers", "duration": 9}),
]


@pytest.fixture
def organizer(store: Store) -> AuthenticatedCaller:
    return build.caller(build.a_user(store, role="organizer"), role="organizer", ability="manage")


def create(store: Store, organizer: AuthenticatedCaller, **body: Any) -> tuple[int, Any]:
    status, answer, _ = build.do(store, "POST", "/api/tournaments", {"name": "Friday", **body}, by=organizer)
    return status, answer


@pytest.mark.parametrize(("type_", "settings"), IMPOSSIBLE)
def test_a_new_tournament_that_could_never_start_is_refused_by_its_fields(
    store: Store, organizer: AuthenticatedCaller, type_: str, settings: dict[str, Any]
) -> None:
    status, answer = create(store, organizer, type=type_, **settings)
    assert (status, sorted(answer["errors"])) == (422, sorted(settings))


@pytest.mark.parametrize(("type_", "settings"), IMPOSSIBLE)
def test_a_change_after_which_it_could_never_start_is_refused_by_its_fields(
    store: Store, type_: str, settings: dict[str, Any]
) -> None:
    desk = a_desk(store, type_, starts=False)
    answer = desk.expect_refusal(422, "PATCH", "", settings)
    assert sorted(answer["errors"]) == sorted(settings)


@pytest.mark.parametrize("type_", ["best_game", "card_best_game"])
def test_queues_switch_suggested_results_off_unless_they_are_asked_for(
    store: Store, organizer: AuthenticatedCaller, type_: str
) -> None:
    for given in ({}, {"suggestions": None}):
        status, answer = create(store, organizer, type=type_, useQueues=True, **given)
        assert (status, answer["data"]["suggestions"]) == (201, "disabled")
    assert create(store, organizer, type=type_)[1]["data"]["suggestions"] == "restricted"


def test_one_of_two_settings_that_exclude_each_other_is_named_when_it_alone_is_changed(store: Store) -> None:
    desk = a_desk(store, "best_game", starts=False, suggestions="restricted")
    assert list(desk.expect_refusal(422, "PATCH", "", {"useQueues": True})["errors"]) == ["useQueues"]
    desk.ok("PATCH", "", {"suggestions": "disabled"})
    desk.ok("PATCH", "", {"useQueues": True})
    assert list(desk.expect_refusal(422, "PATCH", "", {"suggestions": "restricted"})["errors"]) == [
        "suggestions"
    ]


def test_what_contradicts_itself_already_does_not_hinder_another_change(store: Store) -> None:
    desk = a_desk(store, "best_game", starts=False, useQueues=True, suggestions="restricted")
    desk.ok("PATCH", "", {"bestGameArenasCounted": 3})
    assert desk.do("POST", "/start")[0] == 409
