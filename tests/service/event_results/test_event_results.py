"""Results for the federation over HTTP. Places and reasons are made by hand."""

import csv
import io
from typing import Any

import pytest
from sqlalchemy import insert, select, update

import build
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.service.tables.reads import event_results
from silverball.store import tables
from silverball.store.database.engine import Store


def give_numbers(store: Store, player_ids: list[int]) -> None:
    """Player 101 has the federation number 5101, and so on."""
    with store.write() as transaction:
        for player_id in player_ids:
            own = tables.player.c.player_id == player_id
            transaction.connection.execute(
                update(tables.player).where(own).values(ifpa_id=5000 + player_id, name=f"Player {player_id}")
            )


def play_rounds(desk: Desk, rounds: int) -> None:
    for _ in range(rounds):
        for game in desk.open_round():
            if len(game["playerIds"]) == 1:
                continue
            result = {"resultPositions": sorted(game["playerIds"])}
            desk.ok("PUT", f"/games/{game['gameId']}/result", result)


def a_finished_night(store: Store) -> tuple[Desk, list[int]]:
    """A completed night of two rounds, in which lower ids win."""
    desk = a_desk(store)
    player_ids = sorted(desk.night.player_ids)
    play_rounds(desk, 2)
    desk.ok("POST", "/complete")
    give_numbers(store, player_ids)
    return desk, player_ids


def link_final(store: Store, qualifying_id: int, positions: dict[int, int], *, place: int = 0) -> int:
    """A completed final with these positions, linked as playoffs in both directions."""
    final = build.a_tournament(store, players=0, status="completed", name=f"Final {place}")
    standing = tables.standing
    with store.write() as transaction:
        db = transaction.connection
        copied = select(standing).where(standing.c.tournament_id == qualifying_id)
        for row in db.execute(copied.order_by(standing.c.player_id)).mappings().all():
            if position := positions.get(row["player_id"]):
                own_row = {**row["row"], "position": position}
                new = {"tournament_id": final.tournament_id, "position": position, "row": own_row}
                db.execute(insert(standing).values({**row, **new}))
        for own, other, kind, at in (
            (qualifying_id, final.tournament_id, "playoff", place),
            (final.tournament_id, qualifying_id, "qualifying", 0),
        ):
            transaction.connection.execute(
                insert(tables.tournament_link).values(
                    tournament_id=own, linked_tournament_id=other, link_type=kind, place=at, shown={}
                )
            )
    return final.tournament_id


def shown(desk: Desk, query: str = "") -> Any:
    return desk.ok("GET", f"/federation-results{query}")["data"]


def test_a_night_is_listed_by_place_as_text_and_as_csv(store: Store) -> None:
    desk, players = a_finished_night(store)
    event = shown(desk)
    assert sorted(row["playerId"] for row in event["results"]) == players
    assert all(row["ticked"] and not row["reasons"] for row in event["results"])
    lines = [line.split("\t") for line in event["text"].splitlines()]
    assert [line[2] for line in lines] == [str(5000 + row["playerId"]) for row in event["results"]]
    assert [int(line[0]) for line in lines] == [row["position"] for row in event["results"]]
    with store.read() as db:
        rows = event_results.file_rows(event_results.finished_event(db, desk.night.tournament_id, None), ())
    assert [[str(cell) for cell in row] for row in rows] == lines


@pytest.mark.both_databases
def test_the_final_of_the_best_decides_and_other_finals_change_no_place(store: Store) -> None:
    desk, _ = a_finished_night(store)
    before = [row["playerId"] for row in shown(desk)["results"]]
    first, second, third, fourth = before
    final = link_final(store, desk.night.tournament_id, {second: 1, first: 2})
    others = link_final(store, desk.night.tournament_id, {fourth: 1, third: 2}, place=1)
    event = shown(desk)
    assert [row["playerId"] for row in event["results"]][:2] == [second, first]
    assert [row["playerId"] for row in event["results"]][2:] == [third, fourth]
    assert [row["finalist"] for row in event["results"]] == [True, True, False, False]
    assert event["finalsId"] == final
    for member in (final, others):
        path = f"/api/tournaments/{member}/federation-results"
        _, answer, _ = build.do(store, "GET", path, by=desk.night.organizer_id)
        assert answer["data"] == event


def rename(store: Store, player_id: int, **values: Any) -> None:
    with store.write() as transaction:
        own = update(tables.player).where(tables.player.c.player_id == player_id).values(**values)
        transaction.connection.execute(own)


def test_the_winner_without_a_number_is_in_the_file_by_name_and_the_second_is_second(store: Store) -> None:
    desk, players = a_finished_night(store)
    rename(store, players[0], ifpa_id=None, name="Newcomer")
    event = shown(desk)
    first = event["results"][0]
    assert (first["ticked"], first["reasons"]) == (True, ["no-number"])
    lines = [line.split("\t") for line in event["text"].splitlines()]
    assert lines[0] == ["1", "Newcomer", ""]
    assert [int(line[0]) for line in lines] == [row["position"] for row in event["results"]]
    # Who is chosen keeps their place.
    last = event["results"][-1]
    chosen = shown(desk, f"?players={last['playerId']}")
    assert chosen["text"] == f"{last['position']}\t{last['name']}\t{last['ifpaId']}\n"
    desk.expect_refusal(422, "GET", "/federation-results?players=999999")


def test_an_erased_person_has_no_row_and_their_place_stays_free(store: Store) -> None:
    desk, players = a_finished_night(store)
    before = {row["playerId"]: row["position"] for row in shown(desk)["results"]}
    erased = {"name": f"Player {players[0]}", "ifpa_id": None, "claimed_by": None, "status": "inactive"}
    rename(store, players[0], **erased)
    event = shown(desk)
    assert {row["playerId"]: row["position"] for row in event["results"]} == {
        player_id: position for player_id, position in before.items() if player_id != players[0]
    }
    assert not event["text"].startswith("1\t")
    desk.expect_refusal(422, "GET", f"/federation-results?players={players[0]}")


def test_a_check_names_what_to_look_at(store: Store) -> None:
    desk, players = a_finished_night(store)
    first, second, third, fourth = players
    rename(store, first, name="Ada Quill", ifpa_id=None)
    rename(store, second, name="A. Quill")
    rename(store, third, name="Bo", ifpa_id=None)
    rename(store, fourth, name="b\u00f3", ifpa_id=None)
    kinds = {check["kind"]: set(check["playerIds"]) for check in shown(desk)["checks"]}
    assert kinds == {
        "likely-double": {first, second},
        "same-name": {third, fourth},
        "no-number": {first, third, fourth},
    }
    # Two numbers are two people.
    rename(store, first, ifpa_id=77)
    assert "likely-double" not in [check["kind"] for check in shown(desk)["checks"]]


def test_a_number_that_stands_there_twice_keeps_the_file_back(store: Store) -> None:
    desk, players = a_finished_night(store)
    rename(store, players[1], ifpa_id=5000 + players[0])
    event = shown(desk)
    assert event["checks"][0]["kind"] == "number-twice"
    assert (set(event["checks"][0]["playerIds"]), event["text"]) == (set(players[:2]), "")
    refusal = desk.expect_refusal(409, "GET", "/federation-results/csv")
    assert refusal["code"] == "federation-number-twice"
    # Somebody may leave out one of them.
    assert shown(desk, f"?players={players[0]},{players[2]}")["text"].count("\n") == 2


def test_who_played_fewer_than_half_of_the_rounds_is_apart(store: Store) -> None:
    desk = a_desk(store)
    players = sorted(desk.night.player_ids)
    play_rounds(desk, 1)
    away = {"playerId": players[-1], "status": "inactive"}
    desk.ok("PATCH", "/players", {"players": [away]})
    play_rounds(desk, 2)
    desk.ok("POST", "/complete")
    give_numbers(store, players)
    rows = {row["playerId"]: row for row in shown(desk)["results"]}
    assert (rows[players[-1]]["reasons"], rows[players[-1]]["ticked"]) == (["below-half"], False)
    (left,) = [check for check in shown(desk)["checks"] if check["kind"] == "left-early"]
    assert left["playerIds"] == [players[-1]]
    assert all(rows[player_id]["ticked"] for player_id in players[:-1])


def test_an_event_that_can_still_change_is_refused(store: Store) -> None:
    desk = a_desk(store)
    assert "not finished" in desk.expect_refusal(409, "GET", "/federation-results")["message"]
    desk.expect_refusal(409, "GET", "/federation-results/csv")
    status, _, _ = build.do(
        store, "GET", "/api/tournaments/999999/federation-results", by=desk.night.organizer_id
    )
    assert status == 404


def test_the_file_has_places_names_and_numbers_as_the_text_has(store: Store) -> None:
    desk, players = a_finished_night(store)
    with store.write() as transaction:
        for player_id, name in zip(players, ("=SUM(A1)", 'Ann "Ace", the', "Zoë", "Dot"), strict=True):
            own = tables.player.c.player_id == player_id
            transaction.connection.execute(update(tables.player).where(own).values(name=name))
    status, content = build.ask(store, f"{desk.path}/federation-results/csv", by=desk.night.organizer_id)
    assert status == 200
    rows = list(csv.reader(io.StringIO(content)))
    assert rows[0] == ["Place", "Name", "IFPA number"]
    lines = [line.split("\t") for line in shown(desk)["text"].splitlines()]
    # A spreadsheet must not run a name; what is pasted into a form stays as it is.
    assert [[cell.removeprefix("'") for cell in row] for row in rows[1:]] == lines
    assert [row[1] for row in rows if row[1].startswith("'")] == ["'=SUM(A1)"]
    chosen = build.ask(
        store,
        f"{desk.path}/federation-results/csv?players={players[2]}",
        by=desk.night.organizer_id,
    )
    place = next(row["position"] for row in shown(desk)["results"] if row["playerId"] == players[2])
    assert chosen == (200, f"Place,Name,IFPA number\n{place},Zoë,{5000 + players[2]}\n")
    desk.expect_refusal(422, "GET", "/federation-results/csv?players=999999")


@pytest.mark.both_databases
def test_a_series_is_an_event_once_it_is_completed(store: Store) -> None:
    desk, players = a_finished_night(store)
    series_id = build.row(store, tables.series, organizer_id=desk.night.organizer_id)
    with store.write() as transaction:
        own = tables.tournament.c.tournament_id == desk.night.tournament_id
        transaction.connection.execute(update(tables.tournament).where(own).values(series_id=series_id))
    path = f"/api/series/{series_id}/federation-results"
    status, refusal = build.ask(store, path, by=desk.night.organizer_id)
    assert (status, refusal["code"]) == (409, "event-not-finished")
    assert build.ask(store, f"{path}/csv", by=desk.night.organizer_id)[0] == 409
    with store.write() as transaction:
        transaction.connection.execute(update(tables.series).values(status="completed"))
    status, answer = build.ask(store, path, by=desk.night.organizer_id)
    event = answer["data"]
    assert (status, event["seriesId"], event["tournamentId"]) == (200, series_id, None)
    assert sorted(row["playerId"] for row in event["results"]) == players
    assert all(row["ticked"] and not row["finalist"] for row in event["results"])
    assert [row["position"] for row in event["results"]] == [
        row["position"] for row in shown(desk)["results"]
    ]
    content = build.ask(store, f"{path}/csv", by=desk.night.organizer_id)[1]
    assert [line.split(",") for line in content.splitlines()[1:]] == [
        line.split("\t") for line in event["text"].splitlines()
    ]
    assert build.ask(store, "/api/series/999/federation-results", by=desk.night.organizer_id)[0] == 404


def test_the_file_of_a_womens_tournament_says_for_which_ranking_it_is(store: Store) -> None:
    desk, _ = a_finished_night(store)
    path = f"/api/tournaments/{desk.night.tournament_id}/federation-results"
    status, answer = build.ask(store, path, by=desk.night.organizer_id)
    assert (status, "womens" in answer["data"]) == (200, False)
    with store.write() as transaction:
        own = tables.tournament.c.tournament_id == desk.night.tournament_id
        transaction.connection.execute(update(tables.tournament).where(own).values(womens=True))
    assert build.ask(store, path, by=desk.night.organizer_id)[1]["data"]["womens"] is True
    with store.read() as db:
        event = event_results.finished_event(db, desk.night.tournament_id, None)
    assert event.file_name == f"results-womens-{desk.night.tournament_id}.csv"


def a_completed_night(store: Store) -> tuple[Desk, list[int]]:
    """A completed night of two rounds, in which lower ids win; nobody has a number."""
    desk = a_desk(store)
    play_rounds(desk, 2)
    desk.ok("POST", "/complete")
    return desk, sorted(desk.night.player_ids)


def sent_of(desk: Desk, **options: Any) -> Any:
    return desk.ok("GET", "/federation-results/sent", **options)["data"]


@pytest.mark.both_databases
def test_what_was_sent_is_compared_with_the_places_of_now(store: Store) -> None:
    desk, player_ids = a_completed_night(store)
    assert sent_of(desk) == {"sentAt": None, "changes": []}
    best, *others = player_ids
    noted = desk.ok("PUT", "/federation-results/sent", {"sent": True})["data"]
    assert (noted["sentAt"] is not None, noted["changes"]) == (True, [])
    # Reopened, the event can still change; closed with the best last, all are named.
    places = {row["playerId"]: row["position"] for row in shown(desk)["results"]}
    desk.ok("POST", "/reopen")
    desk.ok("PATCH", f"/players/{best}", {"pointsAdjustment": -10})
    assert (sent_of(desk)["sentAt"], sent_of(desk)["changes"]) == (noted["sentAt"], [])
    desk.ok("POST", "/complete")
    after = {row["playerId"]: row["position"] for row in shown(desk)["results"]}
    assert {each["playerId"]: (each["sent"], each["now"]) for each in sent_of(desk)["changes"]} == {
        player_id: (places[player_id], after[player_id])
        for player_id in player_ids
        if places[player_id] != after[player_id]
    }
    # Sent again, with those who are named: the others are nobody's mistake.
    named = desk.ok("PUT", "/federation-results/sent", {"sent": True, "players": others})["data"]
    assert named["changes"] == []
    desk.ok("PUT", "/federation-results/sent", {"sent": False})
    assert sent_of(desk)["sentAt"] is None
    with store.read() as db:
        assert not verification.verify_tournament(db, desk.night.tournament_id).faults


def test_a_qualifying_and_its_final_are_sent_as_one_event(store: Store) -> None:
    desk, _player_ids = a_completed_night(store)
    desk.ok("PUT", "/federation-results/sent", {"sent": True})
    first, second = [row["playerId"] for row in shown(desk)["results"]][:2]
    final = link_final(store, desk.night.tournament_id, {second: 1, first: 2})
    path = "/api/tournaments/{}/federation-results/sent"
    _, answer = build.ask(store, path.format(desk.night.tournament_id), by=desk.callers["owner"])
    changed = {each["playerId"]: each["now"] for each in answer["data"]["changes"]}
    assert (changed[second], changed[first]) == (1, 2)
    # The same note is that of the final, whose organizer is somebody else.
    _, answer = build.ask(store, path.format(final), by=desk.callers["admin"])
    assert answer["data"]["sentAt"] is not None


def test_who_does_not_run_it_neither_sees_nor_notes_what_was_sent(store: Store) -> None:
    desk, _player_ids = a_completed_night(store)
    desk.expect_refusal(403, "GET", "/federation-results/sent", by="player")
    desk.expect_refusal(403, "PUT", "/federation-results/sent", {"sent": True}, by="player")
    refused = desk.expect_refusal(422, "PUT", "/federation-results/sent", {"sent": True, "players": [999]})
    assert list(refused["errors"]) == ["players"]
    desk.ok("POST", "/reopen")
    assert desk.expect_refusal(409, "PUT", "/federation-results/sent", {"sent": True})["code"] == (
        "event-not-finished"
    )
