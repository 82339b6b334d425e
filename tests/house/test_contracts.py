"""Each import contract works: a breach planted in a copy of the source is found."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
CLIENT = "clients/python/src"
NAMES = {contract["id"]: contract["name"] for contract in CONFIG["contracts"]}

# Contract -> breaches: file below `src/silverball` (or of the client) -> a line that breaks the contract.
# Where a contract speaks of all folders of `service`, the second breach is in a folder of a folder.
BREACHES: dict[str, list[dict[str, str]]] = {
    "rooms": [{"store/types.py": "from silverball.service.core import access"}],
    "floors-of-the-rules": [{"rules/model/planted.py": "from silverball.rules.scoring import strikes"}],
    "rules-are-pure": [{"rules/scoring/strikes.py": "import sqlite3"}],
    "who-speaks-sql": [
        {"service/games/planted.py": "from sqlalchemy import select"},
        {"service/games/deep/planted.py": "from sqlalchemy import select"},
    ],
    "who-speaks-http": [{"service/core/access.py": "from starlette.requests import Request"}],
    "routes-belong-to-app": [
        {"service/planted/reads.py": "from silverball.service.games import routes"},
        {"service/planted/reads.py": "from silverball.service.tournaments import search"},
        {
            "service/games/deep/routes.py": "",
            "web/planted.py": "from silverball.service.games.deep import routes",
        },
    ],
    "kinds-of-file": [
        {
            "service/planted/reads.py": "from silverball.service.planted import writes",
            "service/planted/writes.py": "",
        }
    ],
    "core-above-events": [{"service/core/feed_events.py": "from silverball.service.core import enact"}],
    "core-serves-writes": [
        {"service/core/planted.py": "from silverball.service.games import writes"},
        {
            "service/games/deep/writes.py": "",
            "service/core/deep/planted.py": "from silverball.service.games.deep import writes",
        },
    ],
    "reads-change-nothing": [
        {"service/planted/reads.py": "from silverball.service.games import writes"},
        {"service/games/reads/planted.py": "from silverball.service.rounds import writes"},
    ],
    "bodies-know-no-reads": [
        {"service/planted/bodies.py": "from silverball.service.rounds import reads"},
        {"service/games/deep/bodies.py": "from silverball.service.rounds import reads"},
    ],
    "edge-above-http": [{"kit/http/planted.py": "from silverball.kit.edge import rate_limit"}],
    "formats-are-independent": [
        {
            "rules/formats/planted.py": "",
            "rules/formats/planted_too.py": "from silverball.rules.formats import planted",
        }
    ],
    "writes-are-independent": [
        {"service/planted/writes.py": "from silverball.service.rounds import writes"},
        {"service/games/deep/writes.py": "from silverball.service.rounds import writes"},
    ],
    "client-stands-alone": [{"silverball_client/etags.py": "import silverball"}],
    "shapes-stand-alone": [{"silverball_wire/base.py": "import silverball.kit.values"}],
    "rules-know-no-shapes": [{"rules/model/planted.py": "from silverball_wire import games"}],
    "areas-of-pages-are-independent": [{"web/book/planted.py": "from silverball.web.console import actions"}],
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
@pytest.mark.parametrize(
    ("contract", "number"),
    [(contract, number) for contract, planted in sorted(BREACHES.items()) for number in range(len(planted))],
)
def test_a_breach_of_the_contract_is_found(copy: Path, contract: str, number: int) -> None:
    for name, line in BREACHES[contract][number].items():
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


def test_import_linter_sees_every_module() -> None:
    """A folder without an `__init__.py` would be looked over."""
    folders = [
        (ROOT / "src", "silverball"),
        *((ROOT / CLIENT, name) for name in ("silverball_client", "silverball_wire")),
    ]
    graph = grimp.build_graph("silverball", "silverball_client", "silverball_wire", cache_dir=None)
    on_disk = {
        ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        for folder, package in folders
        for path in (folder / package).rglob("*.py")
        if path.parent.name != "versions"
    }
    assert on_disk - graph.modules == set()
