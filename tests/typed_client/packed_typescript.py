"""The TypeScript client as it is packed, installed as npm does it, without a network."""

import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

import pytest

from feed.client_programs import CLIENTS

ROOT = Path(__file__).parents[2]
TOOLS = CLIENTS / "node_modules"


@cache
def packed_client() -> Path:
    """The package, which is built once for all tests of this process."""
    if not (TOOLS / "openapi-fetch").is_dir():
        pytest.skip("openapi-fetch is missing (npm ci --prefix tests/clients)")
    folder = tempfile.mkdtemp(prefix="silverball-package-")
    command = [sys.executable, "scripts/build_typescript.py", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Path(done.stdout.strip())


def install_package(folder: Path) -> Path:
    """Unpack it into the `node_modules` of a folder, beside what it requires; returns where it is."""
    modules = folder / "node_modules"
    modules.mkdir()
    with tarfile.open(packed_client()) as archive:
        archive.extractall(modules, filter="data")
    (modules / "package").rename(modules / "silverball-client")
    (modules / "openapi-fetch").symlink_to(TOOLS / "openapi-fetch")
    return modules / "silverball-client"
