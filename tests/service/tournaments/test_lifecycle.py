"""A tournament from planned to completed, and back again. Source: formats, section 2; interface.md 3."""

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Text, func, select, type_coerce, update

import build
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Tournament
from silverball.service.core import enact, loaded
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store

PATH = "/api/tournaments"
LATER = build.NOW + timedelta(hours=3)


@pytest.fixture
def organizer(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def a_planned(store: Store, organizer: int, *, players: int = 4, **values: Any) -> build.Night:
    values = {"type": "round_robin", "status": "planned", **values}
    settings = values.pop("settings", {})
    return build.a_tournament(
        store,
        players=players,
        organizer_id=organizer,
        settings=settings,
        engine={"dice_seed": "7"},
        points_map=[[1], [1, 0], [1, 0, 0], [1, 0, 0]],
        end_utc=None,
        end_local=None,
        **values,
    )


def call(
    store: Store, night: build.Night, way: str, body: Any = None, *, by: Any = None, now: Any = build.NOW
) -> tuple[int, Any]:
    method = {"": "PATCH", "!": "DELETE"}.get(way, "POST")
    path = f"{PATH}/{night.tournament_id}" + (f"/{way}" if method == "POST" else "")
    who = night.organizer_id if by is None else by
    status, answer, _ = build.do(store, method, path, body, by=who, now=now)
    return status, answer


def expect_success(
    store: Store, night: build.Night, way: str, body: Any = None, **more: Any
) -> dict[str, Any]:
    status, answer = call(store, night, way, body, **more)
    assert status == 200, answer
    data: dict[str, Any] = answer["data"]
    return data


def stored_tournament(store: Store, night: build.Night) -> Tournament:
    with store.read() as db:
        return loaded.load_tournament(db, night.tournament_id)


def stored_state(store: Store, night: build.Night) -> tuple[Any, ...]:
    """The snapshot, the standings as they are stored and the length of the journal."""
    key = tables.standing.c
    rows = select(key.player_id, type_coerce(key.row, Text)).order_by(key.player_id)
    entries = select(func.count()).select_from(tables.journal)
    with store.read() as db:
        standings = db.execute(rows.where(key.tournament_id == night.tournament_id)).all()
        return stored_tournament(store, night), standings, db.execute(entries).scalar_one()


def play_all(store: Store, night: build.Night) -> None:
    """Every open game is won by the player with the higher id."""
    for game in stored_tournament(store, night).games:
        if game.status == "started":
            with store.write(night.tournament_id) as transaction:
                tournament = loaded.load_tournament(transaction.connection, night.tournament_id)
                order = tuple(sorted(game.player_ids, reverse=True))
                dice, _ = tournament_commands.dice_for(tournament, "results")
                changes = tournament_commands.record_result(
                    tournament, GameOutcome(game_id=game.game_id, finishing_order=order), dice, build.NOW
                )
                who = enact.ActionContext(actor_id=night.organizer_id, source="203.0.113.7", now=build.NOW)
                enact.enact(transaction, night.tournament_id, changes, who)


def newest_action_id(store: Store, night: build.Night) -> int:
    own = tables.journal.c.tournament_id == night.tournament_id
    with store.read() as db:
        return int(db.execute(select(func.max(tables.journal.c.action_id)).where(own)).scalar_one())


def test_a_night_from_start_to_completion_and_reopened(store: Store, organizer: int) -> None:
    night = a_planned(store, organizer)
    assert expect_success(store, night, "start")["status"] == "started"
    assert {player.seed_rank for player in stored_tournament(store, night).entrants} == {1, 2, 3, 4}
    assert len(stored_tournament(store, night).games) == 6
    play_all(store, night)
    completed = expect_success(store, night, "complete", now=LATER)
    assert (completed["status"], completed["completedAt"]) == ("completed", "2026-03-05T22:30:00.000000Z")
    _, summaries = build.ask(store, f"{PATH}/{night.tournament_id}/summary/matches", by=organizer)
    assert summaries["meta"]["total"] > 0
    reopened = expect_success(store, night, "reopen", now=LATER)
    assert (reopened["status"], reopened["completedAt"]) == ("started", None)
    _, summaries = build.ask(store, f"{PATH}/{night.tournament_id}/summary/matches", by=organizer)
    assert summaries["meta"]["total"] == 0


@pytest.mark.parametrize(("open_round", "games", "places"), [("keep", 1, [1, 1, 1, 4]), ("drop", 0, [1] * 4)])
def test_who_closes_with_a_round_open_keeps_or_drops_it(
    store: Store, organizer: int, open_round: str, games: int, places: list[int]
) -> None:
    night = a_planned(store, organizer, type="knockout", settings={"knockoutStrikeCount": 2})
    expect_success(store, night, "start")
    assert call(store, night, "rounds")[0] == 201
    ann, bea = stored_tournament(store, night).games[0].player_ids
    result = f"{PATH}/{night.tournament_id}/games/{stored_tournament(store, night).games[0].game_id}/result"
    build.do(store, "PUT", result, {"resultPositions": [ann, bea]}, by=organizer)
    status, answer = call(store, night, "complete", {"openRound": "later"})
    assert (status, list(answer["errors"])) == (422, ["openRound"])
    assert stored_tournament(store, night).status == "started"
    expect_success(store, night, "complete", {"openRound": open_round})
    assert len(stored_tournament(store, night).games) == games
    _, standings = build.ask(store, f"{PATH}/{night.tournament_id}/standings", by=organizer)
    assert [row["position"] for row in standings] == places
    assert games == 0 or standings[-1]["playerId"] == bea
    with store.read() as db:
        assert not verification.verify_tournament(db, night.tournament_id).faults


@pytest.mark.both_databases
def test_the_draw_of_the_start_names_its_seed_and_is_made_again_after_an_undo(
    store: Store, organizer: int
) -> None:
    night = a_planned(store, organizer, type="bracket")
    expect_success(store, night, "start")
    first = stored_tournament(store, night)
    expect_success(store, night, "undo", {"action": newest_action_id(store, night)})
    assert stored_tournament(store, night).status == "planned"
    expect_success(store, night, "start")
    again = stored_tournament(store, night)
    assert [game.player_ids for game in again.games] == [game.player_ids for game in first.games]
    assert [game.arena_id for game in again.games] == [game.arena_id for game in first.games]
    with store.read() as db:
        seeds = db.execute(select(tables.journal.c.dice_seed).distinct()).scalars().all()
    assert "7/start/0" in seeds


@pytest.mark.both_databases
def test_automatic_entries_are_given_at_the_start(store: Store, organizer: int) -> None:
    entries: dict[str, Any] = {
        "limited": True,
        "automaticEntries": 3,
        "price": None,
        "currency": None,
        "bundles": [],
    }
    night = a_planned(store, organizer, type="best_game", entry_configuration=entries)
    expect_success(store, night, "start")
    assert {player.entries_bought for player in stored_tournament(store, night).entrants} == {3}
    expect_success(store, night, "undo", {"action": newest_action_id(store, night)})
    assert {player.entries_bought for player in stored_tournament(store, night).entrants} == {0}


@pytest.mark.both_databases
def test_the_start_uses_places_in_the_series_as_seeds(store: Store, organizer: int) -> None:
    series_id = build.row(store, tables.series, organizer_id=organizer)
    earlier = build.a_tournament(store, organizer_id=organizer, series_id=series_id, status="completed")
    night = a_planned(
        store,
        organizer,
        players=0,
        type="group_matchplay",
        series_id=series_id,
        settings={"seeding": "series_seed"},
    )
    for place, player_id in enumerate(earlier.player_ids):
        where = {"tournament_id": earlier.tournament_id, "player_id": player_id}
        build.row(store, tables.standing, **where, position=4 - place, points=Decimal(place), row={})
        build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id, place=place)
    stranger = build.a_player(store, organizer)
    build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=stranger, place=9)
    expect_success(store, night, "start")
    after = stored_tournament(store, night)
    ranks = {player.player_id: player.seed_rank for player in after.entrants}
    assert [ranks[player_id] for player_id in (*earlier.player_ids, stranger)] == [4, 3, 2, 1, 5]
    assert after.state.seed_facts == {}


Step = tuple[str, Any]


@pytest.mark.parametrize(
    ("before", "step", "sentence"),
    [
        ({}, ("complete", None), "has not started"),
        ({}, ("reopen", None), "Only a completed tournament"),
        ({}, ("undo", {"action": 1}), "nothing to undo"),
        ({"players": 1}, ("start", None), "too few"),
        ({"status": "started"}, ("start", None), "has started already"),
        ({"status": "started"}, ("!", None), "Only a planned tournament"),
        ({"status": "completed"}, ("complete", None), "is completed"),
        ({"status": "completed"}, ("undo", {"action": 1}), "Reopen it"),
        ({"status": "completed"}, ("", {"name": "Other"}), "Reopen it"),
        ({"status": "started"}, ("", {"seeding": "random"}), "before the start"),
        (
            {"status": "started", "type": "group_matchplay"},
            ("", {"scoring": "papa"}),
            "before the start",
        ),
        (
            {"status": "started"},
            ("", {"tiebreakerPointsMap": [["0"]] + [["0.1"] * n for n in (2, 3, 4)]}),
            "before",
        ),
    ],
)
def test_changes_that_the_status_forbids_are_refused(
    store: Store, organizer: int, before: dict[str, Any], step: Step, sentence: str
) -> None:
    if before.get("type") != "group_matchplay" and step[1] == {"seeding": "random"}:
        before = {**before, "type": "matchplay", "settings": {"seeding": "manual"}}
    night = a_planned(store, organizer, **before)
    was = stored_state(store, night)
    status, answer = call(store, night, *step)
    assert (status, sentence in answer["message"]) == (409, True), answer
    assert stored_state(store, night) == was


def test_only_the_newest_action_can_be_undone(store: Store, organizer: int) -> None:
    night = a_planned(store, organizer)
    expect_success(store, night, "", {"name": "One"})
    expect_success(store, night, "", {"name": "Two"})
    status, answer = call(store, night, "undo", {"action": 1})
    assert (status, "action 2" in answer["message"], "Olga Ramp" in answer["message"]) == (409, True, True)
    assert expect_success(store, night, "undo", {"action": 2})["name"] == "One"
    assert expect_success(store, night, "undo", {"action": 1})["name"] == "Thursday Strikes"


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "change",
    [
        lambda store, night: expect_success(store, night, "", {"duration": 5, "pairing": "swiss"}),
        lambda store, night: expect_success(store, night, "", {"playoffsCutoffs": []}),
        lambda store, night: expect_success(store, night, "", {"name": "Other", "motdText": "Hello"}),
    ],
)
def test_undoing_leaves_everything_as_it_was_to_the_byte(
    store: Store, organizer: int, change: Callable[[Store, build.Night], Any]
) -> None:
    cutoffs = [{"index": 0, "value": 2, "cumulative": 2, "text": "A", "color": "red"}]
    night = a_planned(store, organizer, type="matchplay", settings={"playoffsCutoffs": cutoffs})
    expect_success(store, night, "start")
    was, standings, length = stored_state(store, night)
    change(store, night)
    steps = stored_state(store, night)[2] - length
    while newest_action_id(store, night) > 1 and stored_state(store, night)[0] != was:
        expect_success(store, night, "undo", {"action": _undoable(store, night)})
    assert steps
    assert stored_state(store, night)[:2] == (was, standings)


def test_reopening_leaves_everything_as_it_was_but_for_a_new_seed(store: Store, organizer: int) -> None:
    night = a_planned(store, organizer, type="matchplay")
    expect_success(store, night, "start")
    was, standings, _ = stored_state(store, night)
    expect_success(store, night, "complete")
    expect_success(store, night, "reopen")
    now, standings_now, _ = stored_state(store, night)
    assert now.state.dice_seed != was.state.dice_seed
    assert now.rated_until is not None
    facts: dict[str, Any] = {"rated_until": None, "reopening": None}
    same = replace(now, state=replace(now.state, dice_seed=was.state.dice_seed), **facts)
    assert (same, standings_now) == (was, standings)


def _undoable(store: Store, night: build.Night) -> int:
    _, body = build.ask(store, f"{PATH}/{night.tournament_id}/journal", by=night.organizer_id)
    (action_id,) = [action["actionId"] for action in body["data"] if action["canUndo"]]
    return int(action_id)


@pytest.mark.both_databases
def test_everything_may_be_changed_before_the_start(store: Store, organizer: int) -> None:
    night = a_planned(store, organizer, type="group_matchplay")
    series_id = build.row(store, tables.series, organizer_id=organizer)
    event_id = build.row(store, tables.occasion, organizer_id=organizer)
    changed = expect_success(
        store,
        night,
        "",
        {
            "name": " Friday ",
            "scoring": "papa",
            "gamesPerRound": 2,
            "seriesId": series_id,
            "eventId": event_id,
            "shortcut": "friday",
            "timezone": "America/New_York",
            "endLocal": "2026-03-06 10:00",
            "test": True,
        },
    )
    assert (changed["name"], changed["scoring"], changed["gamesPerRound"]) == ("Friday", "papa", 2)
    assert changed["pointsMap"][3] == [4, 2, 1, 0]
    assert (changed["seriesId"], changed["startLocal"]) == (series_id, "2026-03-05 14:30:00")
    assert changed["endUtc"] == "2026-03-06T15:00:00.000000Z"
    back = expect_success(
        store, night, "", {"scoring": None, "seriesId": None, "eventId": None, "shortcut": None}
    )
    assert (back["scoring"], back["seriesId"], back["pointsMap"][3]) == ("ifpa", None, [7, 5, 3, 1])
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.shortcut)).scalar_one() == 0
        assert db.execute(select(func.count()).select_from(tables.occasion_tournament)).scalar_one() == 0


def test_a_completed_night_may_still_be_put_in_a_series(store: Store, organizer: int) -> None:
    series_id = build.row(store, tables.series, organizer_id=organizer)
    night = a_planned(store, organizer, status="completed")
    assert expect_success(store, night, "", {"seriesId": series_id})["seriesId"] == series_id


@pytest.mark.both_databases
def test_saying_the_same_again_changes_nothing(store: Store, organizer: int) -> None:
    night = a_planned(store, organizer)
    was = stored_state(store, night)
    assert (
        expect_success(store, night, "", {"name": "Thursday Strikes", "test": False})["name"]
        == "Thursday Strikes"
    )
    assert stored_state(store, night) == was


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "golf"}, "type"),
        ({"status": "completed"}, "status"),
        ({"name": None}, "name"),
        ({"knockoutStrikeCount": 3}, "knockoutStrikeCount"),
        ({"roundRobinGroupSize": 65}, "roundRobinGroupSize"),
        ({"locationId": 9}, "locationId"),
        ({"links": [{"tournamentId": 1, "linkType": "playoff"}] * 2}, "links"),
    ],
)
def test_a_faulty_change_names_its_field_and_changes_nothing(
    store: Store, organizer: int, body: dict[str, Any], field: str
) -> None:
    night = a_planned(store, organizer)
    was = stored_state(store, night)
    status, answer = call(store, night, "", body)
    assert (status, list(answer["errors"])) == (422, [field])
    assert stored_state(store, night) == was


def test_an_undo_that_needs_a_shortcut_in_use_is_refused(store: Store, organizer: int) -> None:
    night, other = a_planned(store, organizer), a_planned(store, organizer)
    expect_success(store, night, "", {"shortcut": "friday"})
    expect_success(store, night, "", {"shortcut": None})
    expect_success(store, other, "", {"shortcut": "friday"})
    was = stored_state(store, night)
    status, answer = call(store, night, "undo", {"action": 2})
    assert (status, "cannot be undone any more" in answer["message"]) == (409, True)
    assert stored_state(store, night) == was


def test_a_planned_tournament_can_be_deleted(store: Store, organizer: int) -> None:
    night = a_planned(store, organizer)
    expect_success(store, night, "", {"shortcut": "friday"})
    assert expect_success(store, night, "!")["tournamentId"] == night.tournament_id
    assert build.ask(store, f"{PATH}/{night.tournament_id}", by=organizer)[0] == 404
    assert call(store, night, "!")[0] == 404


@pytest.mark.both_databases
def test_a_tournament_that_others_lead_to_is_not_deleted(store: Store, organizer: int) -> None:
    night, other = a_planned(store, organizer), a_planned(store, organizer)
    link = {"tournamentId": night.tournament_id, "linkType": "playoff"}
    expect_success(store, other, "", {"links": [link]})
    status, answer = call(store, night, "!")
    assert (status, str(other.tournament_id) in answer["message"]) == (409, True)
    expect_success(store, other, "", {"links": []})
    assert call(store, night, "!")[0] == 200


WRITES: dict[str, Any] = {
    "": {"name": "Other"},
    "start": None,
    "complete": None,
    "reopen": None,
    "undo": {"action": 1},
    "playoffs": {"type": "bracket", "players": 2},
    "!": None,
}


@pytest.mark.parametrize("way", WRITES)
def test_only_the_organizer_and_an_admin_may(store: Store, organizer: int, way: str) -> None:
    night = a_planned(store, organizer)
    keeper, reader = build.a_user(store, name="Kim Score"), build.a_user(store, name="Rea Der")
    build.row(store, tables.scorekeeper, tournament_id=night.tournament_id, user_id=keeper)
    with store.write() as transaction:
        claim = tables.player.c.player_id == night.player_ids[0]
        transaction.connection.execute(update(tables.player).where(claim).values(claimed_by=reader))
    other = build.a_user(store, name="Otto Tilt", role="organizer")
    refused: list[tuple[AuthenticatedCaller | None, int]] = [
        (build.caller(keeper, ability="score"), 403),
        (build.caller(reader), 403),
        (build.caller(other, role="organizer", ability="manage"), 403),
        (build.caller(organizer, role="organizer", ability="score"), 403),
    ]
    was = stored_state(store, night)
    for who, expected in refused:
        assert call(store, night, way, WRITES[way], by=who)[0] == expected
    path = f"{PATH}/{night.tournament_id}" + (f"/{way}" if way not in {"", "!"} else "")
    method = {"": "PATCH", "!": "DELETE"}.get(way, "POST")
    assert build.do(store, method, path, WRITES[way])[0] == 401
    assert stored_state(store, night) == was
    admin = build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")
    assert call(store, night, way, WRITES[way], by=admin)[0] in {200, 409}


def test_seeds_cannot_be_predicted_from_published_data(store: Store, organizer: int) -> None:
    night = a_planned(store, organizer)
    shown = json.dumps(build.ask(store, f"{PATH}/{night.tournament_id}", by=organizer)[1])
    assert "dice" not in shown
