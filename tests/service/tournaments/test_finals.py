"""Finals as steps of a night, and a final that follows its source. Source: formats, sections 4 and 26."""

from typing import Any

import pytest

import build
from silverball.store.database.engine import Store

PATH = "/api/tournaments"
STEPS = [
    {"name": "A final", "type": "group_bracket", "players": 6},
    {"name": "B final", "type": "bracket", "half": True},
]


def a_qualifier(store: Store, points: list[int]) -> build.Night:
    """A running match play in which players are ranked by these points."""
    night = build.a_tournament(store, players=len(points), type="group_matchplay", status="started")
    set_points(store, night, points)
    return night


def set_points(store: Store, night: build.Night, points: list[int]) -> None:
    for player_id, earned in zip(night.player_ids, points, strict=True):
        do(store, night, "PATCH", f"/players/{player_id}", {"pointsAdjustment": earned})


def do(store: Store, night: build.Night, method: str, path: str, body: Any, of: int | None = None) -> Any:
    status, answer, _ = build.do(
        store, method, f"{PATH}/{of or night.tournament_id}{path}", body, by=night.organizer_id
    )
    assert status < 300, answer
    return answer["data"]


def refused(
    store: Store, night: build.Night, method: str, path: str, body: Any, of: int | None = None
) -> Any:
    status, answer, _ = build.do(
        store, method, f"{PATH}/{of or night.tournament_id}{path}", body, by=night.organizer_id
    )
    assert 400 <= status < 500, answer
    return answer


def shown(store: Store, night: build.Night, of: int | None = None) -> Any:
    _, answer = build.ask(store, f"{PATH}/{of or night.tournament_id}/finals", by=night.organizer_id)
    assert "data" in answer, answer
    return answer["data"]


def difference(store: Store, night: build.Night, final: int) -> Any:
    return shown(store, night, final)["difference"]


def seeds_of(store: Store, night: build.Night, final: int) -> list[int]:
    """The players of a final, best seed first."""
    _, answer = build.ask(store, f"{PATH}/{final}?includePlayers=1", by=night.organizer_id)
    players = [each for each in answer["data"]["players"] if each["tournamentPlayer"]["status"] == "active"]
    ordered = sorted(players, key=lambda each: each["tournamentPlayer"]["seed"])
    return [each["playerId"] for each in ordered]


@pytest.mark.both_databases
def test_steps_say_who_goes_on_into_what_and_what_follows_from_their_number(store: Store) -> None:
    night = a_qualifier(store, [20 - place for place in range(11)])
    first, second = do(store, night, "PUT", "/finals", {"steps": STEPS})["steps"]
    ids = night.player_ids
    # Six of a group bracket: four play, two wait, then the final.
    assert (first["qualified"], first["byes"], first["rounds"]) == (ids[:6], [2], 2)
    # Half of the five that are left.
    assert (second["qualified"], second["byes"], second["tournamentId"]) == (ids[6:8], [], None)
    final = do(store, night, "POST", "/playoffs", {"final": 0})
    assert (final["type"], final["bracketSize"], final["name"]) == (
        "group_bracket",
        6,
        "Thursday Strikes: A final",
    )
    b_final = do(store, night, "POST", "/playoffs", {"final": 1})
    assert seeds_of(store, night, b_final["tournamentId"]) == ids[6:8]
    made = [step["tournamentId"] for step in shown(store, night)["steps"]]
    assert made == [final["tournamentId"], b_final["tournamentId"]]
    do(store, night, "POST", "/start", {}, of=final["tournamentId"])


def test_within_points_takes_all_who_are_near_the_best(store: Store) -> None:
    night = a_qualifier(store, [20, 19, 17, 17, 16, 3])
    step = {"name": "Final", "type": "bracket", "within": 3}
    (first,) = do(store, night, "PUT", "/finals", {"steps": [step]})["steps"]
    assert (first["qualified"], first["tied"]) == (night.player_ids[:4], [])
    # The tie for third decides who meets whom, but nobody has a bye: it is seeded by lot.
    final = do(store, night, "POST", "/playoffs", {"type": "bracket", "within": 3})
    assert len(seeds_of(store, night, final["tournamentId"])) == 4
    # Half of six ends between the two who are tied.
    assert refused(store, night, "POST", "/playoffs", {"type": "bracket", "half": True})["code"] == (
        "tied-at-cutoff"
    )


@pytest.mark.parametrize(
    ("step", "field"),
    [
        ({"name": "A", "type": "bracket"}, "steps.0.players"),
        ({"name": "A", "type": "bracket", "players": 4, "half": True}, "steps.0.players"),
        ({"name": "A", "type": "bracket", "players": 129}, "steps.0.players"),
        ({"name": "A", "type": "bracket", "within": -1}, "steps.0.within"),
        (
            {"name": "A", "type": "bracket", "players": 4, "settings": {"scoring": "papa"}},
            "steps.0.settings.scoring",
        ),
        ({"name": "A", "type": "chess", "players": 4}, "steps.0.type"),
    ],
)
def test_a_step_that_could_not_start_is_refused(store: Store, step: Any, field: str) -> None:
    night = a_qualifier(store, [3, 2, 1])
    assert list(refused(store, night, "PUT", "/finals", {"steps": [step]})["errors"]) == [field]
    assert shown(store, night)["steps"] == []


@pytest.mark.both_databases
def test_a_final_follows_a_correction_of_qualifying_by_one_action(store: Store) -> None:
    night = a_qualifier(store, [9, 8, 7, 6, 5, 4])
    first, two, three, four, five, _six = night.player_ids
    final = do(store, night, "POST", "/playoffs", {"type": "bracket", "players": 4})["tournamentId"]
    assert difference(store, night, final) is None
    do(store, night, "POST", "/start", {}, of=final)
    # The fifth was better than the fourth, and the second better than the first.
    set_points(store, night, [8, 9, 7, 2, 6, 4])
    found = difference(store, night, final)
    assert (found["entering"], found["leaving"], found["canFollow"]) == ([five], [four], True)
    assert {seed["playerId"]: seed["seed"] for seed in found["reseeded"]} == {two: 1, first: 2}
    # Nothing happens by itself.
    assert seeds_of(store, night, final) == [first, two, three, four]
    do(store, night, "POST", "/finals/follow", {}, of=final)
    assert seeds_of(store, night, final) == [two, first, three, five]
    assert difference(store, night, final) is None
    _, answer = build.ask(store, f"{PATH}/{final}", by=night.organizer_id)
    assert answer["data"]["status"] == "planned"
    # One action, undone as one: it is started again, with those who played.
    _, journal = build.ask(store, f"{PATH}/{final}/journal", by=night.organizer_id)
    do(store, night, "POST", "/undo", {"action": journal["meta"]["undoable"]}, of=final)
    assert seeds_of(store, night, final) == [first, two, three, four]
    _, answer = build.ask(store, f"{PATH}/{final}", by=night.organizer_id)
    assert answer["data"]["status"] == "started"


def test_who_was_taken_out_or_put_in_by_hand_stays_so(store: Store) -> None:
    night = a_qualifier(store, [9, 8, 7, 6, 5, 4])
    first, two, three, four, five, six = night.player_ids
    final = do(store, night, "POST", "/playoffs", {"type": "bracket", "players": 4})["tournamentId"]
    do(store, night, "DELETE", f"/players/{three}", {}, of=final)
    do(store, night, "POST", "/players", {"playerId": six}, of=final)
    assert difference(store, night, final) is None
    # The first two change places; what was done by hand stays.
    set_points(store, night, [8, 9, 7, 6, 5, 4])
    assert difference(store, night, final)["entering"] == []
    do(store, night, "POST", "/finals/follow", {}, of=final)
    assert seeds_of(store, night, final) == [two, first, four, six]
    # With the next in line, the fifth replaces who declined.
    set_points(store, night, [9, 8, 7, 6, 5, 4])
    do(store, night, "POST", "/finals/follow", {"nextInLine": True}, of=final)
    assert five in seeds_of(store, night, final)


def test_with_a_result_it_is_only_told(store: Store) -> None:
    night = a_qualifier(store, [9, 8, 7, 6, 5])
    final = do(store, night, "POST", "/playoffs", {"type": "bracket", "players": 4})["tournamentId"]
    do(store, night, "POST", "/start", {}, of=final)
    _, games = build.ask(store, f"{PATH}/{final}/games", by=night.organizer_id)
    game = games["data"][0]
    do(
        store,
        night,
        "PUT",
        f"/games/{game['gameId']}/result",
        {"resultPositions": game["playerIds"]},
        of=final,
    )
    set_points(store, night, [9, 8, 7, 1, 5])
    found = difference(store, night, final)
    assert (found["leaving"], found["canFollow"]) == ([night.player_ids[3]], False)
    assert refused(store, night, "POST", "/finals/follow", {}, of=final)["code"] == "final-is-played"


def test_a_new_tie_across_the_cut_is_settled_first(store: Store) -> None:
    night = a_qualifier(store, [9, 8, 7, 6, 5])
    final = do(store, night, "POST", "/playoffs", {"type": "bracket", "players": 4})["tournamentId"]
    set_points(store, night, [9, 8, 1, 5, 5])
    set_points(store, night, [9, 8, 5, 5, 6])
    assert set(difference(store, night, final)["tied"]) == set(night.player_ids[2:4])
    assert refused(store, night, "POST", "/finals/follow", {}, of=final)["code"] == "tied-in-source"


def test_what_follows_nothing_says_so(store: Store) -> None:
    night = a_qualifier(store, [3, 2, 1])
    assert refused(store, night, "POST", "/finals/follow", {})["code"] == "no-source-to-follow"
    final = do(store, night, "POST", "/playoffs", {"type": "bracket", "players": 2})["tournamentId"]
    assert refused(store, night, "POST", "/finals/follow", {}, of=final)["code"] == "final-follows-already"


def test_only_its_organizer_sees_the_plan(store: Store) -> None:
    night = a_qualifier(store, [3, 2, 1])
    stranger = build.a_user(store)
    status, _ = build.ask(store, f"{PATH}/{night.tournament_id}/finals", by=stranger)
    assert status == 403


def test_a_night_is_created_with_its_finals(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    body = {"name": "Thursday", "type": "matchplay", "finals": STEPS}
    status, answer, _ = build.do(store, "POST", PATH, body, by=organizer)
    assert status == 201, answer
    _, shown = build.ask(store, f"{PATH}/{answer['data']['tournamentId']}/finals", by=organizer)
    assert [(step["name"], step["players"], step["half"]) for step in shown["data"]["steps"]] == [
        ("A final", 6, False),
        ("B final", None, True),
    ]
    body["finals"] = [{"name": "A", "type": "bracket", "players": 129}]
    status, answer, _ = build.do(store, "POST", PATH, body, by=organizer)
    assert (status, list(answer["errors"])) == (422, ["finals.0.players"])
