"""Standings are stored and answered in their published shape."""

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

import build
from golden.shapes import sample
from silverball import app
from silverball.kit.http.endpoints import Request
from silverball.service.core import enact
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.standings import Standing


def a_standing(player_id: int, position: int, points: Any = "9.00") -> Standing:
    observed = json.loads(sample("standings"))[0]
    return msgspec.convert(
        {**observed, "playerId": player_id, "position": position, "points": points}, Standing
    )


def stored_rows(store: Store, night: build.Night, *rows: Standing) -> None:
    with store.write(night.tournament_id) as transaction:
        enact.replace_standings(transaction.connection, night.tournament_id, rows)


def listed_standings(store: Store, night: build.Night) -> Any:
    status, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/standings", by=1)
    assert status == 200
    return body


def test_standings_are_listed_by_position_then_by_player(store: Store) -> None:
    night = build.a_tournament(store, status="completed")
    ann, bob, cy, dee = night.player_ids
    stored_rows(store, night, a_standing(dee, 2), a_standing(cy, 1), a_standing(bob, 2), a_standing(ann, 4))
    assert [(row["position"], row["playerId"]) for row in listed_standings(store, night)] == [
        (1, cy),
        (2, bob),
        (2, dee),
        (4, ann),
    ]


@pytest.mark.parametrize("name", ["standings", "standings-edge-cases"])
def test_a_stored_row_is_answered_byte_for_byte(store: Store, name: str) -> None:
    rows = msgspec.json.decode(sample(name), type=tuple[Standing, ...])
    night = build.a_tournament(store, players=len(rows), status="completed")
    own = [
        msgspec.structs.replace(row, player_id=player_id, position=place)
        for place, (row, player_id) in enumerate(zip(rows, night.player_ids, strict=True), start=1)
    ]
    stored_rows(store, night, *own)
    assert listed_standings(store, night) == json.loads(msgspec.json.encode(own))


def test_storing_again_replaces_the_rows(store: Store) -> None:
    night, other = (build.a_tournament(store, status="completed") for _ in range(2))
    stored_rows(store, other, a_standing(other.player_ids[0], 1))
    stored_rows(store, night, *(a_standing(player_id, 1) for player_id in night.player_ids))
    stored_rows(store, night, a_standing(night.player_ids[1], 1))
    assert [row["playerId"] for row in listed_standings(store, night)] == [night.player_ids[1]]
    stored_rows(store, night)
    assert listed_standings(store, night) == []
    assert len(listed_standings(store, other)) == 1


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("points", "kept"),
    [
        ("45.00", "45.00"),
        (10, "10.00"),
        (-3, "-3.00"),
        (7.25, "7.25"),
        (24.0625, "24.06"),
        (None, None),
    ],
)
def test_the_points_of_a_row_are_kept_in_hundredths_beside_it(
    store: Store, points: Any, kept: str | None
) -> None:
    night = build.a_tournament(store, status="completed")
    stored_rows(store, night, a_standing(night.player_ids[0], 1, points))
    with store.read() as db:
        found = db.execute(select(tables.standing.c.points)).scalar_one()
    assert found == (None if kept is None else Decimal(kept))
    assert listed_standings(store, night)[0]["points"] == points


def test_points_that_are_no_number_are_refused(store: Store) -> None:
    night = build.a_tournament(store, status="completed")
    with pytest.raises(ValueError, match="'many' is not a number of points"):
        stored_rows(store, night, a_standing(night.player_ids[0], 1, "many"))
    assert listed_standings(store, night) == []


@pytest.mark.parametrize(("status", "paced"), [("planned", False), ("started", True), ("completed", False)])
def test_only_a_running_tournament_asks_for_patience(store: Store, status: str, paced: bool) -> None:
    night = build.a_tournament(store, status=status)
    stored_rows(store, night, a_standing(night.player_ids[0], 1))
    api = app.build_api(store, Settings(base_url=build.BASE_URL, public_read=True))
    path = f"/api/tournaments/{night.tournament_id}/standings"
    assert app.answer_request(api, Request(method="GET", path=path)).is_throttled is paced


def test_standings_of_an_unknown_tournament_are_not_found(store: Store) -> None:
    status, body = build.ask(store, "/api/tournaments/99999999/standings", by=1)
    assert (status, body["message"]) == (404, r"No query results for model [App\Models\Tournament] 99999999")
