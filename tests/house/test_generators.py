"""Published generators and checkers accept the descriptions, and a generated client plays a night.

openapi-typescript, TypeScript and Spectral come with `npm ci --prefix tests/clients`; openapi-python-client
gets an environment of its own in pytest's cache. What cannot be had is skipped.
"""

import os
import subprocess
import venv
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

import build
from servers import Servers
from silverball import app
from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.users import writes as users_writes
from silverball.settings import Settings
from silverball.slices import ROUTE_MODULES
from silverball.store.database import migrate
from silverball.store.database.engine import Store

CLIENTS = Path(__file__).parents[1] / "clients"
TOOLS = CLIENTS / "node_modules" / ".bin"
GENERATOR = "openapi-python-client==0.29.1"
SETTINGS = Settings(base_url="http://127.0.0.1:8000")
SECONDS_MAX = 300


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both documents."""
    folder: Path = tmp_path_factory.mktemp("documents")
    store = Store(f"sqlite:///{folder / 'empty.db'}")
    openapi = app.openapi_document(app.build_api(store, SETTINGS), SETTINGS)
    store.close()
    (folder / "openapi.json").write_bytes(openapi)
    (folder / "asyncapi.json").write_bytes(app.asyncapi_document(SETTINGS))
    return folder


def run(*words: str | Path, folder: Path, **environment: str) -> str:
    """The output of a program that succeeds."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def tool(name: str) -> Path:
    if not (TOOLS / name).exists():
        pytest.skip(f"{name} is not installed (npm ci --prefix tests/clients)")
    return TOOLS / name


def test_spectral_has_nothing_to_say(documents: Path) -> None:
    rules = CLIENTS / "spectral.yaml"
    files = ("openapi.json", "asyncapi.json")
    run(tool("spectral"), "lint", *files, "--ruleset", rules, "--fail-severity", "warn", folder=documents)


def test_openapi_typescript_writes_types_that_the_strict_compiler_accepts(documents: Path) -> None:
    run(tool("openapi-typescript"), "openapi.json", "-o", "openapi.d.ts", folder=documents)
    use = documents / "use.ts"
    use.write_text(
        'import type { operations } from "./openapi";\n'
        'type Query = NonNullable<operations["show_tournament"]["parameters"]["query"]>;\n'
        "export const query: Query = { includePlayers: true };\n"
    )
    options = ("--noEmit", "--strict", "--exactOptionalPropertyTypes")
    run(tool("tsc"), *options, "openapi.d.ts", "use.ts", folder=documents)


@pytest.fixture(scope="module")
def generator(request: pytest.FixtureRequest) -> Path:
    """The programs of an environment with openapi-python-client."""
    home: Any = request.config.cache
    folder: Path = home.mkdir("openapi-python-client")
    programs = folder / "bin"
    if not (programs / "openapi-python-client").exists():
        venv.create(folder, with_pip=True)
        words = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--retries", "1", GENERATOR]
        installed = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        if installed.returncode:
            pytest.skip(f"{GENERATOR} cannot be installed here")
    return programs


@pytest.fixture(scope="module")
def generated(generator: Path, documents: Path) -> Path:
    """The folder of the generated package."""
    words = ["generate", "--path", "openapi.json", "--output-path", "generated", "--meta", "none"]
    config = ["--config", str(CLIENTS / "openapi-python-client.yaml"), "--fail-on-warning"]
    # It formats what it writes with the ruff beside it.
    path = f"{generator}{os.pathsep}{os.environ['PATH']}"
    run(generator / "openapi-python-client", *words, *config, folder=documents, PATH=path)
    return documents


def test_openapi_python_client_generates_every_operation(generated: Path) -> None:
    endpoints = {route.handler.__name__ for route in collect_endpoints(*ROUTE_MODULES)}
    modules = {file.stem for file in (generated / "generated" / "api").glob("*/*.py")}
    assert endpoints <= modules


def test_a_generated_client_plays_a_night(generated: Path, generator: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'night.db'}"
    store = Store(url)
    migrate.migrate(store)
    user_id = build.a_user(store, name="Olga Ramp", role="organizer")
    with store.write() as transaction:
        issued = users_writes.create_token(
            transaction.connection,
            user_id,
            "night",
            abilities=["manage"],
            now=datetime.now(UTC),
            dice=Random(7),
        )
    store.close()
    server = Servers(url)
    try:
        server.start()
        words = (generator / "python", CLIENTS / "generated_night.py")
        address = f"http://127.0.0.1:{server.port}"
        status = run(*words, address, issued.text, folder=generated, PYTHONPATH=str(generated))
    finally:
        server.close()
    assert status.strip() == "completed"
