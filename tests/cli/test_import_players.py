"""`silverball import players` on real databases."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

import build
from silverball.cli.main import silverball_group
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.fixture
def run(database_url: str) -> CliRunner:
    return CliRunner(env={"SILVERBALL_DATABASE_URL": database_url})


def import_file(run: CliRunner, file: Path, owner: int, *options: str) -> Result:
    return run.invoke(silverball_group, ["import", "players", str(file), "--owner", str(owner), *options])


def names(store: Store) -> list[str]:
    with store.read() as db:
        return list(db.execute(select(tables.player.c.name).order_by(tables.player.c.player_id)).scalars())


def test_a_list_is_shown_and_stored_once_its_questions_are_answered(
    store: Store, run: CliRunner, tmp_path: Path
) -> None:
    owner = build.a_user(store, role="organizer")
    build.a_player(store, owner, name="Ada Quill")
    file = tmp_path / "players.csv"
    file.write_bytes("Name;IFPA;Ort\nAda Quill;12345;Köln\nJörg;;\nJörg;;\n".encode("cp1252"))
    shown = import_file(run, file, owner)
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.splitlines() == [
        "Read as windows-1252; --encoding reads it as utf-8, windows-1250, mac-roman.",
        "Ort: a town; left out.",
        "   1  Ada Quill (12345): player:1 Your book gets number 12345.",
        "   2  Jörg: new",
        "   3  Jörg: Jörg is in row 2, too. One person twice, or two? same:2, new, leave-out",
        "Left out: line 1, 'Name, IFPA, Ort'. It is the header.",
        "Nothing was stored. Add --store to do it.",
    ]
    asked = import_file(run, file, owner, "--store")
    assert asked.exit_code == 1
    assert "Decide this row first" in asked.stderr
    assert names(store) == ["Ada Quill"]
    done = import_file(run, file, owner, "--store", "--decide", "3=new")
    *_, counted, undo = done.stdout.splitlines()
    assert counted == f"{file}: 3 players, 2 of them new"
    assert undo == "The organizer can undo this at /home/actions."
    assert names(store) == ["Ada Quill", "Jörg", "Jörg"]


def test_people_enter_a_tournament_from_a_file(store: Store, run: CliRunner, tmp_path: Path) -> None:
    night = build.a_tournament(store, status="planned")
    file = tmp_path / "players.txt"
    file.write_text("Zoe Zephyr\n")
    done = import_file(run, file, night.organizer_id, "--tournament", str(night.tournament_id), "--store")
    assert done.exit_code == 0, done.output
    _, answer, _ = build.do(
        store, "GET", f"/api/tournaments/{night.tournament_id}/players", by=night.organizer_id
    )
    assert "Zoe Zephyr" in [player["name"] for player in answer["data"]]


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (b"\x89PNG\x00\x01\x00\x00", [], "neither a text nor a spreadsheet"),
        (b"Quill, Ada\nLarkin, Bo\n", ["--store"], "choose first"),
        (b"Ada\n", ["--columns", "name,number"], "has 1, and 2 were named"),
        (b"Ada\n", ["--decide", "1=perhaps"], "4=leave-out"),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_is_stored(
    store: Store, run: CliRunner, tmp_path: Path, content: bytes, options: list[str], sentence: str
) -> None:
    owner = build.a_user(store, role="organizer")
    file = tmp_path / "players.csv"
    file.write_bytes(content)
    refused = import_file(run, file, owner, *options)
    assert refused.exit_code != 0
    assert sentence in refused.output
    assert names(store) == []
