"""The handbook, built from this tree into a folder of its own."""

import gzip
import shutil
from html.parser import HTMLParser
from pathlib import Path

from house.doc_blocks import ROOT
from house.scripts import load_script


def build_handbook(folder: Path) -> Path:
    """Build the handbook below this folder and return where it is."""
    tree = folder / "tree"
    shutil.copytree(ROOT / "docs", tree / "docs")
    shutil.copy(ROOT / "zensical.toml", tree)
    target = folder / "handbook_site"
    load_script("build_handbook").build(tree, target)
    return target


def text_of(site: Path, path: str) -> str:
    """Return a text of the built handbook."""
    return gzip.decompress((site / f"{path}.gz").read_bytes()).decode()


def pages(site: Path) -> list[str]:
    """List the paths of all pages of the built handbook."""
    return sorted(file.relative_to(site).as_posix().removesuffix(".gz") for file in site.rglob("*.html.gz"))


class LinkCollector(HTMLParser):
    """Collects what a page links to, what it loads, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the addresses and the anchor of one element."""
        given = dict(attrs)
        if identifier := given.get("id"):
            self.anchors.add(identifier)
        if tag == "a" and (href := given.get("href")):
            self.links.append(href)
        elif address := given.get("src") or (given.get("href") if tag == "link" else None):
            self.loaded.append(address)
