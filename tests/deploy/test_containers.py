"""The Dockerfile and the compose files: what they name exists, and what they run is ours to run.

No test starts a container: the steps are read, and those of the build stage are run in a folder by
`make soak`.
"""

import fnmatch
import re
import shutil
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deploy import deploy_files
from deploy.deploy_files import COMPOSE_FILES, DEPLOY, build_wheels
from house.doc_blocks import ROOT
from silverball import __version__, settings
from silverball.cli.main import COMMANDS, silverball_group
from silverball.store.database.engine import Store

KNOWN = {f"SILVERBALL_{name.upper()}" for name in settings.KNOWN}
IMAGE = re.compile(r"[a-z]+:[0-9a-z.-]+")


def services(name: str) -> dict[str, Any]:
    found: dict[str, Any] = deploy_files.compose(name)["services"]
    return found


def our_services(name: str) -> dict[str, Any]:
    return {
        key: service for key, service in services(name).items() if service["image"].startswith("silverball")
    }


def test_every_setting_that_a_file_names_exists() -> None:
    for file in (path for path in DEPLOY.rglob("*") if path.is_file()):
        named = set(re.findall(r"\bSILVERBALL_[A-Z_]+\b", file.read_text(encoding="utf-8")))
        assert named - KNOWN == set(), file.name


def test_nothing_but_the_step_for_it_makes_a_database() -> None:
    for file in (path for path in DEPLOY.rglob("*") if path.is_file()):
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if "--create" in line]
        assert lines == [], file.name
    for name in COMPOSE_FILES:
        step = our_services(name)["init"]
        assert (step["command"][0], step["profiles"], step["restart"]) == ("migrate", ["init"], "no")


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_the_settings_of_a_node_are_valid(name: str) -> None:
    for service in our_services(name).values():
        loaded = settings.load(service["environment"])
        assert loaded.base_url == "https://pinball.example"
        assert service["image"] == f"silverball:{__version__}"
        # The rest of the container cannot be written to.
        assert service["read_only"]
        folders = [volume.partition(":")[2] for volume in service["volumes"]]
        assert any(loaded.exports_folder.startswith(folder) for folder in folders)
        if loaded.database_url.startswith("sqlite"):
            assert loaded.database_url.startswith(f"sqlite:///{folders[0]}/")


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_whatever_a_compose_file_refers_to_is_in_it(name: str) -> None:
    file = deploy_files.compose(name)
    for key, service in file["services"].items():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            is_there = (DEPLOY / source).exists() if source.startswith(".") else source in file["volumes"]
            assert is_there, (key, volume)
        for part in ("networks", "secrets"):
            assert set(service.get(part, ())) <= set(file.get(part, {})), (key, part)
        assert set(service.get("depends_on", ())) <= set(file["services"]), key
    for secret, described in file.get("secrets", {}).items():
        assert described == {"file": f"./secrets/{secret}"}
    # No password stands in a file.
    assert "PASSWORD:" not in str(file).replace("POSTGRES_PASSWORD_FILE", "")


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_every_service_that_goes_on_is_watched_and_started_again(name: str) -> None:
    for key, service in services(name).items():
        if "init" in service.get("profiles", ()):
            continue
        assert service["restart"] == "unless-stopped", key
        assert service["healthcheck"]["test"][0] == "CMD", key
        assert IMAGE.fullmatch(service["image"]), key
        if key in our_services(name):
            assert service["healthcheck"]["test"][1:] == ["silverball", "ready"]
            assert (service["user"], service["cap_drop"]) == ("10001:10001", ["ALL"])
            assert "command" not in service


@pytest.mark.parametrize("name", COMPOSE_FILES)
def test_only_the_proxy_is_believed(name: str) -> None:
    file = deploy_files.compose(name)
    (front,) = file["networks"]["front"]["ipam"]["config"]
    caddy = file["services"].get("caddy")
    proxy = caddy["networks"]["front"]["ipv4_address"] if caddy else front["gateway"]
    for service in our_services(name).values():
        assert service["environment"]["SILVERBALL_TRUSTED_PROXIES"] == proxy
    published = [port for service in file["services"].values() for port in service.get("ports", ())]
    assert published == (["80:80", "443:443", "443:443/udp"] if caddy else ["127.0.0.1:8000:8000"])


def test_secrets_of_the_nodes_are_where_the_settings_look() -> None:
    for service in our_services("compose.nodes.yaml").values():
        loaded = settings.load(service["environment"])
        assert loaded.secret_file == "/run/secrets/silverball_key"
        store = Store(loaded.database_url)
        _, arguments = store.engine.dialect.create_connect_args(store.url)
        store.close()
        # libpq reads the password there.
        assert arguments["passfile"] == "/run/secrets/pgpass"
        assert {"pgpass", "silverball_key"} <= set(service["secrets"])
        password = [name for name in arguments if "password" in name]
        assert password == []


def test_the_image_has_both_wheels_and_the_locked_libraries_and_nothing_else() -> None:
    build, image = deploy_files.docker_stages()
    for stage in (build, image):
        name = stage[0].text.removesuffix(" AS build")
        assert re.fullmatch(r"python:3\.1[1-4]-slim", name)
    sources = [step.words[0] for step in build if step.instruction == "COPY"]
    assert sources[0] == "requirements/nodes.txt"
    for name in ("silverball", "silverball_client"):
        assert fnmatch.fnmatch(f"dist/{name}-{__version__}-py3-none-any.whl", sources[1])
    installs = [part for step in build for part in step.text.split("&&") if "pip install" in part]
    assert ["--require-hashes" in part or "--no-deps" in part for part in installs] == [True, True]
    assert [step.words for step in image if step.instruction == "COPY"] == [
        ["--from=build", "/opt/silverball", "/opt/silverball"]
    ]


def test_the_image_runs_as_nobody_in_particular_and_asks_itself_whether_it_is_ready() -> None:
    steps = {step.instruction: step for step in deploy_files.docker_stages()[1]}
    assert steps["USER"].text == "10001:10001"
    created = [step.text for step in deploy_files.docker_stages()[1] if "useradd" in step.text]
    assert ["--uid 10001" in text and "--gid 10001" in text for text in created] == [True]
    check = steps["HEALTHCHECK"].text.partition(" CMD ")[2]
    assert check == '["silverball", "ready"]'
    assert "ready" in COMMANDS
    entry, command = steps["ENTRYPOINT"].words, steps["CMD"].words
    assert entry == ["silverball"]
    # click reads the options, and refuses what does not exist.
    done = CliRunner().invoke(silverball_group, [*command, "--help"])
    assert done.exit_code == 0, done.output


@pytest.mark.soak
def test_the_steps_of_the_build_make_a_program_that_runs(tmp_path: Path) -> None:
    """The build stage in a folder: what it copies, and what it runs, with this Python."""
    build, _ = deploy_files.docker_stages()
    (tmp_path / "requirements").mkdir()
    shutil.copy(ROOT / "requirements" / "nodes.txt", tmp_path / "requirements")
    build_wheels(tmp_path / "dist")
    work, target = tmp_path / "build", tmp_path / "opt" / "silverball"
    work.mkdir()
    for step in build:
        if step.instruction == "COPY":
            for source in tmp_path.glob(step.words[0]):
                shutil.copy(source, work)
        elif step.instruction == "RUN":
            venv.create(target, with_pip=True)
            script = step.text.replace("/opt/silverball", str(target))
            done = subprocess.run(
                ["sh", "-euc", script], cwd=work, capture_output=True, text=True, check=False
            )
            if "No matching distribution" in done.stderr:
                pytest.skip("the locked packages cannot be had here")
            assert done.returncode == 0, done.stderr[-3000:]
    answer = subprocess.run(
        [str(target / "bin" / "silverball"), "--version"], capture_output=True, text=True, check=True
    )
    assert f"version {__version__}" in answer.stdout
