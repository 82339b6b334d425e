"""Data written by version 0.1.0 opens unchanged: a database with its journals, bundles, a demo folder.

The archive holds a tournament of each of the 21 formats, two running nights and the demo's 31 tournaments, as
that version stored and exported them. It carries no token and no password.
"""

import json
import shutil
import tarfile
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from click.testing import CliRunner

from servers import Servers
from silverball.cli.main import silverball_group

ARCHIVE = Path(__file__).parent / "version-0.1.0.tar.xz"
# Written by whoever exports, and not part of the tournament: the moment, and the head of the journal there.
# The facts of `engine`, and the `source`, are written since 0.2.0.
NOT_COMPARED = ("exportedAt", "journalHead", "engine", "source")
# A bundle of this version does not hold the rolls of pinbowling frames, so they cannot be verified.
WITHOUT_ROLLS = "277529.json"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("version-0.1.0")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def database(unpacked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(unpacked / "silverball.db", tmp_path / "silverball.db"))


def run_command(database: Path, *words: object) -> str:
    """The output of a command that succeeds."""
    runner = CliRunner(env={"SILVERBALL_DATABASE_URL": f"sqlite:///{database}"})
    result = runner.invoke(silverball_group, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


def without(bundle: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in bundle.items() if name not in names}


def assert_equal_but_for_matches(exported: dict[str, Any], earlier: dict[str, Any]) -> None:
    """Check that nothing differs, except that a match of a bracket is one game now."""
    name = earlier["tournament"]["name"]
    if earlier["tournament"]["type"] not in {"bracket", "double_bracket"}:
        assert without(exported, NOT_COMPARED) == without(earlier, NOT_COMPARED), name
        return
    changed = (*NOT_COMPARED, "games", "legs")
    assert without(exported, changed) == without(earlier, changed), name
    assert single_games(exported) == single_games(earlier), name
    # The match keeps the id of its first game, and no two games are the same match.
    numbers = [game["index"] for game in exported["games"]]
    assert len(set(numbers)) == len(numbers)
    earlier_ids = {game["gameId"] for game in earlier["games"]}
    assert {game["gameId"] for game in exported["games"]} <= earlier_ids


def single_games(bundle: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    """Round, arena and finishing order of every single game, whether it is a game or a leg."""
    legs: dict[int, list[Any]] = {}
    for leg in bundle.get("legs", ()):
        legs.setdefault(leg["gameId"], []).append(leg)
    return Counter(
        (game["roundId"], single["arenaId"], *single["resultPositions"])
        for game in bundle["games"]
        for single in legs.get(game["gameId"], [game])
    )


def bundle_files(unpacked: Path) -> list[Path]:
    return sorted((unpacked / "bundles").glob("*.json"))


def test_every_tournament_of_an_earlier_database_verifies_clean(database: Path) -> None:
    run_command(database, "migrate")
    assert run_command(database, "verify") == "54 tournaments verified, none with differences.\n"


def test_every_tournament_of_an_earlier_database_exports_as_it_did(database: Path, unpacked: Path) -> None:
    run_command(database, "migrate")
    for file in bundle_files(unpacked):
        exported = run_command(database, "export", "bundle", file.stem)
        assert_equal_but_for_matches(json.loads(exported), json.loads(file.read_bytes()))


def test_earlier_bundles_come_in_verify_clean_and_go_out_equal(unpacked: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh.db"
    run_command(fresh, "migrate")
    files = [file for file in bundle_files(unpacked) if file.name != WITHOUT_ROLLS]
    run_command(fresh, "import", "bundle", *files)
    assert run_command(fresh, "verify") == "53 tournaments verified, none with differences.\n"
    for file in files:
        exported = run_command(fresh, "export", "bundle", file.stem)
        assert_equal_but_for_matches(json.loads(exported), json.loads(file.read_bytes()))


def test_an_earlier_demo_folder_is_made_anew_and_its_files_are_set_aside(
    unpacked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from silverball.cli import demo, demo_folder

    folder = tmp_path / "demo"
    shutil.copytree(unpacked, folder)
    (folder / "token").write_text("1|slv_of_the_earlier_demo\n")
    assert demo_folder.prepare_folder(folder, demo.ORGANIZER_EMAIL) == folder
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "is from another version and is made anew" in told
    assert not (folder / "silverball.db").exists()
    assert not (folder / "token").exists()
    assert "54 tournaments verified, none" in migrated(folder / "older" / "silverball.db")
    # The second start of this version finds its own layout and says nothing.
    (folder / "silverball.db").write_bytes(b"")
    demo_folder.prepare_folder(folder, demo.ORGANIZER_EMAIL)
    assert capsys.readouterr().err == ""
    assert (folder / "silverball.db").exists()


def test_the_demo_leaves_a_database_alone_that_no_demo_made(tmp_path: Path) -> None:
    from silverball.cli import demo, demo_folder

    database = tmp_path / "silverball.db"
    run_command(database, "migrate")
    before = database.read_bytes()
    with pytest.raises(ClickException, match="is not a demo's"):
        demo_folder.prepare_folder(tmp_path, demo.ORGANIZER_EMAIL)
    assert database.read_bytes() == before


def test_an_earlier_demo_folder_can_still_be_served(unpacked: Path, tmp_path: Path) -> None:
    shutil.copytree(unpacked, tmp_path / "demo")
    server = Servers(f"sqlite:///{tmp_path / 'demo' / 'silverball.db'}", SILVERBALL_PUBLIC_READ="true")
    try:
        server.start()
        address = f"http://127.0.0.1:{server.port}/api/tournaments/244501"
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert json.load(answer)["data"]["tournamentId"] == 244501
    finally:
        server.close()


def migrated(database: Path) -> str:
    """The verifier's sentence about a database of an earlier version."""
    run_command(database, "migrate")
    return run_command(database, "verify")
