"""The files of deploy/, read as the programs read them that they are for."""

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from house.doc_blocks import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE_FILES = ("compose.yaml", "compose.nodes.yaml")
# `${NAME:?sentence}` of compose.
COMPOSE_VARIABLE = re.compile(r"\$\{(?P<name>\w+):\?[^}]*\}")


def build_wheels(folder: Path) -> list[str]:
    """Build the wheels of the program and of the typed client that it requires, in this order."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    for source in (ROOT, ROOT / "clients" / "python"):
        subprocess.run(command, cwd=source, check=True, capture_output=True)
    return sorted(map(str, folder.glob("silverball*.whl")))


def read_file(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class DockerStep:
    """An instruction of a Dockerfile; `words` of its JSON or shell form."""

    instruction: str
    text: str

    @property
    def words(self) -> list[str]:
        parsed = yaml.safe_load(self.text) if self.text.startswith("[") else shlex.split(self.text)
        return [str(word) for word in parsed]


def docker_stages() -> list[list[DockerStep]]:
    """List the instructions of the Dockerfile by stage."""
    lines = [line for line in read_file("Dockerfile").splitlines() if line and not line.startswith("#")]
    stages: list[list[DockerStep]] = []
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        instruction, _, text = line.strip().partition(" ")
        if instruction == "FROM":
            stages.append([])
        stages[-1].append(DockerStep(instruction, text.strip()))
    return stages


def compose(name: str) -> dict[str, Any]:
    """Return a compose file with the variables that an operator has to give."""
    given = {"SILVERBALL_BASE_URL": "https://pinball.example", "SITE_NAME": "pinball.example"}
    text = COMPOSE_VARIABLE.sub(lambda found: given[found["name"]], read_file(name))
    read: dict[str, Any] = yaml.safe_load(text)
    return read


def unit(name: str = "silverball.service") -> dict[str, dict[str, list[str]]]:
    """Return a unit of systemd: section, name, values in their order."""
    sections: dict[str, dict[str, list[str]]] = {}
    for line in read_file(name).splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            section.setdefault(key, []).append(value)
    return sections
