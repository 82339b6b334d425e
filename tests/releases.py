"""The versions of `releases.txt`, and the source of one of them where the history is there."""

import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests" / "releases.txt"


@dataclass(frozen=True)
class Release:
    """A version that may work beside the next one."""

    commit: str
    schema: str


def releases() -> list[Release]:
    """Every release, oldest first."""
    lines = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    return [Release(*line.split()) for line in lines]


def unpack_release(commit: str, folder: Path) -> Path:
    """Unpack the `src` of a release and return its folder; skip the test without its history."""
    archive = folder / "release.tar"
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", f"--output={archive}", commit, "src"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    if done.returncode != 0:
        pytest.skip(f"the history of {commit[:7]} is not there (a tarball, or a shallow clone)")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "src"
