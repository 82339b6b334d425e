"""Each supported version of Python that is installed here: the source parses, and a small site runs."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from cli.test_serve import free_port
from deploy.deploy_files import build_wheels
from deploy.proxies import wait_for_port
from exchange import bundles
from house.doc_blocks import ROOT

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# Nothing is written, and what a version warns of is an error.
PARSE = """
import pathlib, sys, warnings
warnings.simplefilter("error")
for file in pathlib.Path(sys.argv[1]).rglob("*.py"):
    compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)
"""
SMOKE = """
import json, numpy, rustworkx, uvloop
from silverball_client import Client
client = Client("http://127.0.0.1:" + __import__("sys").argv[1])
print(json.dumps([tournament.name for tournament in client.tournaments.list()]))
"""


def python_of(version: str) -> str:
    """Return a Python of this version, or skip where there is none that runs."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    installed = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
    candidates = [*map(str, installed), shutil.which(f"python{version}")]
    for candidate in filter(None, candidates):
        command = [candidate, "-c", "import sys; print(sys.version)"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.stdout.startswith(f"{version}."):
            return candidate
    pytest.skip(f"Python {version} is not installed here")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_takes_the_newest_python_that_runs_and_names_what_to_install(tmp_path: Path) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    for name, does in (("python3.14", "exit 127"), ("python3.13", "exit 0"), ("python3.12", "exit 0")):
        (shims / name).write_text(f"#!/bin/sh\n{does}\n")
        (shims / name).chmod(0o755)

    def installing(path: str, *words: str) -> subprocess.CompletedProcess[str]:
        make = shutil.which("make")
        command = [str(make), "--directory", str(ROOT), "--dry-run", "--always-make", "install-run", *words]
        environment = {"PATH": path, "HOME": str(tmp_path)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert "python3.13 -m venv" in installing(f"{shims}:/usr/bin:/bin").stdout
    assert (
        "/opt/mine/python -m venv" in installing(f"{shims}:/usr/bin:/bin", "PYTHON=/opt/mine/python").stdout
    )
    for name in ("python3.13", "python3.12"):
        (shims / name).write_text("#!/bin/sh\nexit 1\n")
    (shims / "sh").symlink_to("/bin/sh")
    assert "apt install python3-venv" in installing(str(shims)).stdout


def test_the_supported_versions_are_said_everywhere() -> None:
    for name in ("pyproject.toml", "clients/python/pyproject.toml"):
        project: dict[str, Any] = tomllib.loads((ROOT / name).read_text(encoding="utf-8"))["project"]
        named = [text.rpartition(" ")[2] for text in project["classifiers"] if ":: Python ::" in text]
        assert (tuple(named), project["requires-python"]) == (VERSIONS, ">=3.11")
    for name in ("docs/releases.md", "SECURITY.md"):
        assert "Python 3.11 to 3.14" in (ROOT / name).read_text(encoding="utf-8"), name
    image = re.search(r"FROM python:(3\.[0-9]+)-slim", (ROOT / "deploy" / "Dockerfile").read_text())
    assert image is not None
    assert image[1] in VERSIONS


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_source_parses_without_a_warning(version: str) -> None:
    for folder in ("src", "clients/python/src"):
        command = [python_of(version), "-I", "-c", PARSE, str(ROOT / folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]


def make_environment(python: str, folder: Path) -> str:
    """Install both wheels and the locked libraries for a Python; return the environment's own Python."""
    given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, "-m", "venv", str(folder / "environment")], check=True, env=given)
    own = str(folder / "environment" / "bin" / "python")
    wheels = build_wheels(folder)
    locked = ["--only-binary", ":all:", "--require-hashes", "-r", str(ROOT / "requirements" / "run.txt")]
    for words in (locked, ["--no-deps", *wheels]):
        command = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=given)
        if "No matching distribution" in done.stderr:
            pytest.skip(f"not every locked library can be had here: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stderr[-2000:]
    return own


@pytest.mark.soak
@pytest.mark.parametrize("version", VERSIONS)
def test_a_site_with_the_locked_libraries_runs(version: str, tmp_path: Path) -> None:
    python = make_environment(python_of(version), tmp_path)
    port = free_port()
    given = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    given |= {
        "SILVERBALL_DATABASE_URL": f"sqlite:///{tmp_path / 'site.db'}",
        "SILVERBALL_PUBLIC_READ": "true",
    }
    strict = [python, "-W", "error::SyntaxWarning", "-m", "silverball.cli.main"]
    for words in (["migrate"], ["import", "bundle", str(bundles.NIGHTS[0])], ["verify"]):
        done = subprocess.run([*strict, *words], env=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    (tmp_path / "messages").touch()
    process = subprocess.Popen(
        [*strict, "serve", "--port", str(port)],
        env=given,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port, process, tmp_path)
        for path in ("/ready", "/", "/openapi.json"):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
                assert answer.status == 200
        done = subprocess.run([python, "-c", SMOKE, str(port)], capture_output=True, text=True, check=False)
        assert len(json.loads(done.stdout or "[]")) == 1, done.stderr[-2000:]
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0
