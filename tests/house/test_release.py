"""A release has the same bytes wherever and whenever it is built, and says what is in it."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import silverball
from house.doc_blocks import ROOT
from house.scripts import load_script

AUDIT_PYTHON = ROOT / "build" / "audit" / "bin" / "python"
IDENTITY = "release@silverball.example"


@pytest.fixture(scope="module")
def release() -> ModuleType:
    """The program behind `make release`."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git working tree: a release is made from a commit")
    return load_script("release")


@pytest.fixture(scope="module")
def trees(release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The commit that is checked out, in two folders whose paths, times and modes differ.

    Without what packs slowly: the soak below packs everything.
    """
    folder = tmp_path_factory.mktemp("trees")
    tree: Path = release.export_commit(ROOT, folder / "a")
    for name in ("tests", "docs", "benchmarks"):
        shutil.rmtree(tree / name)
    other = folder / "elsewhere" / "and" / "deeper"
    shutil.copytree(tree, other)
    for file in other.rglob("*"):
        os.utime(file, (time.time() - 86_400,) * 2)
        file.chmod(file.stat().st_mode & 0o700)
    return [tree, other]


def digests(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.suffix in {".whl", ".gz", ".json"}
    }


def names_in(package: Path) -> set[str]:
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return set(wheel.namelist())
    with tarfile.open(package) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def requirements_of(wheel: Path) -> list[str]:
    """What a wheel requires, as its metadata has it."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        lines = packed.read(name).decode().splitlines()
    return [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]


def test_an_installed_program_names_the_commit_of_its_release(trees: list[Path]) -> None:
    newest = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (trees[0] / "src/silverball/commit.txt").read_text() == newest.stdout
    # The release's tree, and the clone that it was made from.
    for folder in (trees[0], *([ROOT] if (ROOT / ".git").is_dir() else [])):
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        program = "import sys; sys.argv[1:] = ['--version']; from silverball.cli.main import main; main()"
        asked = [sys.executable, "-c", program]
        answer = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
        version, _, commit = answer.stdout.strip().rpartition(", commit ")
        assert version == f"silverball, version {silverball.__version__}"
        assert newest.stdout.startswith(commit)
        assert len(commit) == silverball.COMMIT_LETTERS


def test_packages_built_twice_are_equal_byte_by_byte(
    release: ModuleType, trees: list[Path], tmp_path: Path
) -> None:
    for tree, name in zip(trees, ("first", "second"), strict=True):
        release.build_packages(tree, tmp_path / name, release.build_environment(ROOT))
    first, second = digests(tmp_path / "first"), digests(tmp_path / "second")
    assert first == second
    version = release.check_version(trees[0], is_signed=False)
    assert set(first) == {
        f"silverball-{version}.tar.gz",
        f"silverball-{version}-py3-none-any.whl",
        f"silverball_client-{version}-py3-none-any.whl",
        f"silverball_client-{version}.tar.gz",
    }
    program = tmp_path / "first" / f"silverball-{version}-py3-none-any.whl"
    wheel = names_in(program)
    assert {name.split("/")[0] for name in wheel} == {"silverball", f"silverball-{version}.dist-info"}
    assert f"silverball-client=={version}" in requirements_of(program)
    assert any(name.endswith("licenses/LICENSE") for name in wheel)


def test_every_file_names_the_same_version(release: ModuleType, tmp_path: Path) -> None:
    assert release.check_version(ROOT, is_signed=False)
    for name in dict(release.VERSION_PLACES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "clients/python/src/silverball_client/exchange.py").write_text('VERSION = "9.9.9"\n')
    with pytest.raises(SystemExit, match=r"different versions:(.|\n)*9\.9\.9"):
        release.check_version(tmp_path, is_signed=False)


def test_a_version_without_a_date_is_not_signed(release: ModuleType, tmp_path: Path) -> None:
    for name in dict(release.VERSION_PLACES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    version = release.check_version(ROOT, is_signed=False)
    (tmp_path / "CHANGELOG.md").write_text(f"## {version} (unreleased)\n")
    with pytest.raises(SystemExit, match="Give it a date"):
        release.check_version(tmp_path, is_signed=True)
    (tmp_path / "CHANGELOG.md").write_text(f"## {version} (2026-12-01)\n")
    assert release.check_version(tmp_path, is_signed=True) == version


def test_a_signature_is_of_these_bytes_by_this_key_for_this_purpose(
    release: ModuleType, tmp_path: Path
) -> None:
    if shutil.which("ssh-keygen") is None or shutil.which("sha256sum") is None:
        pytest.skip("ssh-keygen or sha256sum is not installed here")
    key, downloads = tmp_path / "key", tmp_path / "dist"
    make_key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", IDENTITY, "-f", str(key)]
    subprocess.run(make_key, check=True)
    public = key.with_suffix(".pub").read_text()
    (tmp_path / "allowed_signers").write_text(f"{IDENTITY} {public}")
    downloads.mkdir()
    (downloads / "silverball.whl").write_bytes(b"a wheel")
    release.write_checksums(downloads)
    release.sign(downloads / "SHA256SUMS", key)
    # A second time replaces the signature instead of asking.
    release.sign(downloads / "SHA256SUMS", key)
    assert run_documented_check(downloads) == 0
    (downloads / "silverball.whl").write_bytes(b"another wheel")
    assert run_documented_check(downloads) != 0
    release.write_checksums(downloads)
    assert run_documented_check(downloads) != 0


def run_documented_check(downloads: Path) -> int:
    """Run the commands of docs/releases.md that check what was downloaded; return the exit status."""
    text = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")
    (block,) = (part for part in text.split("```sh\n")[1:] if part.startswith("ssh-keygen -Y verify"))
    shutil.copy(downloads.parent / "allowed_signers", downloads)
    command = ["bash", "-euc", block.partition("```")[0]]
    done = subprocess.run(command, cwd=downloads, capture_output=True, text=True, check=False)
    return done.returncode


@pytest.mark.soak
def test_a_whole_release_built_in_two_clones_is_equal_byte_by_byte(
    release: ModuleType, tmp_path: Path
) -> None:
    if not AUDIT_PYTHON.exists():
        pytest.skip("the tools of `make audit` are not installed (make audit)")
    for name in ("one", "two/deeper"):
        clone = tmp_path / name
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(clone)], check=True)
        command = [sys.executable, "scripts/release.py", "--audit-python", str(AUDIT_PYTHON)]
        done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    first, second = tmp_path / "one" / "dist", tmp_path / "two" / "deeper" / "dist"
    (bill,) = first.glob("*.cdx.json")
    assert bill.read_text() == (second / bill.name).read_text()
    assert (first / "SHA256SUMS").read_text() == (second / "SHA256SUMS").read_text()
    assert digests(first) == digests(second)
    (wheel,) = first.glob("silverball-*.whl")
    assert "silverball/web/handbook_site/index.html.gz" in str(names_in(wheel))
    described = json.loads(bill.read_text())
    version = wheel.name.split("-")[1]
    assert described["metadata"]["component"]["version"] == version
    locked = (ROOT / "requirements" / "run.txt").read_text().count("==")
    assert len(described["components"]) == locked
    # Whatever an operator needs, and what the tests run.
    source_archive = first / f"silverball-{version}.tar.gz"
    needed = {"LICENSE", "CHANGELOG.md", "Makefile", "requirements/run.txt", "tests/conftest.py"}
    assert names_in(source_archive) >= needed
    # The source archive makes the same wheel, without git and without the tools of the handbook.
    with tarfile.open(source_archive) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "again")]
    environment = {**os.environ, **release.build_environment(ROOT)}
    source = tmp_path / "source" / f"silverball-{version}"
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
    assert (tmp_path / "again" / wheel.name).read_bytes() == wheel.read_bytes()


def test_what_is_not_committed_stops_a_release(release: ModuleType, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(clone)], check=True)
    (clone / "left-over.txt").write_text("not in the commit")
    command = [sys.executable, "scripts/release.py", "--audit-python", sys.executable]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
    assert (done.returncode, "left-over.txt" in done.stderr) == (1, True), done.stderr
