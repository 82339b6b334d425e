"""Published generators and checkers accept the descriptions, and generated clients play a night.

The generators for TypeScript, its compiler and Spectral come with `npm ci --prefix tests/clients`; those in
Python packages get environments of their own in pytest's cache. What cannot be had is skipped.
"""

import json
import os
import re
import shutil
import subprocess
import venv
from collections.abc import Iterator
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
from typed_client.packed_typescript import install_package

CLIENTS = Path(__file__).parents[1] / "clients"
TOOLS = CLIENTS / "node_modules" / ".bin"
GENERATOR = "openapi-python-client==0.29.1"
# For languages whose compilers are not here, it is a program of Java in a package of Python.
TEXT_GENERATOR = "openapi-generator-cli==7.26.0"
TYPESCRIPT_NIGHTS = {
    "hey_api": ("openapi-ts", "-i", "openapi.json", "-o", "generated"),
    "orval": ("orval", "--input", "openapi.json", "--output", "generated/client.ts", "--client", "fetch"),
}
# A file's classes or structs, and their fields: the name on the wire and the type.
FIELDS = {
    "csharp": (r"public partial class (\w+)", r'JsonPropertyName\("(\w+)"\)\]\s+public (\S+) \w+', "long"),
    "rust": (r"pub struct (\w+)", r'serde\(rename = "(\w+)"[^)]*\)\]\s+pub \w+: ([^\n]+),', "i64"),
}
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


def installed_programs(request: pytest.FixtureRequest, package: str) -> Path:
    """The programs of an environment with this package."""
    name = package.partition("==")[0]
    home: Any = request.config.cache
    folder: Path = home.mkdir(name)
    programs = folder / "bin"
    if not (programs / name).exists():
        venv.create(folder, with_pip=True)
        words = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--retries", "1", package]
        installed = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        if installed.returncode:
            pytest.skip(f"{package} cannot be installed here")
    return programs


@pytest.fixture(scope="module")
def generator(request: pytest.FixtureRequest) -> Path:
    """The programs of an environment with openapi-python-client."""
    return installed_programs(request, GENERATOR)


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


@pytest.fixture
def night(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of a new server, and an organizer's token."""
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
        yield f"http://127.0.0.1:{server.port}", issued.text
    finally:
        server.close()


def test_a_generated_client_plays_a_night(generated: Path, generator: Path, night: tuple[str, str]) -> None:
    words = (generator / "python", CLIENTS / "generated_night.py")
    status = run(*words, *night, folder=generated, PYTHONPATH=str(generated))
    assert status.strip() == "completed"


@pytest.mark.parametrize("name", TYPESCRIPT_NIGHTS)
def test_a_client_generated_in_typescript_plays_a_night(
    documents: Path, night: tuple[str, str], tmp_path: Path, name: str
) -> None:
    program, *words = TYPESCRIPT_NIGHTS[name]
    shutil.copy(documents / "openapi.json", tmp_path)
    run(tool(program), *words, folder=tmp_path)
    play_night_in_typescript(tmp_path, f"night_{name}", night, "commonjs", "node")


def test_the_packed_client_for_typescript_plays_a_night(tmp_path: Path, night: tuple[str, str]) -> None:
    tool("tsc")
    install_package(tmp_path)
    (tmp_path / "node_modules" / "@types").symlink_to(CLIENTS / "node_modules" / "@types")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    play_night_in_typescript(tmp_path, "night_openapi_fetch", night, "NodeNext", "NodeNext")


def play_night_in_typescript(
    folder: Path, name: str, night: tuple[str, str], module: str, resolution: str
) -> None:
    """Compile the night with the generated client strictly, and play it."""
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(CLIENTS / "node_modules")
    for file in ("night", name):
        shutil.copy(CLIENTS / f"{file}.ts", folder)
    options = ["--strict", "--target", "ES2022", "--lib", "ES2022,DOM,DOM.Iterable", "--outDir", "out"]
    kinds = ["--module", module, "--moduleResolution", resolution, "--types", "node"]
    run(tool("tsc"), *options, *kinds, f"{name}.ts", folder=folder)
    printed = run("node", f"out/{name}.js", *night, folder=folder)
    assert json.loads(printed) == ["completed", [2, 2, 2, 2], 98_765_432_101]


@pytest.mark.parametrize("language", FIELDS)
def test_whole_numbers_have_sixty_four_bits_in_other_languages_too(
    request: pytest.FixtureRequest, documents: Path, language: str
) -> None:
    if shutil.which("java") is None:
        pytest.skip("java is not installed")
    program = installed_programs(request, TEXT_GENERATOR) / "openapi-generator-cli"
    run(program, "generate", "-g", language, "-i", "openapi.json", "-o", language, folder=documents)
    types = written_types(documents / language, language)
    schemas = json.loads((documents / "openapi.json").read_text())["components"]["schemas"]
    wide = {
        (name, field)
        for name, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
        # A number or a text is a type of its own.
        if described.get("format") == "int64" and described["type"] in ("integer", ["integer", "null"])
    }
    word = FIELDS[language][2]
    assert len(wide & types.keys()) > 0.9 * len(wide)
    assert {place: types[place] for place in wide & types.keys() if word not in types[place]} == {}
    if language == "csharp":
        # A score is a number, or a text for pinbowling: a type of its own.
        assert types["SinglePlayerGame", "score"] == "SinglePlayerGameScore?"
        (score,) = (documents / language / "src").rglob("*/Model/SinglePlayerGameScore.cs")
        assert " long? Long " in score.read_text(encoding="utf-8")


def written_types(folder: Path, language: str) -> dict[tuple[str, str], str]:
    """Shape and field -> type, as the files of a generated client have it."""
    pattern, field, _ = FIELDS[language]
    found: dict[tuple[str, str], str] = {}
    for file in folder.rglob("*.cs" if language == "csharp" else "*.rs"):
        text = file.read_text(encoding="utf-8")
        if (shape := re.search(pattern, text)) is not None:
            found |= {(shape[1], name): kind for name, kind in re.findall(field, text)}
    return found
