"""POST /api/tournaments/{id}/playoffs. Source: interface.md 3; formats, sections 4 and 13.3."""

from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import func, select, update

import build
from silverball.rules.model.tournament import Tournament
from silverball.service.core import loaded
from silverball.store import tables
from silverball.store.database.engine import Store

PATH = "/api/tournaments"
BANDS = [
    {"index": 0, "value": 2, "cumulative": 2, "text": "A finals", "color": "red"},
    {"index": 1, "value": 2, "cumulative": 4, "text": "B finals", "color": "blue"},
]


def a_qualifier(store: Store, points: list[int], **values: Any) -> build.Night:
    """A match play in which players are ranked by these points."""
    values = {"type": "group_matchplay", "status": "completed", **values}
    night = build.a_tournament(
        store, players=len(points), settings={"playoffsCutoffs": BANDS}, timezone="Europe/Stockholm", **values
    )
    with store.write() as transaction:
        for player_id, earned in zip(night.player_ids, points, strict=True):
            own = tables.entrant.c.player_id == player_id
            transaction.connection.execute(
                update(tables.entrant).where(own).values(points_adjustment=Decimal(earned))
            )
    return night


def call(store: Store, night: build.Night, **body: Any) -> tuple[int, Any]:
    path = f"{PATH}/{night.tournament_id}/playoffs?includeLinkedTournaments=1"
    status, answer, _ = build.do(store, "POST", path, {"type": "bracket", **body}, by=night.organizer_id)
    return status, answer


def create_playoffs(store: Store, night: build.Night, **body: Any) -> tuple[dict[str, Any], Tournament]:
    status, answer = call(store, night, **body)
    assert status == 201, answer
    data: dict[str, Any] = answer["data"]
    with store.read() as db:
        return data, loaded.load_tournament(db, data["tournamentId"])


def test_the_best_go_through_seeded_by_their_places(store: Store) -> None:
    night = a_qualifier(store, [1, 5, 3, 4, 2])
    shown, finals = create_playoffs(store, night, players=4)
    _one, two, three, four, five = night.player_ids
    assert [entrant.player_id for entrant in finals.entrants] == [two, four, three, five]
    assert [entrant.seed_value for entrant in finals.entrants] == [1, 2, 3, 4]
    assert (shown["status"], shown["type"], shown["seeding"]) == ("planned", "bracket", "manual")
    assert shown["name"] == "Thursday Strikes: playoffs"
    assert (shown["timezone"], shown["startLocal"]) == ("Europe/Stockholm", "2026-03-05 20:30:00")
    assert [arena.arena_id for arena in finals.lineup] == night.arena_ids
    status, answer, _ = build.do(
        store, "POST", f"{PATH}/{shown['tournamentId']}/start", by=night.organizer_id
    )
    assert (status, answer["data"]["status"]) == (200, "started")


def test_the_two_are_linked_both_ways(store: Store) -> None:
    night = a_qualifier(store, [4, 3, 2, 1], status="started")
    shown, _ = create_playoffs(store, night, players=2)
    (link,) = shown["linkedTournaments"]
    assert (link["tournamentId"], link["linkType"]) == (night.tournament_id, "qualifying")
    path = f"{PATH}/{night.tournament_id}?includeLinkedTournaments=1"
    _, qualifier = build.ask(store, path, by=night.organizer_id)
    (link,) = qualifier["data"]["linkedTournaments"]
    assert (link["tournamentId"], link["linkType"]) == (shown["tournamentId"], "playoff")


def test_a_band_is_a_tournament_of_its_own(store: Store) -> None:
    night = a_qualifier(store, [5, 4, 3, 2, 1])
    shown, finals = create_playoffs(store, night, band=1, settings={"bracketSize": 4})
    assert [player.player_id for player in finals.entrants] == night.player_ids[2:4]
    assert (shown["name"], shown["bracketSize"]) == ("Thursday Strikes: B finals", 4)


def test_ties_across_the_line_are_named_and_naming_the_players_settles_them(store: Store) -> None:
    night = a_qualifier(store, [4, 3, 3, 1])
    status, answer = call(store, night, players=2)
    second, third = night.player_ids[1:3]
    assert status == 409
    assert f"players {second} and {third}" in answer["message"]
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.tournament)).scalar_one() == 1
    _, finals = create_playoffs(store, night, players=[third, night.player_ids[0]])
    assert [player.player_id for player in finals.entrants] == [night.player_ids[0], third]


# Format, settings, players, the places of the qualifier that are shared, and the line that they are tied
# across (0 for none); by hand. Source: formats, sections 4, 14.10 and 14.12.
BYE_LINES = [
    # Six in a bracket of eight: the best two have a bye.
    ("bracket", {}, 6, (2, 3), 2),
    ("bracket", {}, 6, (1, 2), 0),
    ("bracket", {}, 8, (2, 3), 0),
    ("double_bracket", {}, 7, (1, 2), 1),
    # Ten: four play, six wait. Twelve: eight play, four wait.
    ("group_bracket", {}, 10, (6, 7), 6),
    # Thirteen: eleven play, two wait.
    ("group_bracket", {}, 13, (2, 3), 2),
    ("group_bracket", {}, 7, (2, 3), 0),
    ("group_bracket", {"bracketSize": 12}, 12, (4, 5), 4),
    ("golf_bracket", {"bracketSize": 12}, 12, (3, 4), 0),
    # Double byes of 16: nine to sixteen play first, five to eight join, then one to four.
    ("group_bracket", {"bracketSize": 16, "groupBracketDoubleByes": 1}, 16, (8, 9), 8),
    ("group_bracket", {"bracketSize": 16, "groupBracketDoubleByes": 1}, 16, (4, 5), 4),
    ("group_bracket", {"bracketSize": 16}, 16, (4, 5), 0),
]


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "type_", ["bracket", "double_bracket", "group_bracket", "golf_bracket", "amazingrace"]
)
@pytest.mark.parametrize("players", [2, 3, 4, 5, 7, 9, 12, 16, 24, 41])
def test_a_final_of_any_size_starts(store: Store, type_: str, players: int) -> None:
    night = a_qualifier(store, [100 - place for place in range(players)], status="started")
    shown, _ = create_playoffs(store, night, type=type_, players=players)
    if "group" in type_ or "golf" in type_:
        assert shown["bracketSize"] == players
    path = f"{PATH}/{shown['tournamentId']}/start"
    status, answer, _ = build.do(store, "POST", path, {}, by=night.organizer_id)
    assert status == 200, answer


@pytest.mark.parametrize(("type_", "settings", "players", "tied", "line"), BYE_LINES)
def test_a_tie_across_the_line_of_a_bye_is_named(
    store: Store, type_: str, settings: dict[str, Any], players: int, tied: tuple[int, int], line: int
) -> None:
    points = [100 - place for place in range(players)]
    points[tied[1] - 1] = points[tied[0] - 1]
    night = a_qualifier(store, points, status="started")
    asked = {"type": type_, "settings": settings, "players": players}
    status, answer = call(store, night, **asked)
    first, second = (night.player_ids[place - 1] for place in tied)
    assert status == (409 if line else 201), answer
    if line:
        assert answer["code"] == "tied-at-bye"
        assert f"after seed {line}: players {first} and {second}" in answer["message"]
        assert "100 % at most" in answer["message"]
        # Naming the qualifiers does not decide who has the bye; a draw on purpose does.
        assert call(store, night, **{**asked, "players": night.player_ids})[0] == 409
        path = f"{PATH}/{night.tournament_id}/tiebreaks"
        status, _, _ = build.do(store, "POST", path, {"draw": [first, second]}, by=night.organizer_id)
        assert status == 201
        assert call(store, night, **asked)[0] == 201


@pytest.mark.both_databases
def test_a_draw_on_purpose_is_journalled_and_can_be_undone(store: Store) -> None:
    night = a_qualifier(store, [4, 3, 3, 1], status="started")
    path = f"{PATH}/{night.tournament_id}"
    tied = night.player_ids[1:3]
    status, answer, _ = build.do(store, "POST", path + "/tiebreaks", {"draw": tied}, by=night.organizer_id)
    assert (status, sorted(row["position"] for row in answer["data"])) == (201, [1, 2, 3, 4])
    _, journal = build.ask(store, path + "/journal", by=night.organizer_id)
    # Published when the tournament is completed.
    assert journal["data"][0]["diceSeed"] is None
    with store.read() as db:
        seeds = db.execute(select(tables.journal.c.dice_seed).order_by(tables.journal.c.action_id)).scalars()
        assert list(seeds)[-1].endswith("/tie 1/0")
    status, answer, _ = build.do(
        store, "POST", path + "/tiebreaks", {"draw": [*tied, night.player_ids[0]]}, by=night.organizer_id
    )
    assert (status, answer["code"]) == (409, "not-the-tied-players")
    body = {"action": journal["meta"]["undoable"]}
    assert build.do(store, "POST", path + "/undo", body, by=night.organizer_id)[0] == 200
    _, rows = build.ask(store, path + "/standings", by=night.organizer_id)
    assert sorted(row["position"] for row in rows) == [1, 2, 2, 4]


def test_a_tie_in_front_of_a_band_is_named_too(store: Store) -> None:
    night = a_qualifier(store, [4, 3, 3, 1])
    assert call(store, night, band=1)[0] == 409


def test_a_dropped_player_makes_room_for_the_next(store: Store) -> None:
    night = a_qualifier(store, [4, 3, 2, 1])
    with store.write() as transaction:
        own = tables.entrant.c.player_id == night.player_ids[0]
        transaction.connection.execute(update(tables.entrant).where(own).values(status="inactive"))
    _, finals = create_playoffs(store, night, players=2)
    assert [player.player_id for player in finals.entrants] == night.player_ids[1:3]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "players"),
        ({"players": 2, "band": 0}, "players"),
        ({"players": 1}, "players"),
        ({"players": 9}, "players"),
        ({"players": [1, 99]}, "players"),
        ({"players": [1, 1]}, "players"),
        ({"band": 7}, "band"),
        ({"type": "chess", "players": 2}, "type"),
        ({"players": 2, "settings": {"scoring": "papa"}}, "settings.scoring"),
        ({"players": 2, "settings": {"bracketSize": 5}}, "settings.bracketSize"),
        ({"type": "group_bracket", "players": 2, "settings": {"bracketSize": 129}}, "settings.bracketSize"),
    ],
)
def test_faults_are_named_and_nothing_is_stored(store: Store, body: dict[str, Any], field: str) -> None:
    night = a_qualifier(store, [4, 3, 2, 1])
    status, answer = call(store, night, **body)
    assert (status, list(answer["errors"])) == (422, [field])
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.journal)).scalar_one() == 0


def test_there_are_no_qualifiers_before_the_start(store: Store) -> None:
    night = a_qualifier(store, [2, 1], status="planned")
    status, answer = call(store, night, players=2)
    assert (status, "no player has qualified" in answer["message"]) == (409, True)
