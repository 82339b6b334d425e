"""Ratings are verified day by day: `silverball verify --ratings`. Source: ratings, A.1 to A.5."""

import json
from datetime import date, timedelta

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from service.ratings.circuit import FIRST, NOW, Circuit
from silverball.cli.main import silverball_group
from silverball.kit.values import replace
from silverball.rules.ratings import recount, seats
from silverball.rules.ratings.formulas import DEFAULTS, Parameters
from silverball.rules.ratings.recount import RatingBefore
from silverball.rules.ratings.seats import GameSeats, IdentityRegister, RatedEvent, RatedPerson
from silverball.service.periods import rating_run
from silverball.service.periods.reads import rating_check
from silverball.service.periods.reads.rating_check import DayReport
from silverball.service.periods.writes import ImportedRating
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import rating_days


def _day(number: int) -> date:
    return FIRST + timedelta(days=number - 1)


def _reports(
    circuit: Circuit, parameters: Parameters = DEFAULTS, begin: date | None = None
) -> list[DayReport]:
    return list(rating_check.verify_ratings(circuit.store, parameters, begin=begin))


def _faults(reports: list[DayReport]) -> list[str]:
    return [fault for report in reports for fault in report.faults]


def _reasons(reports: list[DayReport]) -> dict[int, str]:
    """Day of March -> why it was not compared."""
    return {report.day.day: report.not_compared for report in reports if report.not_compared is not None}


def _change_revision(circuit: Circuit, day: int, **values: object) -> None:
    revision = tables.rating_revision.c
    with circuit.store.write() as transaction:
        own = (revision.period_date == _day(day).isoformat(), revision.rating_id == 1)
        transaction.connection.execute(update(tables.rating_revision).where(*own).values(values))


@pytest.fixture
def circuit(store: Store) -> Circuit:
    """Four nights of five people, one with an account and a number, rated up to the eighth."""
    made = Circuit(store)
    made.player("Ada", ifpa_id=11)
    made.player("Bo", ifpa_id=22)
    made.night(1, ["Ada", "Bo", "Cy"], ["Ada", "Bo"])
    made.night(3, ["Cy", "Bo", "Ada", "Di"], ["Di", "Ed"])
    made.night(4, ["Cy", "Bo"])
    made.night(6, ["Ada", "Ed"], ["Ed", "Ada", "Di"])
    made.confirm(made.claim("Bo"), 22)
    made.rate(8)
    return made


# Glickman's example, with expected scores as they are and rounded to four decimals. Source: ratings, A.2.
@pytest.mark.parametrize(
    ("is_rounded", "rating", "rd"),
    [(False, 1464.1064627569112, 151.39890244796933), (True, 1464.110827331089, 151.40020136111548)],
)
def test_the_example_of_the_paper_is_computed_again(is_rounded: bool, rating: float, rd: float) -> None:
    parameters = Parameters(rd_max=350, rd_default=350, rd_min=30, is_expected_rounded=is_rounded)
    before = {
        number: RatingBefore(*known, FIRST)
        for number, known in enumerate([(1500, 200), (1400, 30), (1550, 100), (1700, 300)], start=1)
    }
    games = GameSeats()
    for order in ((1, 2), (3, 1), (4, 1)):
        games.add({player: place for place, player in enumerate(order)})
    people = {number: RatedPerson(f"Player {number}", user_id=number) for number in before}
    event = RatedEvent("tournament", 1, "Example", FIRST, people, games)
    day = seats.day_of_events(FIRST, [event], IdentityRegister())
    expected = recount.expected_revisions(before, day, parameters)[1]
    assert (expected.rating, expected.rd) == pytest.approx((rating, rd), abs=1e-9)
    assert (expected.game_count, expected.win_count, expected.loss_count) == (3, 1, 2)


@pytest.mark.both_databases
def test_rated_days_are_what_their_results_give(circuit: Circuit) -> None:
    reports = _reports(circuit)
    assert (_faults(reports), _reasons(reports)) == ([], {})
    assert {report.day for report in reports} == {_day(number) for number in range(1, 9)}


@pytest.mark.parametrize(("first", "then"), [("Ines Calder", "INES CALDER"), ("INES CALDER", "Ines Calder")])
def test_two_players_of_one_name_stay_two_in_whichever_order_they_play(
    store: Store, first: str, then: str
) -> None:
    circuit = Circuit(store)
    circuit.claim("Ines Calder")
    circuit.night(1, [first, "Bo"])
    circuit.night(3, ["Bo", then])
    circuit.rate(4)
    rated = circuit.stored_rows()["rating"]
    assert _faults(_reports(circuit)) == []
    # The days are rated again, with all that is known by now.
    with store.write() as transaction:
        rating_days.mark_days(transaction.connection, [_day(1)])
    circuit.rate(4)
    assert circuit.stored_rows()["rating"] == rated
    assert _faults(_reports(circuit)) == []
    assert circuit.ratings().keys() == {"Ines Calder", "INES CALDER", "Bo"}


@pytest.mark.both_databases
def test_a_changed_revision_is_named_on_its_day_alone(circuit: Circuit) -> None:
    _change_revision(circuit, 3, rating=1512.5)
    (fault,) = _faults(_reports(circuit))
    assert fault.startswith("The revision of rating 1 on 2026-03-03 is another one: rating is 1512.5, it ")


def test_a_difference_below_a_billionth_is_none(circuit: Circuit) -> None:
    rows = dict(circuit.stored_rows())["rating_revision"]
    names = [column.name for column in tables.rating_revision.c]
    (own,) = [row for row in rows if row[1:3] == (1, _day(3).isoformat())]
    _change_revision(circuit, 3, rating=own[names.index("rating")] + 1e-10)
    assert _faults(_reports(circuit)) == []
    _change_revision(circuit, 3, rating=own[names.index("rating")] + 1e-8)
    assert len(_faults(_reports(circuit))) == 1


def test_a_result_that_was_changed_past_the_program_is_named(circuit: Circuit) -> None:
    seat = tables.game_player.c
    with circuit.store.write() as transaction:
        changed = update(tables.game_player).where(seat.game_id == 1, seat.slot < 2)
        swapped = {0: circuit.players["Bo"], 1: circuit.players["Ada"]}
        for slot, player_id in swapped.items():
            transaction.connection.execute(changed.where(seat.slot == slot).values(result_position=player_id))
    faults = _faults(_reports(circuit))
    assert any("The fingerprint of the period of 2026-03-01" in fault for fault in faults)
    assert any(fault.startswith("The revision of rating 1 on 2026-03-01") for fault in faults)
    # What follows is right by the ratings that are stored.
    assert not any("2026-03-04" in fault for fault in faults)


@pytest.mark.both_databases
def test_days_that_wait_and_days_after_a_correction_are_not_compared(circuit: Circuit) -> None:
    circuit.night(10, ["Ada", "Cy"])
    with circuit.store.write() as transaction:
        rating_days.mark_days(transaction.connection, [_day(4), _day(10)])
    reports = _reports(circuit)
    later = "2026-03-04 is to be rated again, and later days depend on it"
    assert _faults(reports) == []
    assert _reasons(reports) == {
        4: "it is to be rated again, as something has changed since",
        **dict.fromkeys((5, 6, 7, 8), later),
        10: "it waits to be rated",
    }


def test_days_of_other_settings_and_of_earlier_rules_are_not_compared(circuit: Circuit) -> None:
    reports = _reports(circuit, replace(DEFAULTS, c=3.0))
    assert _faults(reports) == []
    assert set(_reasons(reports).values()) == {"it was rated with other settings: c 2.137"}
    with circuit.store.write() as transaction:
        transaction.connection.execute(update(tables.rating_period).values(algorithm_version=1))
    assert set(_reasons(_reports(circuit)).values()) == {
        "it was rated by version 1 of the rules, today's is 3"
    }


def test_ratings_from_a_file_are_where_a_check_begins(store: Store) -> None:
    made = Circuit(store)
    ada = ImportedRating("Ada", None, 11, 1640.0, 31.5, _day(1))
    with store.write() as transaction:
        rating_run.import_ratings(transaction.connection, [ada], _day(2), DEFAULTS, NOW)
    made.player("Ada", ifpa_id=11)
    made.night(4, ["Ada", "Bo"])
    made.rate(5)
    reports = _reports(made)
    assert (_faults(reports), _reasons(reports)) == ([], {2: "its ratings came from a file"})
    _change_revision(made, 1, rating=1700.0)
    assert any("The revision of rating 1 on 2026-03-04" in fault for fault in _faults(_reports(made)))


def test_a_check_that_was_stopped_goes_on(circuit: Circuit) -> None:
    _change_revision(circuit, 6, win_count=7)
    whole = _faults(_reports(circuit))
    assert "win_count is 7, it should be 2" in whole[0]
    assert _faults(_reports(circuit, begin=_day(4))) == whole


@pytest.mark.both_databases
def test_the_command_verifies_ratings(circuit: Circuit, monkeypatch: pytest.MonkeyPatch) -> None:
    address = circuit.store.url.render_as_string(hide_password=False)
    monkeypatch.setenv("SILVERBALL_DATABASE_URL", address)
    clean = CliRunner().invoke(silverball_group, ["verify", "--ratings"])
    assert (clean.exit_code, clean.output) == (0, "8 days of ratings verified, none with differences.\n")
    with circuit.store.write() as transaction:
        transaction.connection.execute(
            update(tables.rating).where(tables.rating.c.rating_id == 1).values(rank=9)
        )
        own = tables.rating_period.c.period_date == _day(1).isoformat()
        waits = update(tables.rating_period).where(own).values(algorithm_version=1)
        transaction.connection.execute(waits)
    found = CliRunner().invoke(silverball_group, ["verify", "--ratings"])
    assert found.exit_code == 1
    assert found.output.splitlines() == [
        "The rank of rating 1 (Ada) is 9, by its revisions it is 1.",
        "Not compared: 2026-03-01, it was rated by version 1 of the rules, today's is 3.",
        "7 days of ratings verified, 1 with differences.",
    ]
    listed = CliRunner().invoke(silverball_group, ["verify", "--ratings", "--from", "2026-03-04", "--json"])
    ((report,), code) = (json.loads(listed.output), listed.exit_code)
    assert (report["day"], len(report["faults"]), code) == ("2026-03-08", 1, 1)
    for arguments in (["verify", "1", "--ratings"], ["verify", "--from", "2026-03-04"]):
        assert CliRunner().invoke(silverball_group, arguments).exit_code == 2
