"""Write what the trials found into docs/reliability.md: `make soak` calls it with the file of its run.

Each line of the file is JSON: the figures of a trial (tests/trials/figures.py), or a test that was skipped
and its reason. Lines of one trial on one database are added up.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- figures of `make soak` -->\n", "<!-- /figures -->\n"
COUNTS = ("repetitions", "acknowledged", "lost", "twice", "torn", "gaps", "server_errors")
HEAD = (
    "| Trial | On | Repetitions | Acknowledged | Lost | Twice | Torn | Gaps | 5xx | Recovery, median / max |"
    " Failures below, at 95 % |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)
Line = Mapping[str, Any]


def main() -> int:
    """Write the table of a run into the document; returns the exit status."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("figures", type=Path, metavar="FILE", help="the lines of the trials")
    options.add_argument("--document", type=Path, default=DOCUMENT, help="where the table is written")
    chosen = options.parse_args()
    lines = [json.loads(line) for line in chosen.figures.read_text(encoding="utf-8").splitlines()]
    before = chosen.document.read_text(encoding="utf-8")
    chosen.document.write_text(with_figures(before, lines), encoding="utf-8")
    return 0


def with_figures(document: str, lines: Iterable[Line]) -> str:
    """The document with these figures in the place of earlier ones."""
    before, _, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the document has no lines {BEGIN.strip()} and {END.strip()}")
    return before + BEGIN + figures_text(lines) + END + after


def figures_text(lines: Iterable[Line]) -> str:
    """The table, and below it what was skipped."""
    trials: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
    skipped: dict[str, str] = {}
    for line in lines:
        if "skipped" in line:
            skipped[line["skipped"]] = line["reason"]
        else:
            trials[line["trial"], line["where"]].append(line)
    rows = [_row(trial, where, found) for (trial, where), found in sorted(trials.items(), key=_by_number)]
    text = "\n".join([HEAD, *rows]) + "\n"
    if skipped:
        reasons = "\n".join(f"- {name}: {reason}" for name, reason in sorted(skipped.items()))
        text += f"\nSkipped on the machine of this run:\n\n{reasons}\n"
    return text


def _by_number(item: tuple[tuple[str, str], list[Line]]) -> tuple[int, str, str]:
    trial, where = item[0]
    number = trial.split()[0].removeprefix("T")
    return (int(number) if number.isdigit() else 99), trial, where


def _row(trial: str, where: str, lines: list[Line]) -> str:
    sums = {name: sum(line[name] for line in lines) for name in COUNTS}
    medians = [line["recovery_median"] for line in lines if line["recovery_median"] is not None]
    recovery = ""
    if medians:
        recovery = f"{median(medians):.2f} s / {max(line['recovery_max'] or 0.0 for line in lines):.2f} s"
    wrong = sum(sums[name] for name in COUNTS[2:])
    cells = [
        trial,
        where,
        *(f"{sums[name]:,}" for name in COUNTS),
        recovery,
        _bound(sums["repetitions"], wrong),
    ]
    return "| " + " | ".join(cells) + " |"


def _bound(repetitions: int, wrong: int) -> str:
    """The rule of three: none wrong in N repetitions means fewer than 3 in N, with 95 % confidence."""
    if wrong or repetitions < 10:
        return ""
    return f"{300 / repetitions:.2g} %"


if __name__ == "__main__":
    raise SystemExit(main())
