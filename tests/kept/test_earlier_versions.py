"""Data written by version 0.1.0 opens unchanged: a database with its journals, bundles, a demo folder.

The archive holds a tournament of each of the 21 formats, two running nights and the demo's 31 tournaments, as
that version stored and exported them. It carries no token and no password.
"""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from silverball.cli.main import silverball_group
from silverball.store.engine import Store

ARCHIVE = Path(__file__).parent / "version-0.1.0.tar.xz"
# Written by every program that exports, and not part of the tournament.
PROVENANCE = ("exportedAt",)
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


def without_provenance(bundle: bytes | str) -> dict[str, Any]:
    return {name: value for name, value in json.loads(bundle).items() if name not in PROVENANCE}


def bundle_files(unpacked: Path) -> list[Path]:
    return sorted((unpacked / "bundles").glob("*.json"))


def test_every_tournament_of_an_earlier_database_verifies_clean(database: Path) -> None:
    run_command(database, "migrate")
    assert run_command(database, "verify") == "54 tournaments verified, none with differences.\n"


def test_every_tournament_of_an_earlier_database_exports_as_it_did(database: Path, unpacked: Path) -> None:
    run_command(database, "migrate")
    for file in bundle_files(unpacked):
        exported = run_command(database, "export", "bundle", file.stem)
        assert without_provenance(exported) == without_provenance(file.read_bytes()), file.name


def test_earlier_bundles_come_in_verify_clean_and_go_out_equal(unpacked: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh.db"
    run_command(fresh, "migrate")
    files = [file for file in bundle_files(unpacked) if file.name != WITHOUT_ROLLS]
    run_command(fresh, "import", "bundle", *files)
    assert run_command(fresh, "verify") == "53 tournaments verified, none with differences.\n"
    for file in files:
        exported = run_command(fresh, "export", "bundle", file.stem)
        assert without_provenance(exported) == without_provenance(file.read_bytes()), file.name


def test_an_earlier_demo_folder_is_used_again_and_not_filled_twice(unpacked: Path, tmp_path: Path) -> None:
    from silverball.cli import demo

    folder = tmp_path / "demo"
    shutil.copytree(unpacked, folder)
    database = folder / "silverball.db"
    run_command(database, "migrate")
    token = run_command(
        database, "token", "create", "--user", 1, "--name", "demo", "--ability", "manage"
    ).split()[-1]
    (folder / "token").write_text(token + "\n")
    store = Store(f"sqlite:///{database}")
    try:
        owner = demo.load_demo(store, folder / "token")
    finally:
        store.close()
    assert (owner.user_id, owner.token) == (1, token)
    assert "54 tournaments" in run_command(database, "verify")
