"""The typed client as a wheel of its own."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "clients" / "python"
PROGRAM = """
import sys
from silverball_client.events import Event, Game, PlayersAdded
import silverball_client
client = silverball_client.Client("http://127.0.0.1:9", "secret")
assert "secret" not in repr(client)
assert "silverball" not in sys.modules
print(silverball_client.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=FOLDER, check=True, capture_output=True)
    (built,) = folder.glob("silverball_client-*.whl")
    return built


def test_the_wheel_has_the_client_and_the_shapes_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        described = archive.read(metadata).decode()
    own = {
        str(path.relative_to(FOLDER / "src"))
        for path in (FOLDER / "src").rglob("*")
        if path.suffix in (".py", ".json") or path.name == "py.typed"
    }
    assert {name for name in names if ".dist-info/" not in name} == own
    needed = [line.split(": ")[1] for line in described.splitlines() if line.startswith("Requires-Dist")]
    assert [name.split("<")[0].split(">")[0] for name in needed] == ["httpx2", "msgspec"]
    assert "Requires-Python: >=3.11" in described
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_licence_of_the_client_is_that_of_the_program() -> None:
    assert (FOLDER / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_source_archive_installs_without_a_network_as_the_wheel_does(wheel: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=FOLDER, check=True, capture_output=True)
    (archive,) = tmp_path.glob("silverball_client-*.tar.gz")
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation"]
    quiet = ["--quiet", "--no-compile", "--target", str(target), str(archive)]
    done = subprocess.run([*pip, *quiet], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    installed = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as built:
        assert {name for name in installed if ".dist-info/" not in name} == {
            name for name in built.namelist() if ".dist-info/" not in name
        }


def test_no_file_is_in_the_wheels_of_both_distributions(wheel: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (program,) = tmp_path.glob("silverball-*.whl")
    with zipfile.ZipFile(wheel) as client, zipfile.ZipFile(program) as own:
        assert not set(client.namelist()) & set(own.namelist())
        assert not any(name.startswith(("silverball_client/", "silverball_wire/")) for name in own.namelist())


def test_a_fresh_environment_imports_the_wheel(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False)
    python = tmp_path / "bin" / "python"
    (site,) = tmp_path.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # The two libraries as they are here; without the folders of the program.
    (site / "libraries.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path))
    done = subprocess.run(
        [str(python), "-E", "-s", "-c", PROGRAM], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout
