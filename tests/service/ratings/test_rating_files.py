"""The files of all ratings and revisions. Source: ratings.md E."""

import re
from typing import Any

import pytest

import build
from service.ratings.circuit import NOW, Circuit
from silverball.exchange import ratings_csv
from silverball.kit.errors import Conflict, Invalid
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.periods import rating_run
from silverball.service.ratings import reads as ratings_reads
from silverball.store.database.engine import Store

HEADER = re.compile(
    r"^Name,User ID,IFPA ID,Rating,RD,Lower Bound,"
    r"Last Rating Period \(Data from: \d{4}-\d{2}-\d{2}\),Rating class$"
)


def rating_of(circuit: Circuit, name: str) -> Any:
    found = circuit.get_json(f"/api/ratings/search?query={name}")["data"]
    assert len(found) == 1
    return found[0]


def test_the_file_of_all_ratings_has_the_known_form(circuit: Circuit) -> None:
    with circuit.store.read() as db:
        header, *rows = list(ratings_reads.rating_csv_lines(db))
    assert HEADER.match(header)
    assert "2026-03-06" in header
    rating, rd = circuit.ratings()["Ada"]
    assert rows[0] == f'"Ada",,11,{rating:.2f},{rd:.2f},{rating - 2 * rd:.2f},2026-03-01,4\n'
    assert len(rows) == 3


def test_the_file_of_revisions_has_a_line_for_every_period_played(circuit: Circuit) -> None:
    with circuit.store.read() as db:
        header, *rows = list(ratings_reads.revision_csv_lines(db))
    assert header == (
        "Rating ID,User ID,IFPA ID,Rating Period,Rating,RD,Lower Bound,Delta,Games,Wins,Losses,Results\n"
    )
    assert len(rows) == 5
    assert rows[0].startswith("1,,11,2026-03-01,")
    assert all(line.count(",") == header.count(",") for line in rows)


def rating_file(store: Store) -> bytes:
    with store.read() as db:
        return "".join(ratings_reads.rating_csv_lines(db)).encode()


def bring_in(store: Store, content: bytes) -> None:
    found = ratings_csv.parse(content)
    with store.write() as transaction:
        rating_run.import_ratings(transaction.connection, found.seeds, found.day, DEFAULTS, NOW)


CSV = (
    "Name,User ID,IFPA ID,Rating,RD,Lower Bound,Last Rating Period (Data from: 2026-02-28),Rating class\n"
    '"Ada ""The Arm"" Öst",,11,1599.74,24.23,1551.28,2026-02-03,4\n'
    '"Bo, Larkin",,22,1450.00,75.00,1300.00,2025-12-24,5\n'
    '"Cy",,,1900.50,30.00,1840.50,2026-02-28,0\n'
)


def test_an_imported_file_is_exported_identically(store: Store) -> None:
    bring_in(store, CSV.encode())
    assert rating_file(store).decode() == CSV


@pytest.mark.both_databases
def test_imported_ratings_have_no_counts_and_periods_continue_from_them(store: Store) -> None:
    made = Circuit(store)
    bring_in(store, CSV.encode())
    before = made.get_json("/api/ratings/ifpa/11/summary")["data"]
    assert (before["rating"], before["gameCount"], before["delta"], before["rank"]) == (1600, None, None, 2)
    made.player("Ada", ifpa_id=11)
    made.night(2, ["Bo", "Ada"])
    assert made.rate(2) == 2
    after = made.get_json("/api/ratings/ifpa/11/summary")["data"]
    assert (after["ratingId"], after["gameCount"], after["lossCount"]) == (before["ratingId"], 1, 1)
    assert after["rating"] < 1600
    old = made.get_json("/api/ifpa/11/rating-history")["data"][-1]
    assert (old["ratingPeriod"], old["rating"], old["gameCount"]) == ("2026-02-03", 1600, None)


def test_an_imported_rating_belongs_to_the_account_of_the_same_name(store: Store) -> None:
    ada, bo = build.a_user(store, name="Ada"), build.a_user(store, name="Somebody Else")
    rows = f'"Ada",{ada},,1500.00,50.00,1400.00,2026-02-03,4\n"Bo",{bo},,1500.00,50.00,1400.00,2026-02-03,4\n'
    bring_in(store, (CSV.splitlines(keepends=True)[0] + rows).encode())
    assert build.ask(store, f"/api/ratings/users/{ada}", by=ada)[0] == 200
    assert build.ask(store, f"/api/ratings/users/{bo}", by=ada)[0] == 404


def test_another_file_replaces_the_first_until_something_is_rated_here(store: Store) -> None:
    made = Circuit(store)
    bring_in(store, CSV.encode())
    bring_in(store, CSV.encode())
    assert len(made.get_json("/api/ratings")["data"]) == 3
    made.night(2, ["Ada", "Bo"])
    made.rate(2)
    before = made.stored_rows()
    with pytest.raises(Conflict, match="before the first period"):
        bring_in(store, CSV.encode())
    assert made.stored_rows() == before


@pytest.mark.parametrize(
    ("line", "place", "fault"),
    [
        ("Name,Rating", "row 1", "header"),
        ('"Ada",,11,1599.74,24.23,1551.28,2026-02-03', "row 2", "7 fields"),
        ('"Ada",x,11,1599.74,24.23,1551.28,2026-02-03,4', "row 2", "User ID"),
        ('"Ada",,0,1599.74,24.23,1551.28,2026-02-03,4', "row 2", "IFPA ID"),
        ('"Ada",,11,-1,24.23,1551.28,2026-02-03,4', "row 2", "Rating"),
        ('"Ada",,11,nan,24.23,1551.28,2026-02-03,4', "row 2", "Rating"),
        ('"Ada",,11,1500,0,1551.28,2026-02-03,4', "row 2", "RD"),
        ('"Ada",,11,1500,30,1551.28,2026-03-03,4', "row 2", "after 2026-02-28"),
        ('"Ada",,11,1500,30,1551.28,3 Feb,4', "row 2", "Last Rating Period"),
        ('"Ada",,11,1500,30,1551.28,20260203,4', "row 2", "Last Rating Period"),
        ('"Ada",,11,1500,30,low,2026-02-03,4', "row 2", "Lower Bound"),
        ('"Ada",,11,1500,30,1440,2026-02-03,A', "row 2", "Rating class"),
        ('"Ada",,11,1500,30,1440,2026-02-03,8', "row 2", "Rating class"),
        ('"",,11,1500,30,1551.28,2026-02-03,4', "row 2", "Name"),
        ('"Ada,,11,1500,30,1551.28,2026-02-03,4', "row 2", "quotes"),
        ('"Bo",,11,1,1,1,2026-02-03,4\n"Ada",,11,1,1,1,2026-02-03,4', "row 3", "IFPA ID 11 is in row 2"),
    ],
)
def test_a_fault_in_a_file_is_reported_with_row_and_field(line: str, place: str, fault: str) -> None:
    header = "" if place == "row 1" else CSV.splitlines(keepends=True)[0]
    with pytest.raises(Invalid) as refused:
        ratings_csv.parse((header + line + "\n").encode())
    assert list(refused.value.errors) == [place]
    assert fault in refused.value.errors[place][0]
