"""The CSV downloads of a tournament. Source of the headers: ratings.md E."""

import csv
import io
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import build
import silverball
from rules.properties import quick
from silverball import app
from silverball.kit.http import endpoints as http
from silverball.service.tables import sheet
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store

HEADERS = {
    "players": "Player ID,Name,IFPA ID,User ID,Status,Seed,Labels",
    "games": "Game ID,Round ID,Round,Set,Arena ID,Arena,Player ID,Name,Play order,Position,Points,Score,"
    "Status,Started at,Completed at,Duration,Tiebreak",
    "single-player-games": "Game ID,Arena ID,Arena,Player ID,Name,Round,Card ID,Index,Score,Points,"
    "Best game,Voided,Status,Started at,Completed at,Duration",
    "entries": "Entry ID,Player ID,Name,IFPA ID,Type,Quantity,Amount,Currency,Status,Created at",
}


def text(store: Store, tournament_id: int, name: str, by: object = 1) -> str:
    path = f"/api/tournaments/{tournament_id}/{name}"
    status, body = build.ask(store, path, by=by)  # type: ignore[arg-type]  # a Caller or an id
    assert status == 200, body
    assert isinstance(body, str)
    return body


def rows(store: Store, tournament_id: int, name: str, by: object = 1) -> list[dict[str, str]]:
    """The rows of a download by header; every row is as long as the header."""
    listed = list(csv.reader(io.StringIO(text(store, tournament_id, name, by))))
    header, *found = listed
    return [dict(zip(header, row, strict=True)) for row in found]


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_an_empty_table_is_its_header(store: Store, name: str) -> None:
    made = build.a_tournament(store, players=0)
    assert text(store, made.tournament_id, f"{name}/csv") == HEADERS[name] + "\n"


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_a_table_is_a_download(store: Store, name: str) -> None:
    made = build.a_tournament(store)
    api = app.build_api(store, Settings(base_url=build.BASE_URL, public_read=True))
    path = f"/api/tournaments/{made.tournament_id}/{name}/csv"
    got = app.answer_request(api, http.Request(method="GET", path=path))
    assert got.content_type == "text/csv; charset=UTF-8"
    disposition = f'attachment; filename="{name}-{made.tournament_id}.csv"'
    assert (b"content-disposition", disposition.encode()) in got.headers


@pytest.mark.parametrize("name", sorted(HEADERS))
def test_a_table_of_an_unknown_tournament_is_not_found(store: Store, name: str) -> None:
    assert build.ask(store, f"/api/tournaments/7/{name}/csv", by=1)[0] == 404


@pytest.mark.both_databases
def test_players_have_their_id_name_and_federation_number(store: Store) -> None:
    made = build.a_tournament(store, players=0)
    later = build.a_player(store, made.organizer_id, name='Bo "Tilt" Larkin, jr', ifpa_id=38773)
    tables_row = {"tournament_id": made.tournament_id, "labels": ["late", "guest"]}
    build.row(store, tables.entrant, **tables_row, player_id=later, seed=3, status="inactive")
    assert rows(store, made.tournament_id, "players/csv") == [
        {
            "Player ID": str(later),
            "Name": 'Bo "Tilt" Larkin, jr',
            "IFPA ID": "38773",
            "User ID": "",
            "Status": "inactive",
            "Seed": "3",
            "Labels": "late, guest",
        }
    ]
    assert '"Bo ""Tilt"" Larkin, jr"' in text(store, made.tournament_id, "players/csv")


def test_players_are_listed_by_id(store: Store) -> None:
    made = build.a_tournament(store)
    ids = [row["Player ID"] for row in rows(store, made.tournament_id, "players/csv")]
    assert ids == [str(player_id) for player_id in sorted(made.player_ids)]


@pytest.mark.both_databases
@pytest.mark.parametrize("name", ["players/csv", "entries/csv"])
def test_a_hidden_profile_hides_the_federation_number(store: Store, name: str) -> None:
    hidden = build.a_user(store, profile_opt_out=True)
    admin = build.a_user(store, role="admin")
    made = build.a_tournament(store, players=0)
    canary = build.a_player(store, made.organizer_id, ifpa_id=987654321, claimed_by=hidden)
    common = {"tournament_id": made.tournament_id, "player_id": canary}
    build.row(store, tables.entrant, **common)
    build.row(store, tables.entry, **common)
    (shown,) = rows(store, made.tournament_id, name, made.organizer_id)
    assert shown["IFPA ID"] == ""
    for who in (
        build.caller(hidden, is_hidden=True),
        build.caller(admin, role="admin", ability="admin"),
    ):
        (own,) = rows(store, made.tournament_id, name, who)
        assert own["IFPA ID"] == "987654321"


def a_night(store: Store) -> build.Night:
    night = build.a_tournament(store, players=3)
    ann, bob, cy = night.player_ids
    build.a_round(store, night.tournament_id)
    build.a_game(
        store,
        night.tournament_id,
        [bob, ann, cy],
        round_id=1,
        arena_id=night.arena_ids[0],
        status="completed",
        duration_seconds=609,
        points=["0.02", "1.00", "-0.50"],
        positions=[ann, bob, cy],
        scores=[11_396_549_120, None, 7],
    )
    build.a_game(store, night.tournament_id, [ann, cy])
    return night


@pytest.mark.both_databases
def test_a_game_has_one_row_per_player_in_playing_order(store: Store) -> None:
    night = a_night(store)
    ann, bob, cy = night.player_ids
    found = rows(store, night.tournament_id, "games/csv")
    assert [row["Player ID"] for row in found] == [str(player_id) for player_id in (bob, ann, cy, ann, cy)]
    assert found[0] == {
        "Game ID": "1",
        "Round ID": "1",
        "Round": "Round 1",
        "Set": "0",
        "Arena ID": str(night.arena_ids[0]),
        "Arena": "Machine 1",
        "Player ID": str(bob),
        "Name": "Player 2",
        "Play order": "1",
        "Position": "2",
        "Points": "0.02",
        "Score": "11396549120",
        "Status": "completed",
        "Started at": "2026-03-05T19:30:00.000000Z",
        "Completed at": "2026-03-05T19:40:09.000000Z",
        "Duration": "609",
        "Tiebreak": "false",
    }
    # Negative points are a number, not a formula.
    assert found[2]["Points"] == "-0.50"
    assert (found[3]["Round ID"], found[3]["Position"], found[3]["Completed at"]) == ("", "", "")


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("?status=started", 2),
        ("?player={bob}", 3),
        ("?arena={arena}", 3),
        ("?round=latest", 3),
        ("?bank=7", 0),
    ],
)
def test_the_table_of_games_accepts_the_filters_of_the_list(store: Store, query: str, count: int) -> None:
    night = a_night(store)
    path_query = query.format(bob=night.player_ids[1], arena=night.arena_ids[0])
    assert len(rows(store, night.tournament_id, f"games/csv{path_query}")) == count
    status, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/games/csv?round=x", by=1)
    assert (status, list(body["errors"])) == (422, ["round"])


@pytest.mark.both_databases
def test_single_player_games_have_one_row_each(store: Store) -> None:
    night = build.a_tournament(store, type="card_best_game", status="completed")
    ann, bob = night.player_ids[:2]
    common = {"tournament_id": night.tournament_id, "arena_id": night.arena_ids[0]}
    card_id = build.row(store, tables.card, tournament_id=night.tournament_id, player_id=ann)
    build.row(
        store,
        tables.single_player_game,
        **common,
        player_id=ann,
        card_id=card_id,
        score=630_210,
        points=Decimal("141.5"),
        best_game=True,
        game_index=1,
        duration_seconds=211,
    )
    build.row(store, tables.single_player_game, **common, player_id=bob, score=900_000)
    build.row(store, tables.single_player_game, **common, player_id=bob, voided=True)
    name = "single-player-games/csv"
    found = rows(store, night.tournament_id, name)
    assert found[0] == {
        "Game ID": "1",
        "Arena ID": str(night.arena_ids[0]),
        "Arena": "Machine 1",
        "Player ID": str(ann),
        "Name": "Player 1",
        "Round": "",
        "Card ID": str(card_id),
        "Index": "1",
        "Score": "630210",
        "Points": "141.50",
        "Best game": "true",
        "Voided": "false",
        "Status": "completed",
        "Started at": "2026-03-05T19:30:00.000000Z",
        "Completed at": "2026-03-05T19:33:31.000000Z",
        "Duration": "211",
    }
    for query, ids in {
        "": ["1", "2"],
        "?voided=true": ["1", "2", "3"],
        "?orderBy=score": ["2", "1"],
        f"?player={ann}": ["1"],
        "?bestGame=true": ["1"],
        "?status=pending": [],
        "?arena=7000": [],
    }.items():
        assert [row["Game ID"] for row in rows(store, night.tournament_id, name + query)] == ids


@pytest.mark.both_databases
def test_entries_have_one_row_each(store: Store) -> None:
    night = build.a_tournament(store, type="best_game")
    common = {"tournament_id": night.tournament_id, "player_id": night.player_ids[1]}
    build.row(store, tables.entry, **common, quantity=6, amount=Decimal(20), currency="$")
    build.row(store, tables.entry, **common, type="refund", quantity=-1, amount=Decimal("-3.5"))
    first, second = rows(store, night.tournament_id, "entries/csv")
    assert list(first.values()) == [
        "1",
        str(night.player_ids[1]),
        "Player 2",
        "",
        "regular",
        "6",
        "20.00",
        "$",
        "active",
        "2026-03-05T19:30:00.000000Z",
    ]
    assert (second["Type"], second["Quantity"], second["Amount"]) == ("refund", "-1", "-3.50")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_name_that_a_spreadsheet_would_run_is_quoted(store: Store, start: str) -> None:
    night = build.a_tournament(store, players=0)
    name = start + 'HYPERLINK("//example")'
    player_id = build.a_player(store, night.organizer_id, name=name)
    build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=player_id)
    (row,) = csv.DictReader(io.StringIO(text(store, night.tournament_id, "players/csv"), newline=""))
    assert row["Name"] == "'" + name


FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Text of a cell -> what the file has, apart from quotes.
GUARDED = {
    "Ed": "Ed",
    "": "",
    "3-1": "3-1",
    "a=b; c-d": "a=b; c-d",
    "Ed; Ann": "Ed; Ann",
    "two\r\nlines": "two\r\nlines",
    "'=1": "'=1",
    "=1": "'=1",
    " =1": "' =1",
    '"=1': "'\"=1",
    "\tEd": "'\tEd",
    "\rEd": "'\rEd",
    "\nEd": "'\nEd",
    "Ed;=1": "Ed;'=1",
    "Ed; =1": "Ed;' =1",
    'Ed;"=1"': 'Ed;\'"=1"',
    'Ed";"=1': 'Ed";\'"=1',
    "Ed;;@x": "Ed;;'@x",
    "Ed;-2": "Ed;'-2",
    "Ed;+2": "Ed;'+2",
    "Ed;\uff1d1": "Ed;'\uff1d1",
    "Ed;\uff201": "Ed;'\uff201",
    "Ed\t=1": "Ed\t'=1",
    "Ed\n=1": "Ed\n'=1",
    "Ed\r\n=1;=2": "Ed\r\n'=1;'=2",
}


@pytest.mark.parametrize(("cell", "guarded"), GUARDED.items())
def test_a_formula_is_guarded_wherever_a_reader_could_begin_a_cell(cell: str, guarded: str) -> None:
    made = sheet.csv_file("x.csv", ("Number", "Text", "Number"), [(1, cell, -2)]).body.decode()
    assert list(csv.reader(io.StringIO(made, newline="")))[1] == ["1", guarded, "-2"]
    for separator in ";\t":
        assert not formulas_read_with(separator, made)


def formulas_read_with(separator: str, made: str) -> list[str]:
    """Cells that run as formulas in a reader with this separator, which also drops quotes and spaces."""
    cells = re.split(rf"[{separator}\r\n]", made)
    return [cell for cell in cells if cell.lstrip(' "').startswith(FORMULA_STARTS)]


@quick
@given(st.lists(st.tuples(st.integers(), st.text(st.characters(codec="utf-8")), st.none())))
def test_every_text_round_trips_except_for_apostrophes(cells: list[tuple[int, str, None]]) -> None:
    made = sheet.csv_file("x.csv", ("Number", "Text", "Nothing"), cells).body.decode()
    found = list(csv.reader(io.StringIO(made, newline="")))[1:]
    for (number, original, _), (shown, cell, nothing) in zip(cells, found, strict=True):
        assert cell.replace("'", "") == original.replace("'", "")
        assert not cell.startswith((*FORMULA_STARTS, "\t", "\r", "\n"))
        assert (shown, nothing) == (str(number), "")


@quick
@given(st.lists(st.text(st.sampled_from("a;\t\r\n\"' ,=+-@\uff1d"))))
def test_no_text_becomes_a_formula_whatever_the_separator(texts: list[str]) -> None:
    made = sheet.csv_file("x.csv", ("Number", "Text"), [(1, cell) for cell in texts]).body.decode()
    for separator in ",;\t":
        if separator == ",":
            found = [row[1] for row in list(csv.reader(io.StringIO(made, newline="")))[1:]]
            assert not any(cell.lstrip(' "').startswith(FORMULA_STARTS) for cell in found)
        else:
            assert not formulas_read_with(separator, made)


def test_a_row_of_another_length_than_the_header_is_an_error() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells under a header of 2"):
        sheet.csv_file("x.csv", ("A", "B"), [("only",)])


@quick
@given(st.lists(st.tuples(st.integers(), st.text(st.sampled_from("a;\t\r\n\"' ,=+-@\uff1d")), st.none())))
def test_a_line_for_programs_gives_every_text_back_to_the_letter(cells: list[tuple[int, str, None]]) -> None:
    made = "".join(map(sheet.raw_line, cells))
    found = list(csv.reader(io.StringIO(made, newline="")))
    assert found == [[str(number), original, ""] for number, original, _ in cells]


def test_there_is_no_second_writer_of_csv() -> None:
    sources = Path(silverball.__file__).parent.rglob("*.py")
    assert [
        path.name for path in sources if "csv.writer" in path.read_text() or "DictWriter" in path.read_text()
    ] == []
