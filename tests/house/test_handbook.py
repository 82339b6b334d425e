"""`make docs` builds a handbook that is complete, small, and loads nothing from other hosts."""

import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from house import built_handbook, doc_blocks
from house.built_handbook import LinkCollector, pages, text_of
from house.doc_blocks import ROOT

BYTES_MAX = 3_000_000
PAGE_BYTES_MAX = 30 * 1024
# The programs of the cookbook are read on one screen.
RECIPE_LINES_MAX = 30
# Names of markup languages, and who drew the icons: nothing is asked there.
HARMLESS = ("http://www.w3.org/", "https://fontawesome.com")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built handbook."""
    return built_handbook.build_handbook(tmp_path_factory.mktemp("handbook"))


def navigated(entries: list[Any]) -> list[str]:
    """List the pages of a part of the navigation."""
    found: list[str] = []
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            found += navigated(value) if isinstance(value, list) else [value]
    return found


def test_every_page_is_in_the_navigation_once() -> None:
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    docs = ROOT / "docs"
    written = sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
    assert sorted(navigated(project["nav"])) == written


def test_no_page_is_too_long_to_read() -> None:
    sizes = {path.name: path.stat().st_size for path in (ROOT / "docs").rglob("*.md")}
    assert {name: size for name, size in sizes.items() if size > PAGE_BYTES_MAX} == {}


def test_a_recipe_fits_on_a_screen() -> None:
    recipes = [
        block for block in doc_blocks.blocks(ROOT / "docs" / "cookbook.md") if block.language == "python"
    ]
    long = [block.place for block in recipes if len(block.text.splitlines()) >= RECIPE_LINES_MAX]
    assert recipes
    assert long == []


def test_every_link_between_pages_leads_to_a_page_and_an_anchor(site: Path) -> None:
    collected = {path: LinkCollector(text_of(site, path)) for path in pages(site)}
    broken = []
    for path, page in collected.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path)))
            target = path if not parts.path else target
            exists = target in collected or (site / target).exists() or (site / f"{target}.gz").exists()
            anchors = collected[target].anchors if target in collected else set()
            if not exists or (parts.fragment and unquote(parts.fragment) not in anchors):
                broken.append((path, link))
    assert broken == []


def test_pages_load_files_of_the_handbook_only(site: Path) -> None:
    for path in pages(site):
        loaded = LinkCollector(text_of(site, path)).loaded
        assert [address for address in loaded if urlsplit(address).scheme or address.startswith("/")] == []
    for file in [*site.rglob("*.js.gz"), *site.rglob("*.css.gz")]:
        text = text_of(site, file.relative_to(site).as_posix().removesuffix(".gz"))
        urls = re.findall(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s\"'`)]*", text)
        assert [url for url in urls if not url.startswith(HARMLESS)] == [], file.name


def test_the_wheel_has_the_handbook_and_it_is_small(site: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    left_out = shutil.ignore_patterns("__pycache__", "handbook_site")
    shutil.copytree(ROOT / "src", tree / "src", ignore=left_out)
    for name in ("pyproject.toml", "README.md", ".gitignore", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    shutil.copytree(site, tree / "src" / "silverball" / "web" / "handbook_site")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    prefix = "silverball/web/handbook_site/"
    packed = {name.removeprefix(prefix): size for name, size in sizes.items() if name.startswith(prefix)}
    assert packed == {
        file.relative_to(site).as_posix(): file.stat().st_size for file in site.rglob("*") if file.is_file()
    }
    assert 0 < sum(packed.values()) <= BYTES_MAX
