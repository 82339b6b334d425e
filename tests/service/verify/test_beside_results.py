"""What is verified beside results: prizes that were paid, notes, durations, machines of summaries, series."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

import build
from service import stored_nights
from service.stored_nights import ORGANIZER_ID
from service.verify import planting
from service.verify.planting import Evening
from silverball.cli.main import silverball_group
from silverball.service.journal.reads import series_check, verification
from silverball.service.series import reads as series_reads
from silverball.store import tables
from silverball.store.database.engine import Store


def _faults(store: Store, tournament_id: int) -> list[str]:
    with store.read() as db:
        return list(verification.verify_tournament(db, tournament_id).faults)


def _change(store: Store, table: Any, tournament_id: int, *conditions: Any, **values: Any) -> None:
    with store.write() as transaction:
        own = table.c.tournament_id == tournament_id
        transaction.connection.execute(update(table).where(own, *conditions).values(values))


def _paid_evening(store: Store) -> tuple[Evening, int]:
    """A completed evening of four at 20.00 whose winner was paid 60 %, and its id."""
    evening = Evening(store, "group_matchplay", scorekeeping="user")
    evening.ok("PUT", "/prizes", {"entryFee": 2000, "shares": [6000, 4000], "rounding": 100})
    evening.ok("POST", "/start")
    (game,) = evening.ok("POST", "/rounds", {})["games"]
    evening.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    evening.ok("POST", "/complete")
    evening.ok("PUT", f"/prizes/players/{game['playerIds'][0]}", {"paid": True})
    return evening, evening.night.tournament.tournament_id


def _rewrite_payout(store: Store, tournament_id: int, name: str, value: Any) -> None:
    """Change a value of the payout in the row and in the journal alike."""
    with store.write() as transaction:
        db = transaction.connection
        line, own = tables.journal.c, tables.tournament.c
        rows = select(line.journal_id, line.data)
        paid = db.execute(rows.where(line.tournament_id == tournament_id, line.change == "PrizePaid")).one()
        paid.data["after"]["prizes"]["payouts"][0][name] = value
        is_line = line.journal_id == paid.journal_id
        db.execute(update(tables.journal).where(is_line).values(data=paid.data))
        changed = update(tables.tournament).where(own.tournament_id == tournament_id)
        db.execute(changed.values(prizes=paid.data["after"]["prizes"]))


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cents", 7700, "was paid 7700, their prize is 4800."),
        ("user_id", 7, "but the payout names another account or time."),
        ("paid_at", "2026-03-01T00:00:00Z", "but the payout names another account or time."),
    ],
)
def test_a_payout_is_the_prize_and_was_made_as_the_journal_says(
    store: Store, name: str, value: Any, words: str
) -> None:
    _, tournament_id = _paid_evening(store)
    assert _faults(store, tournament_id) == []
    _rewrite_payout(store, tournament_id, name, value)
    assert any(words in fault for fault in _faults(store, tournament_id)), _faults(store, tournament_id)


def test_a_prize_that_was_paid_before_a_correction_is_no_fault(store: Store) -> None:
    evening, tournament_id = _paid_evening(store)
    evening.ok("POST", "/reopen")
    (game,) = evening.ok("GET", "/games")["data"]
    body = {"resultPositions": game["resultPositions"][::-1]}
    evening.ok("PUT", f"/games/{game['gameId']}/result", body)
    evening.ok("POST", "/complete")
    assert _faults(store, tournament_id) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_notes_have_their_lines_and_lines_their_notes(store: Store) -> None:
    tournament_id = planting.an_evening(store).night.tournament.tournament_id
    assert _faults(store, tournament_id) == []
    _change(store, tables.game_note, tournament_id, action_id=1)
    faults = _faults(store, tournament_id)
    assert any("names action 1 (action_id)" in fault for fault in faults)
    assert any(fault.startswith("The note of action ") for fault in faults)
    _change(store, tables.game_note, tournament_id, kind="yellow")
    assert len(_faults(store, tournament_id)) == len(faults)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_durations_of_rounds_and_machines_of_summaries_are_verified(store: Store) -> None:
    night = planting.a_walked_night(store, "matchplay", steps=14)
    tournament_id = night.tournament.tournament_id
    _change(store, tables.round_, tournament_id, tables.round_.c.round_index == 0, duration_seconds=77)
    assert any("The duration_seconds of round" in fault for fault in _faults(store, tournament_id))
    _change(store, tables.arena_summary, tournament_id, opdb_id="GPlant-M0001")
    assert any("name several machines (opdb_id)" in fault for fault in _faults(store, tournament_id))


@pytest.mark.both_databases
def test_series_are_computed_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_nights._add_accounts(store)
    series_id = build.row(
        store, tables.series, organizer_id=ORGANIZER_ID, scoring="custom", removed_results=1
    )
    curve = {"1": 10, "2": 7, "3": 5}
    with store.write() as transaction:
        transaction.connection.execute(update(tables.series).values(scoring_custom=curve))
    players = [build.a_player(store, ORGANIZER_ID) for _ in range(3)]
    for places in ((1, 2, 2), (3, 1, 2), (1, 1, 3)):
        night = {"organizer_id": ORGANIZER_ID, "series_id": series_id, "status": "completed"}
        tournament_id = build.row(store, tables.tournament, **night)
        for player_id, place in zip(players, places, strict=True):
            own = {"tournament_id": tournament_id, "player_id": player_id}
            build.row(store, tables.standing, **own, position=place, points=Decimal(0), row={})
    with store.read() as db:
        (report,) = series_check.verify_series(db)
        assert (report.name, report.faults) == ("Winter League", [])
        # Ranks 2 and 3 are worth 6 to each, and the worst of three nights does not count.
        table = series_reads.series_details(db, series_id, None).standings
        assert msgspec.to_builtins([(row.points, row.points_adjusted) for row in table])[0] == (24, 19)
    monkeypatch.setenv("SILVERBALL_DATABASE_URL", store.url.render_as_string(hide_password=False))
    with store.write() as transaction:
        transaction.connection.execute(update(tables.series).values(scoring_custom={"1": {}}))
        transaction.connection.execute(update(tables.series).values(playoffs_cutoffs=7))
    shown = CliRunner().invoke(silverball_group, ["verify"])
    assert shown.exit_code == 1
    assert f"Series {series_id}, Winter League: The series cannot be checked" in shown.output
    assert "1 series verified, 1 with differences." in shown.output
