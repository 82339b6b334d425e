"""The data that the demo carries fits together, and a folder of other data is not touched."""

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click import ClickException

import build
from silverball.cli import demo as command
from silverball.demo import nights as demo_nights
from silverball.store.database.engine import Store


def tournaments() -> Iterator[Any]:
    for file in sorted(command.BUNDLES.glob("*.json")):
        yield json.loads(file.read_bytes())["tournament"]


def federation_names() -> dict[int, str]:
    with command.FEDERATION.open(encoding="utf-8", newline="") as file:
        return {int(row["ifpaId"]): row["name"] for row in csv.DictReader(file)}


def player_names() -> dict[int, str]:
    """Federation number -> name, of all players of the demo that have one."""
    robots = dict(enumerate(demo_nights.NAMES, start=demo_nights.IFPA_ID_FIRST))
    loaded = {
        player["ifpaId"]: player["name"]
        for tournament in tournaments()
        for player in tournament["players"]
        if player["ifpaId"] is not None
    }
    return robots | loaded


def test_every_federation_record_is_that_of_a_player_of_the_demo_and_every_number_has_a_record() -> None:
    assert federation_names() == player_names()


def test_a_player_of_the_demo_has_the_same_number_in_every_tournament() -> None:
    numbers: dict[int, int | None] = {}
    for tournament in tournaments():
        for player in tournament["players"]:
            number = numbers.setdefault(player["playerId"], player["ifpaId"])
            assert number == player["ifpaId"], player["name"]


def test_every_machine_of_an_arena_of_the_demo_is_in_its_machine_database() -> None:
    machines = {
        entry["opdbId"] for entry in json.loads((demo_nights.FILES / "opdb.json").read_bytes())["entries"]
    }
    arenas = [arena for tournament in tournaments() for arena in tournament["arenas"]]
    missing = {arena["opdbId"] for arena in arenas if arena["opdbId"] is not None} - machines
    assert missing == set()
    assert set(demo_nights.MACHINES.values()) <= machines


def test_an_alias_in_the_machine_database_of_the_demo_has_its_machine() -> None:
    entries = json.loads((demo_nights.FILES / "opdb.json").read_bytes())["entries"]
    ids = {entry["opdbId"] for entry in entries}
    parents = {entry["opdbId"].rpartition("-")[0] for entry in entries if entry["entryType"] == "alias"}
    assert parents <= ids


def test_a_demo_folder_of_another_layout_is_made_anew_and_its_files_are_set_aside(
    empty_sqlite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    store = Store(f"sqlite:///{shutil.copy(empty_sqlite, folder / 'silverball.db')}")
    build.a_user(store, email=command.ORGANIZER_EMAIL)
    store.close()
    (folder / "token").write_text("1|slv_of_the_earlier_demo\n")
    assert command.prepare_folder(folder, command.ORGANIZER_EMAIL) == folder
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "is from another version and is made anew" in printed
    for name in ("silverball.db", "token"):
        assert not (folder / name).exists()
        assert (folder / "older" / name).exists()
    # The second start finds its own layout and says nothing.
    (folder / "silverball.db").write_bytes(b"")
    command.prepare_folder(folder, command.ORGANIZER_EMAIL)
    assert capsys.readouterr().err == ""
    assert (folder / "silverball.db").exists()


def test_the_demo_leaves_a_database_alone_that_no_demo_made(empty_sqlite: Path, tmp_path: Path) -> None:
    database = Path(shutil.copy(empty_sqlite, tmp_path / "silverball.db"))
    before = database.read_bytes()
    with pytest.raises(ClickException, match="is not a demo's"):
        command.prepare_folder(tmp_path, command.ORGANIZER_EMAIL)
    assert database.read_bytes() == before
