"""Look up known weaknesses of the locked dependencies, and write a bill of materials.

Ends with 1 when a weakness is known. Without a way to the package index there is nothing to look up: that
is said, and is no failure. The bill of materials (CycloneDX) holds what runs, not the tools.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCKS = ("run", "dev", "docs", "bench", "audit")
BILL_OF_MATERIALS = ROOT / "build" / "silverball.cdx.json"


def main() -> int:
    """Write the bill of materials and look up every lock; return the exit status."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--bill-only", type=Path, metavar="FILE", help="write the bill of materials there")
    bill: Path | None = options.parse_args().bill_only
    _write_bill_of_materials(bill or BILL_OF_MATERIALS)
    if bill is not None:
        return 0
    return 1 if sum(_count_weaknesses(lock) for lock in LOCKS) else 0


def _write_bill_of_materials(target: Path) -> None:
    # The same lock gives the same bytes; the only time is that of SOURCE_DATE_EPOCH.
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", "--output-reproducible"]
    about = ["--pyproject", "pyproject.toml", "--mc-type", "application"]
    target.parent.mkdir(parents=True, exist_ok=True)
    output = ["--output-file", str(target.resolve()), "requirements/nodes.txt"]
    subprocess.run([*command, *about, *output], cwd=ROOT, check=True)
    components = json.loads(target.read_text(encoding="utf-8"))["components"]
    print(f"{target.name}: {len(components)} packages.")


def _count_weaknesses(lock: str) -> int:
    """Print what is known about the packages of a lock; return how many weaknesses that are."""
    report = _look_up(lock)
    if report is None:
        print(f"{lock}: nothing could be looked up; the package index cannot be reached.")
        return 0
    count = unknown = 0
    for package in report["dependencies"]:
        unknown += "skip_reason" in package
        for weakness in package.get("vulns", ()):
            count += 1
            fixed = ", ".join(weakness["fix_versions"]) or "no version yet"
            print(f"{lock}: {package['name']} {package['version']}: {weakness['id']}, fixed in {fixed}")
    print(f"{lock}: {len(report['dependencies']) - unknown} packages looked up, {unknown} could not be.")
    return count


def _look_up(lock: str) -> Any:
    """Return a report on a lock, or None if the package index cannot be reached."""
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--disable-pip",
        "--require-hashes",
        "--progress-spinner=off",
    ]
    done = subprocess.run(
        [*command, "--format", "json", "-r", str(ROOT / "requirements" / f"{lock}.txt")],
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


if __name__ == "__main__":
    sys.exit(main())
