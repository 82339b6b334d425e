"""The machine database knows which machines are for two: no group of four is given one."""

import msgspec

import build
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store


def a_machine(desk: Desk, place: int, players: int | None) -> int:
    """Let a machine of the night be a title for so many players."""
    opdb_id, arena_id = f"G4ODR-M{place}", desk.night.arena_ids[place]
    build.row(
        desk.store,
        tables.machine,
        opdb_id=opdb_id,
        opdb_group="G4ODR",
        entry_type="machine",
        name=f"Title {place}",
        entry=msgspec.to_builtins(
            msgspec.structs.replace(build.MACHINE, opdb_id=opdb_id, player_count=players)
        ),
    )
    who = desk.callers["owner"]
    assert build.do(desk.store, "PATCH", f"/api/arenas/{arena_id}", {"opdbId": opdb_id}, by=who)[0] == 200
    return arena_id


def test_the_group_of_four_is_never_on_the_machine_for_two(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=4, arenas=3, starts=False)
    for_two, unknown, for_four = (a_machine(desk, place, count) for place, count in enumerate((2, None, 4)))
    desk.ok("POST", "/start")
    for _ in range(4):
        (game,) = desk.open_round()
        assert game["arenaId"] in {unknown, for_four}
        path = f"/games/{game['gameId']}"
        answer = desk.expect_refusal(409, "PATCH", path, {"arenaId": for_two})
        assert answer["code"] == "arena-for-fewer-players"
        assert "is for 2 players at once, and these are 4. Choose another one." in answer["message"]
        other = desk.ok("POST", f"{path}/arena")["data"]["arenaId"]
        assert other in {unknown, for_four} - {game["arenaId"]}
        desk.ok("PUT", f"{path}/result", {"resultPositions": game["playerIds"]})
    with store.read() as db:
        report = verification.verify_draws(db, desk.night.tournament_id)
        assert (list(report.faults), list(report.not_remade)) == ([], [])
        assert list(verification.verify_tournament(db, desk.night.tournament_id).faults) == []


def test_two_players_play_a_machine_for_one_as_before(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=2, arenas=1, starts=False)
    for_one = a_machine(desk, 0, 1)
    desk.ok("POST", "/start")
    assert desk.open_round()[0]["arenaId"] == for_one
