"""Build docs/ into the package, as the server shows it under /handbook: `make docs`.

Zensical writes the site; then whatever a strict content security policy would refuse, and whatever no page
needs, is taken out, and texts are compressed.
"""

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "silverball" / "web" / "handbook_site"
BYTES_MAX = 3_000_000
# Of these, only the server's own page for an unknown address and the theme's other look would be visible.
UNUSED = ("404.html", "sitemap.xml", "assets/stylesheets/classic/", "wire/")
TEXTS = frozenset({".html", ".js", ".css", ".json"})
# Texts in which spaces count.
VERBATIM = re.compile(r"(<(?:pre|script|textarea)\b.*?</(?:pre|script|textarea)>)", re.DOTALL)
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# What a policy without 'unsafe-inline' refuses, whoever writes it.
INLINE_CODE = re.compile(
    r"<[a-z][^>]*\s(?:on[a-z]+|style)=|<style|<script(?![^>]*(?:\ssrc=|application/json))|=\"javascript:",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"https?://[\w.-]+[^\s\"'`)]*")
# The theme's script can load further libraries for pages with diagrams and the like; there are none here.
LOADED_FROM_ELSEWHERE = re.compile(r"https://(?:unpkg\.com|cdn\.jsdelivr\.net|api\.github\.com)[^\"'`]*")
# The search adds its style as an element, which the policy refuses; as a sheet of its own it may.
STYLE_ELEMENT = re.compile(r'(\w+)\.appendChild\(\w+\("style",\{\},(\w+)\.toString\(\)\)\)')
STYLE_SHEET = r"(sheet=>(sheet.replaceSync(\2.toString()),\1.adoptedStyleSheets=[sheet]))(new CSSStyleSheet)"
# Names of markup languages, and who drew the icons.
HARMLESS_ADDRESSES = ("http://www.w3.org/", "https://fontawesome.com")


def build(root: Path, target: Path) -> int:
    """Build the handbook of the tree at this root into the target folder, and return its size in bytes."""
    # Warnings are errors: a page that is missing, a link that leads nowhere.
    subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=root, check=True)
    built, fresh = root / "build" / "handbook", target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    for file in sorted(built.rglob("*")):
        path = file.relative_to(built).as_posix()
        if file.is_file() and not path.startswith(UNUSED):
            store_file(file, path, fresh)
    total = sum(file.stat().st_size for file in fresh.rglob("*") if file.is_file())
    if total > BYTES_MAX:
        sys.exit(f"The handbook has {total:,} bytes; {BYTES_MAX:,} are allowed.")
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    return total


def store_file(file: Path, path: str, folder: Path) -> None:
    """Store one file of the site in the folder."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix not in TEXTS:
        shutil.copyfile(file, target)
        return
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".html":
        text = without_inline_scripts(without_spaces(text), path, folder)
        if (found := INLINE_CODE.search(text)) is not None:
            sys.exit(f"{path} has code that the content security policy refuses: {found[0]}")
    elif file.suffix in {".js", ".css"}:
        text = LOADED_FROM_ELSEWHERE.sub("", text)
        if file.name.startswith("bundle."):
            text, count = STYLE_ELEMENT.subn(STYLE_SHEET, text)
            if count != 1:
                sys.exit(f"{path} adds its styles in another way than this script knows.")
        if strange := [url for url in ADDRESS.findall(text) if not url.startswith(HARMLESS_ADDRESSES)]:
            sys.exit(f"{path} knows addresses of other hosts: {strange}")
    store_text(target, text)


def store_text(target: Path, text: str) -> None:
    """Store a text compressed; the same text gives the same bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    compressed = gzip.compress(text.encode(), 9, mtime=0)
    target.with_name(target.name + ".gz").write_bytes(compressed)


def without_spaces(text: str) -> str:
    """Return a page without the spaces that no reader sees."""
    parts = VERBATIM.split(text)
    return "".join(part if at % 2 else re.sub(r"\s+", " ", part) for at, part in enumerate(parts))


def without_inline_scripts(text: str, path: str, folder: Path) -> str:
    """Return a page whose scripts are files, which a policy can allow by their origin."""
    up = "../" * path.count("/") or "./"

    def as_file(script: re.Match[str]) -> str:
        name = f"assets/javascripts/inline.{hashlib.sha256(script[1].encode()).hexdigest()[:8]}.min.js"
        store_text(folder / name, script[1])
        return f'<script src="{up}{name}"></script>'

    return INLINE_SCRIPT.sub(as_file, text)


if __name__ == "__main__":
    print(f"{TARGET.relative_to(ROOT)}: {build(ROOT, TARGET):,} bytes")
