"""Each import contract works: a breach planted in a copy of the source is found."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
CLIENT = "clients/python/src"
NAMES = {contract["id"]: contract["name"] for contract in CONFIG["contracts"]}

# Contract -> file below `src/silverball`, or a file of the client -> a line that breaks the contract.
BREACHES: dict[str, dict[str, str]] = {
    "rooms": {"store/types.py": "from silverball.service import access"},
    "floors-of-the-rules": {"rules/model/planted.py": "from silverball.rules.scoring import strikes"},
    "rules-are-pure": {"rules/scoring/strikes.py": "import sqlite3"},
    "who-speaks-sql": {"service/core/access.py": "from sqlalchemy import select"},
    "who-speaks-http": {"service/core/access.py": "from starlette.requests import Request"},
    "routes-belong-to-app": {
        "service/planted/routes.py": "",
        "service/planted/reads.py": "from silverball.service.planted import routes",
    },
    "kinds-of-file": {
        "service/planted/reads.py": "from silverball.service.planted import writes",
        "service/planted/writes.py": "",
    },
    "core-above-events": {"service/events/planted.py": "from silverball.service.core import enact"},
    "core-serves-writes": {
        "service/planted/writes.py": "",
        "service/core/planted.py": "from silverball.service.planted import writes",
    },
    "reads-change-nothing": {
        "service/planted/writes.py": "",
        "service/planted_too/reads.py": "from silverball.service.planted import writes",
    },
    "bodies-know-no-reads": {
        "service/planted/reads.py": "",
        "service/planted_too/bodies.py": "from silverball.service.planted import reads",
    },
    "reads-without-circles": {
        "service/planted/reads.py": "from silverball.service.planted_too import reads",
        "service/planted_too/reads.py": "from silverball.service.planted import reads",
    },
    "edge-above-http": {"kit/http/planted.py": "from silverball.kit.edge import rate_limit"},
    "formats-are-independent": {
        "rules/formats/planted.py": "",
        "rules/formats/planted_too.py": "from silverball.rules.formats import planted",
    },
    "writes-are-independent": {
        "service/planted/writes.py": "",
        "service/planted_too/writes.py": "from silverball.service.planted import writes",
    },
    "client-stands-alone": {"silverball_client/etags.py": "import silverball"},
    "shapes-stand-alone": {"silverball_wire/base.py": "import silverball.kit.values"},
    "rules-know-no-shapes": {"rules/model/planted.py": "from silverball_wire import games"},
    "areas-of-pages-are-independent": {"web/book/planted.py": "from silverball.web.console import actions"},
}


def _lint(folder: Path, contract: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--contract", contract]
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder / CLIENT}"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the source and its contracts."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "static", "templates")
    for name in ("src", CLIENT):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    return tmp_path


def test_every_contract_has_a_breach_here() -> None:
    assert set(BREACHES) == set(NAMES)


# `make check` looks at the intact tree.
@pytest.mark.sample(6)
@pytest.mark.parametrize("contract", sorted(BREACHES))
def test_a_breach_of_the_contract_is_found(copy: Path, contract: str) -> None:
    for name, line in BREACHES[contract].items():
        file = copy / CLIENT / name if name.startswith("silverball_") else copy / "src" / "silverball" / name
        file.parent.mkdir(exist_ok=True)
        (file.parent / "__init__.py").touch()
        with file.open("a", encoding="utf-8") as source:
            source.write(f"\n{line}\n")
    broken = _lint(copy, contract)
    assert broken.returncode == 1
    assert f"{NAMES[contract]} BROKEN" in broken.stdout, broken.stdout + broken.stderr


def test_service_has_empty_init_files() -> None:
    written = [path for path in (ROOT / "src/silverball/service").rglob("__init__.py") if path.stat().st_size]
    assert written == [], "callers import the submodule"
