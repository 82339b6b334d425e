"""Players, arenas, banks and scorekeepers of a tournament over HTTP. Source: formats, 2 and 20."""

import json

import pytest
from sqlalchemy import func, select

import build
from service.desk import Desk, a_desk
from silverball.store import tables
from silverball.store.database.engine import Store

OUTSIDERS = [
    ("nobody", 401),
    ("reader", 403),
    ("stranger", 403),
    ("keeper", 403),
    ("kiosk", 403),
    ("other", 403),
]


def book(desk: Desk, count: int = 1) -> list[int]:
    """Players of the owner's book who are not in the tournament."""
    return [build.a_player(desk.store, desk.night.organizer_id, name=f"Spare {n + 1}") for n in range(count)]


def players_in_book(desk: Desk) -> int:
    with desk.store.read() as db:
        return db.execute(select(func.count()).select_from(tables.player)).scalar_one()


def test_players_join_by_id_by_name_and_many_at_once(store: Store) -> None:
    desk = a_desk(store)
    first, second = book(desk, 2)
    shown = desk.do_and_undo("POST", "/players", {"playerId": first, "labels": ["new"], "labelColor": "red"})[
        "data"
    ]
    assert (shown["playerId"], shown["tournamentPlayer"]["labels"]) == (first, ["new"])
    shown = desk.ok("POST", "/players", {"name": "  Zoe\u202e Nudge ", "ifpaId": 77})["data"]
    assert (shown["name"], shown["ifpaId"], shown["organizerId"]) == (
        "Zoe Nudge",
        77,
        desk.night.organizer_id,
    )
    added = desk.do_and_undo(
        "POST", "/players", {"players": [{"playerId": second}, {"name": "Max"}, {"playerId": first}]}
    )
    assert [each["name"] for each in added["data"]] == ["Spare 2", "Max", "Spare 1"]


def test_a_late_player_of_a_knockout_brings_strikes(store: Store) -> None:
    desk = a_desk(store, "knockout")
    shown = desk.do_and_undo("POST", "/players", {"name": "Late Comer", "strikes": 2})["data"]
    assert shown["tournamentPlayer"]["pointsAdjustment"] == 2
    assert (
        "strikes"
        in a_desk(store).expect_refusal(422, "POST", "/players", {"name": "x", "strikes": 1})["errors"]
    )


def test_a_late_player_elsewhere_brings_points(store: Store) -> None:
    desk = a_desk(store)
    shown = desk.do_and_undo("POST", "/players", {"name": "Late Comer", "pointsAdjustment": 2.5})["data"]
    assert shown["tournamentPlayer"]["pointsAdjustment"] == 2.5
    for wrong in (
        {"pointsAdjustment": 2.555},
        {"pointsAdjustment": 2_000_000_000},
        {"pointsAdjustment": 1, "strikes": 1},
    ):
        refusal = desk.expect_refusal(422, "POST", "/players", {"name": "x", **wrong})
        assert list(refusal["errors"]) == ["pointsAdjustment"]
    bracket = a_desk(store, "bracket", starts=False)
    bracket.expect_refusal(409, "POST", "/players", {"name": "x", "pointsAdjustment": 1})


def test_players_who_cannot_join_are_refused_and_not_stored(store: Store) -> None:
    desk = a_desk(store)
    foreign = build.a_player(store, build.a_user(store, role="organizer"))
    before = players_in_book(desk)
    for body, field in [
        ({}, "playerId"),
        ({"playerId": foreign}, "playerId"),
        ({"players": [{"name": "Max"}, {"playerId": foreign}]}, "playerId"),
        ({"name": "x" * 101}, "name"),
        ({"name": "Max", "labels": ["a"] * 11}, "labels"),
        ({"name": "Max", "labels": ["a" * 41]}, "labels.0"),
        ({"name": "Max", "players": [{"name": "Max"}]}, "players"),
        ({"name": "Max", "status": "inactive"}, "status"),
        ({"players": []}, "players"),
    ]:
        assert field in desk.expect_refusal(422, "POST", "/players", body)["errors"], body
    twice = {"players": [{"name": "Max"}, {"playerId": desk.night.player_ids[0]}]}
    assert "already" in desk.expect_refusal(409, "POST", "/players", twice)["message"]
    desk.expect_refusal(409, "POST", "/players", {"name": "Max", "seed": 3})
    assert players_in_book(desk) == before


@pytest.mark.both_databases
def test_a_started_bracket_accepts_no_players(store: Store) -> None:
    desk = a_desk(store, "bracket")
    assert "schedule" in desk.expect_refusal(409, "POST", "/players", {"name": "Max"})["message"]
    player = desk.night.player_ids[0]
    desk.do_and_undo("PATCH", f"/players/{player}", {"status": "inactive"})
    desk.do_and_undo("POST", f"/players/{player}/forfeit")
    games = build.ask(store, f"{desk.path}/games?player={player}", by=desk.callers["owner"])[1]["data"]
    assert [game["status"] for game in games] == ["started"]


@pytest.mark.both_databases
def test_a_player_is_changed(store: Store) -> None:
    desk = a_desk(store)
    desk.open_round()
    path = f"/players/{desk.night.player_ids[0]}"
    body = {"labels": ["rookie"], "labelColor": "#aabbcc", "pointsAdjustment": -1.5, "scoreAdjustment": 2}
    shown = desk.do_and_undo("PATCH", path, body)["data"]["tournamentPlayer"]
    assert {name: shown[name] for name in body} == body
    assert (
        desk.do_and_undo("PATCH", path, {"status": "inactive"})["data"]["tournamentPlayer"]["status"]
        == "inactive"
    )
    desk.ok("PATCH", path, {"pointsAdjustment": 3})
    assert json.loads(desk.standings()[desk.night.player_ids[0]])["points"] == "3.00"
    desk.expect_refusal(409, "PATCH", path, {"seed": 1000})
    for bad in ({"pointsAdjustment": 0.001}, {"status": "gone"}, {"labelColor": "<b>"}, {"name": "x"}):
        desk.expect_refusal(422, "PATCH", path, bad)
    desk.expect_refusal(404, "PATCH", "/players/99999", {"status": "inactive"})


def test_seeds_are_given_before_the_start(store: Store) -> None:
    desk = a_desk(store, starts=False)
    path = f"/players/{desk.night.player_ids[1]}"
    assert desk.do_and_undo("PATCH", path, {"seed": 1})["data"]["tournamentPlayer"]["seed"] == 1
    desk.ok("PATCH", path, {"seed": 4})
    assert desk.ok("PATCH", path, {"seed": None})["data"]["tournamentPlayer"]["seed"] is None


def test_many_players_are_dropped_at_once_as_one_action(store: Store) -> None:
    desk = a_desk(store, players=8)
    gone = desk.night.player_ids[:3]
    body = {"players": [{"playerId": player_id, "status": "inactive"} for player_id in gone]}
    shown = desk.do_and_undo("PATCH", "/players", body)["data"]
    assert [player["tournamentPlayer"]["status"] for player in shown] == ["inactive"] * 3
    desk.expect_refusal(
        404, "PATCH", "/players", {"players": [*body["players"], {"playerId": 9999, "status": "active"}]}
    )
    desk.expect_refusal(422, "PATCH", "/players", {"players": [*body["players"], body["players"][0]]})


@pytest.mark.parametrize("value", ["NaN", "Infinity", 1e30, "1e30", -(10**10), 0.125, "x", None, True])
def test_invalid_amounts_are_refused(store: Store, value: object) -> None:
    desk = a_desk(store)
    player_id = desk.night.player_ids[0]
    desk.expect_refusal(422, "PATCH", f"/players/{player_id}", {"pointsAdjustment": value})
    desk.expect_refusal(
        422, "PATCH", "/players", {"players": [{"playerId": player_id, "scoreAdjustment": value}]}
    )


def test_a_thousand_players_join_and_leave_in_one_call(store: Store) -> None:
    desk = a_desk(store)
    added = desk.ok("POST", "/players", {"players": [{"name": f"New {n}"} for n in range(1000)]})["data"]
    dropped = [{"playerId": player["playerId"], "status": "inactive"} for player in added]
    assert len(desk.ok("PATCH", "/players", {"players": dropped})["data"]) == 1000
    desk.expect_refusal(422, "POST", "/players", {"players": [{"name": "x"}] * 1001})


def test_a_player_without_games_is_removed(store: Store) -> None:
    desk = a_desk(store)
    gone = desk.do_and_undo("DELETE", f"/players/{desk.night.player_ids[3]}")["data"]
    assert gone["playerId"] == desk.night.player_ids[3]
    desk.open_round()
    assert "inactive" in desk.expect_refusal(409, "DELETE", f"/players/{desk.night.player_ids[0]}")["message"]
    desk.expect_refusal(404, "DELETE", "/players/99999")


@pytest.mark.both_databases
def test_arenas_join_change_break_down_and_leave(store: Store) -> None:
    desk = a_desk(store)
    first, second = (
        build.an_arena(store, desk.night.organizer_id, name=name, category_id=3) for name in "AB"
    )
    shown = desk.do_and_undo("POST", "/arenas", {"arenaId": first, "preferred": True})["data"]
    assert (shown["arenaId"], shown["tournamentArena"]["preferred"]) == (first, True)
    both = desk.ok("POST", "/arenas", {"arenas": [{"arenaId": second}, {"arenaId": first, "labels": ["x"]}]})[
        "data"
    ]
    assert [each["arenaId"] for each in both] == [second, first]
    body = {"status": "inactive", "labels": ["broken"], "bestGameBlocked": True, "amazingRaceSeed": 4}
    part = desk.do_and_undo("PATCH", f"/arenas/{first}", body)["data"]["tournamentArena"]
    assert {name: part[name] for name in body} == body
    assert desk.do_and_undo("DELETE", f"/arenas/{first}")["data"]["arenaId"] == first
    foreign = build.an_arena(store, build.a_user(store))
    assert "arenaId" in desk.expect_refusal(422, "POST", "/arenas", {"arenaId": foreign})["errors"]
    desk.expect_refusal(409, "POST", "/arenas", {"arenaId": first})
    desk.expect_refusal(422, "POST", "/arenas", {})
    desk.expect_refusal(404, "PATCH", "/arenas/99999", {"status": "inactive"})
    desk.expect_refusal(422, "PATCH", f"/arenas/{first}", {"redraw": True})


def test_a_broken_arena_goes_and_its_game_moves_in_one_call(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    path = f"/arenas/{game['arenaId']}"
    desk.do_and_undo("PATCH", path, {"status": "inactive", "redraw": True})
    desk.ok("PATCH", path, {"status": "inactive", "redraw": True})
    moved = build.ask(store, f"{desk.path}/games/{game['gameId']}", by=desk.callers["owner"])[1]["data"]
    assert moved["arenaId"] != game["arenaId"]
    desk.expect_refusal(409, "DELETE", f"/arenas/{moved['arenaId']}")


def test_banks_and_scorekeepers_come_and_go(store: Store) -> None:
    desk = a_desk(store)
    bank = build.row(store, tables.bank, organizer_id=desk.night.organizer_id)
    arena = build.an_arena(store, desk.night.organizer_id)
    build.row(store, tables.bank_arena, bank_id=bank, place=0, arena_id=arena)
    assert desk.do_and_undo("PUT", f"/banks/{bank}")["data"]["arenaIds"] == [arena]
    desk.ok("PUT", f"/banks/{bank}")
    desk.ok("PUT", f"/banks/{bank}")
    user = build.a_user(store, name="Kit Flip")
    assert desk.do_and_undo("PUT", f"/scorekeepers/{user}")["data"]["name"] == "Kit Flip"
    # Between an action and its opposite: otherwise the two count as taken back, and undo passes over them.
    desk.ok("PUT", f"/scorekeepers/{user}")
    assert desk.do_and_undo("DELETE", f"/banks/{bank}")["data"]["bankId"] == bank
    desk.ok("DELETE", f"/banks/{bank}")
    desk.do_and_undo("DELETE", f"/scorekeepers/{user}")
    foreign = build.row(store, tables.bank, organizer_id=build.a_user(store))
    for method in ("PUT", "DELETE"):
        desk.expect_refusal(404, method, f"/banks/{foreign}")
    desk.expect_refusal(404, "PUT", "/scorekeepers/99999")
    desk.expect_refusal(404, "DELETE", f"/scorekeepers/{desk.night.organizer_id}")


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/players", {"name": "Max"}),
        ("PATCH", "/players", {"players": [{"playerId": 1, "status": "inactive"}]}),
        ("PATCH", "/players/1", {"status": "inactive"}),
        ("DELETE", "/players/1", None),
        ("POST", "/players/1/forfeit", None),
        ("POST", "/arenas", {"arenaId": 1}),
        ("PATCH", "/arenas/1", {"status": "inactive"}),
        ("DELETE", "/arenas/1", None),
        ("PUT", "/banks/1", None),
        ("DELETE", "/banks/1", None),
        ("PUT", "/scorekeepers/1", None),
        ("DELETE", "/scorekeepers/1", None),
        ("POST", "/rounds", {}),
        ("PATCH", "/rounds/1", {"score": 5}),
        ("POST", "/rounds/1/complete", None),
        ("DELETE", "/rounds/1", None),
        ("DELETE", "/games/1/result", None),
        ("POST", "/games/1/arena", None),
        ("POST", "/games/1/players", {"playerId": 1}),
        ("DELETE", "/games/1/players/1", None),
        ("POST", "/games", {"playerIds": [1, 2]}),
        ("DELETE", "/games/1", None),
        ("POST", "/tiebreaks", {"order": [1, 2]}),
        ("POST", "/frenzy/pause", None),
        ("POST", "/frenzy/resume", None),
        ("POST", "/frenzy/time", {"seconds": 5}),
    ],
)
def test_only_the_organizer_and_an_admin_change_this(
    store: Store, method: str, path: str, body: object
) -> None:
    desk = a_desk(store)
    for who, status in OUTSIDERS:
        desk.expect_refusal(status, method, path, body, by=who)
    for who in ("owner", "admin"):
        assert desk.do(method, path, body, by=who)[0] not in (401, 403)


def test_players_and_arenas_are_listed_as_the_tournament_embeds_them(store: Store) -> None:
    desk = a_desk(store)
    embedded = desk.ok("GET", "?includePlayers=1&includeArenas=1")["data"]
    assert embedded["players"]
    assert embedded["arenas"]
    assert desk.ok("GET", "/players", by="reader") == {"data": embedded["players"]}
    assert desk.ok("GET", "/arenas", by="reader") == {"data": embedded["arenas"]}
