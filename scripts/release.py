"""Build a release into dist/: `make release`, or `make release KEY=FILE` to sign it.

All files are made from the commit, in an empty folder: nothing else that lies in the working tree gets in,
and the same commit gives the same bytes. docs/releases.md says how a release is made and checked.
"""

import argparse
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHECKSUMS = "SHA256SUMS"
HANDBOOK = "src/silverball/web/handbook_site"
# What signatures are for: one made for another purpose is not accepted.
NAMESPACE = "silverball-release"
# Each place that holds the version, with the line that it stands in.
VERSION_PLACES = (
    ("pyproject.toml", r'^version = "([^"]+)"$'),
    ("pyproject.toml", r'^    "silverball-client==([^"]+)",$'),
    ("src/silverball/__init__.py", r'^__version__ = "([^"]+)"$'),
    ("clients/python/src/silverball_client/exchange.py", r'^VERSION = "([^"]+)"$'),
    ("clients/typescript/package.json", r'^  "version": "([^"]+)",$'),
    ("CHANGELOG.md", r"^## ([0-9][^ ]*) \("),
)


def main() -> int:
    """Build the release of the commit that is checked out; return the exit status."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--audit-python", required=True, help="Python that has the tools of `make audit`")
    options.add_argument("--key", type=Path, help="SSH key to sign the checksums with")
    options.add_argument("--target", type=Path, default=ROOT / "dist", help="folder, emptied first")
    given = options.parse_args()
    if changed := _git("status", "--porcelain"):
        sys.exit(f"A release is made from a commit, and these are not committed:\n{changed}")
    with tempfile.TemporaryDirectory(prefix="silverball-release-") as folder:
        tree = export_commit(ROOT, Path(folder) / "tree")
        version = check_version(tree, is_signed=given.key is not None)
        environment = build_environment(ROOT)
        # In a copy: the tool leaves files of its own behind, which would get into the source archive.
        copy = export_commit(ROOT, Path(folder) / "handbook")
        run_tool("scripts/build_handbook.py", folder=copy, environment=environment)
        shutil.copytree(copy / HANDBOOK, tree / HANDBOOK)
        shutil.rmtree(given.target, ignore_errors=True)
        build_packages(tree, given.target, environment)
        bill = given.target.resolve() / f"silverball-{version}.cdx.json"
        program = [given.audit_python, "scripts/audit.py", "--bill-only", str(bill)]
        subprocess.run(program, cwd=tree, env=environment, check=True)
    write_checksums(given.target)
    if given.key is not None:
        sign(given.target / CHECKSUMS, given.key)
    print((given.target / CHECKSUMS).read_text(encoding="utf-8"), end="")
    return 0


def export_commit(root: Path, tree: Path) -> Path:
    """Write the files of the commit that is checked out into a new folder, and return it."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=root, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(tree, filter="data")
    return tree


def check_version(tree: Path, *, is_signed: bool) -> str:
    """Return the version of a tree; end the program when its files name several."""
    found: list[tuple[str, str]] = []
    for name, line in VERSION_PLACES:
        match = re.search(line, (tree / name).read_text(encoding="utf-8"), re.MULTILINE)
        found.append((match[1] if match else "none", name))
    if len({version for version, _ in found}) > 1:
        listed = "\n".join(f"  {version:8} {name}" for version, name in found)
        sys.exit(f"These files name different versions:\n{listed}")
    version = found[0][0]
    if is_signed and f"## {version} (unreleased)" in (tree / "CHANGELOG.md").read_text(encoding="utf-8"):
        sys.exit(f"CHANGELOG.md calls {version} unreleased. Give it a date before you sign it.")
    return version


def build_environment(root: Path) -> Mapping[str, str]:
    """Return the environment of the tools, whose clock stands at the time of the commit."""
    committed_at = _git("log", "-1", "--format=%ct", folder=root)
    fixed = {"SOURCE_DATE_EPOCH": committed_at, "LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "0"}
    return {**os.environ, **fixed}


def build_packages(tree: Path, target: Path, environment: Mapping[str, str]) -> None:
    """Build the source archives and wheels of the program and of its client into a folder."""
    out = str(target.resolve())
    builder = ("-m", "hatchling", "build", "-d", out)
    for folder in (tree, tree / "clients" / "python"):
        run_tool(*builder, "-t", "sdist", "-t", "wheel", folder=folder, environment=environment)


def run_tool(*words: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Run a Python program of the development tools in a folder."""
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True)


def write_checksums(target: Path) -> None:
    """Write the checksums of all files of a folder, as `sha256sum --check` reads them."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(target.iterdir())
        # hatchling puts one of its own into each folder.
        if file.name != ".gitignore" and not file.name.startswith(CHECKSUMS)
    ]
    (target / ".gitignore").unlink(missing_ok=True)
    (target / CHECKSUMS).write_text("".join(lines), encoding="utf-8")


def sign(file: Path, key: Path) -> None:
    """Sign a file with an SSH key; the signature has its name and `.sig`."""
    Path(f"{file}.sig").unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(file)]
    subprocess.run(command, check=True)


def _git(*words: str, folder: Path = ROOT) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
