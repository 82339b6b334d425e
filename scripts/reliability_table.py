"""Write what the trials found into docs/reliability.md: `make soak` calls it with the file of its run.

Each line of the file is JSON: the figures of a trial (tests/trials/figures.py), a test that was skipped and
its reason, or how often something was tried that must not work. Lines of one trial on one database are added
up. With --attempts, what was tried is written into docs/security.md instead: `make attempts` calls it.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
DOCUMENT, DOCUMENT_OF_ATTEMPTS = ROOT / "docs" / "reliability.md", ROOT / "docs" / "security.md"
BEGIN, END = "<!-- figures of `make soak` -->\n", "<!-- /figures -->\n"
BEGIN_OF_ATTEMPTS = "<!-- figures of `make attempts` -->\n"
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
    options.add_argument("--document", type=Path, help="where the table is written")
    options.add_argument("--attempts", action="store_true", help="write what was tried")
    chosen = options.parse_args()
    document: Path = chosen.document or (DOCUMENT_OF_ATTEMPTS if chosen.attempts else DOCUMENT)
    lines = [json.loads(line) for line in chosen.figures.read_text(encoding="utf-8").splitlines()]
    before = document.read_text(encoding="utf-8")
    if chosen.attempts:
        after = _with_table(before, BEGIN_OF_ATTEMPTS, attempts_text(lines))
    else:
        after = with_figures(before, lines)
    document.write_text(after, encoding="utf-8")
    return 0


def with_figures(document: str, lines: Iterable[Line]) -> str:
    """The document with these figures in the place of earlier ones."""
    return _with_table(document, BEGIN, figures_text(lines))


def _with_table(document: str, begin: str, text: str) -> str:
    before, _, rest = document.partition(begin)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"the document has no lines {begin.strip()} and {END.strip()}")
    return before + begin + text + END + after


def attempts_text(lines: Iterable[Line]) -> str:
    """The table of what was tried and did not work, by name."""
    tried: Counter[str] = Counter()
    for line in lines:
        if "attempt" in line:
            tried[line["attempt"]] += line["tried"]
    rows = [f"| {attempt} | {count:,} |" for attempt, count in sorted(tried.items())]
    return "\n".join(["| What was tried | How often |", "|---|---|", *rows]) + "\n"


def figures_text(lines: Iterable[Line]) -> str:
    """The table, and below it what was skipped."""
    trials: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
    skipped: dict[str, str] = {}
    for line in lines:
        if "skipped" in line:
            skipped[line["skipped"]] = line["reason"]
        elif "trial" in line:
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
