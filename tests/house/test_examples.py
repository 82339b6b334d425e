"""The example patches of CONTRIBUTING.md apply to this tree, pass their own tests, and touch few files."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
MIGRATIONS = ROOT / "src" / "silverball" / "store" / "migrations" / "versions"
# Files of the program that each kind of change touches; documents, golden files and tests come on top.
FILES_MAX = {
    "format": 2,
    "format_setting": 2,
    # Two, and the migration.
    "field": 3,
    "environment_setting": 2,
    # One, and the template.
    "page": 2,
    "endpoint": 4,
    "event": 4,
    "column": 4,
}
TOUCHED = re.compile(r"^\+\+\+ b/(\S+)$", re.MULTILINE)
COPIED = ("src", "clients", "tests", "docs", "pyproject.toml", "README.md")
SOURCES = ("src", "clients/python/src", "clients/python")
# What a recipe generates before its tests run.
GENERATED = {"format_setting": ("-m", "generator")}
BROWSER_TABLE, IN_TABLE = "tests/web/test_every_page_browser.py", "test_each_page_is_in_the_table"
LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", "kept", "*.png")


def touched_files(name: str) -> list[str]:
    """The files that a patch changes or adds."""
    return TOUCHED.findall((EXAMPLES / f"{name}.patch").read_text(encoding="utf-8"))


def with_next_migration(name: str) -> str:
    """The patch, with the number that its migration would have today."""
    text = (EXAMPLES / f"{name}.patch").read_text(encoding="utf-8")
    newest = max(path.name[:4] for path in MIGRATIONS.glob("[0-9]*.py"))
    following = f"{int(newest) + 1:04d}"
    text = re.sub(r"(?<=versions/)[0-9]{4}(?=_)", following, text)
    text = re.sub(r'(?<=^\+revision = ")[0-9]{4}', following, text, flags=re.MULTILINE)
    return re.sub(r'(?<=^\+down_revision = ")[0-9]{4}', newest, text, flags=re.MULTILINE)


def copy_of_the_tree(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy(source, folder / name)
    return folder


def test_there_is_an_example_of_each_kind_of_change() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.patch")} == set(FILES_MAX)


@pytest.mark.parametrize(("name", "count"), FILES_MAX.items())
def test_an_example_touches_few_files_of_the_program(name: str, count: int) -> None:
    program = [path for path in touched_files(name) if path.startswith(("src/", "clients/"))]
    assert len(program) <= count, program


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", FILES_MAX)
def test_an_example_applies_and_passes_its_tests(name: str, tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path)
    patch = tmp_path / "example.patch"
    patch.write_text(with_next_migration(name), encoding="utf-8")
    subprocess.run(["git", "apply", "--whitespace=nowarn", str(patch)], cwd=tree, check=True)
    tests = [path for path in touched_files(name) if path.startswith("tests/") and path.endswith(".py")]
    # Looking at all pages in a browser takes minutes; that the new one is in the table is enough here.
    tests = [f"{path}::{IN_TABLE}" if path == BROWSER_TABLE else path for path in tests]
    # SQLite is enough to see that the recipe is complete.
    paths = os.pathsep.join(str(tree / folder) for folder in SOURCES)
    environment = {**os.environ, "PYTHONPATH": paths, "SILVERBALL_TEST_POSTGRESQL": "0"}
    if name in GENERATED:
        subprocess.run([sys.executable, *GENERATED[name]], cwd=tree, env=environment, check=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout
