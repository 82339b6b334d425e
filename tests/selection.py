"""The tests of a run: those of `make test`, of `make test-all`, of `make quick` or of `make soak`.

SILVERBALL_TEST_ALL=1       all: both databases, every case, many examples (`make test-all`)
SILVERBALL_TEST_SEED=7      the seed that draws the cases of `make test`; each run prints its own
SILVERBALL_QUICK=1          the quick ones: no browser, no PostgreSQL, nothing of slow_tests.txt
SILVERBALL_SOAK=1           tests marked `soak` too, with their large numbers
SILVERBALL_SOAK_PERCENT=10  a soak with a tenth of its numbers, for a machine that has other work
SILVERBALL_LIST_SLOW=FILE   measure what the quick run could hold, and write the slow ones to FILE
SILVERBALL_LIST_TIMES=FILE  write the seconds of each file of tests to FILE

`make test` leaves out the PostgreSQL twin of a test that is not marked `both_databases`, all but `count`
cases of a test marked `sample(count)`, and what all_only.txt lists. It has a case of each other function.
"""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

IS_QUICK = os.environ.get("SILVERBALL_QUICK") == "1"
IS_SOAK = os.environ.get("SILVERBALL_SOAK") == "1"
IS_ALL = IS_SOAK or os.environ.get("SILVERBALL_TEST_ALL") == "1"
SOAK_PERCENT = int(os.environ.get("SILVERBALL_SOAK_PERCENT", "100"))
# Written back, as all processes of a run must draw the same cases.
SEED = os.environ.setdefault("SILVERBALL_TEST_SEED", str(time.time_ns() % 1_000_000))
SLOW_FILE = os.environ.get("SILVERBALL_LIST_SLOW")
SECONDS_FILE = os.environ.get("SILVERBALL_LIST_TIMES")
QUICK_EXAMPLES = 5
# `make test` takes this share of the examples of `make test-all`.
EXAMPLES_SHARE = 3
# A test that takes longer than this, on an idle machine and with few examples, is not a quick one.
QUICK_SECONDS_MAX = 0.05
SLOW_TESTS = Path(__file__).parent / "slow_tests.txt"
ALL_ONLY = Path(__file__).parent / "all_only.txt"
FILE_SECONDS = Path(__file__).parent / "file_seconds.txt"
# Loading one of these costs more than all its tests; none of them has a quick one.
SLOW_FOLDERS = ("tests/stories", "tests/trials", "tests/kept", "tests/clients")

# For modules whose tests always run, and in a soak with large numbers.
LARGE_IN_SOAK = [pytest.mark.soak] if IS_SOAK else []

_left_out: Counter[str] = Counter()
_seconds: defaultdict[str, float] = defaultdict(float)


def examples(count: int) -> int:
    """The number of examples of a property: all in `make test-all`, a share in `make test`, or a handful."""
    if IS_QUICK:
        return min(count, QUICK_EXAMPLES)
    return count if IS_ALL else max(min(count, QUICK_EXAMPLES), count // EXAMPLES_SHARE)


def repetitions(in_suite: int, *, in_soak: int) -> int:
    """How often a trial is repeated: in the suite, or in a soak, which may be asked for a share of it."""
    return max(in_suite, in_soak * SOAK_PERCENT // 100) if IS_SOAK else in_suite


def function_id(node_id: str) -> str:
    """The id of a test without its parameters."""
    return node_id.split("[", 1)[0]


def mark(item: pytest.Item) -> None:
    """Add the markers that follow from what the test asks for."""
    parameters: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    fixtures = getattr(item, "fixturenames", ())
    if parameters.get("database_url") == "postgresql" or "postgresql" in fixtures:
        item.add_marker("postgresql")
    if "browser" in fixtures:
        item.add_marker("browser")
    is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    if is_property or hasattr(getattr(item, "cls", None), "machine"):
        item.add_marker("property")


def reason_to_leave_out(item: pytest.Item, slow: frozenset[str], all_only: frozenset[str]) -> str | None:
    """The reason why a test is not part of this run; None for one that is."""
    if item.get_closest_marker("soak") and not IS_SOAK:
        return "for `make soak`"
    if not IS_ALL and function_id(item.nodeid) in all_only:
        return "in all_only.txt"
    if not IS_QUICK:
        return None
    for marker in ("browser", "postgresql"):
        if item.get_closest_marker(marker):
            return marker
    if item.nodeid.startswith(SLOW_FOLDERS) or function_id(item.nodeid) in slow:
        return "slow"
    return None


def listed(file: Path) -> frozenset[str]:
    """The ids of tests that a file lists, one a line, with or without a reason behind it."""
    if not file.exists():
        return frozenset()
    lines = file.read_text().splitlines()
    return frozenset(line.split()[0] for line in lines if line and not line.startswith("#"))


def repeated_cases(items: Iterable[pytest.Item]) -> dict[str, str]:
    """The reasons to leave cases to `make test-all`, by id; each function keeps a case."""
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[function_id(item.nodeid)].append(item)
    reasons: dict[str, str] = {}
    for function, group in cases.items():
        remaining = group
        if not group[0].get_closest_marker("both_databases"):
            remaining = [item for item in group if not is_twin(item)] or group
            reasons.update((item.nodeid, "PostgreSQL twins") for item in group if item not in remaining)
        sample = group[0].get_closest_marker("sample")
        if sample is not None and len(remaining) > sample.args[0]:
            drawn = Random(f"{SEED} {function}").sample(remaining, sample.args[0])
            reasons.update((item.nodeid, "other cases") for item in remaining if item not in drawn)
    return reasons


def is_twin(item: pytest.Item) -> bool:
    """Whether this is the PostgreSQL case of a test that runs on each database."""
    return getattr(getattr(item, "callspec", None), "params", {}).get("database_url") == "postgresql"


def sort_longest_first(items: list[pytest.Item]) -> None:
    """Order tests by the recorded seconds of their file, so that no process ends with a long one."""
    if not FILE_SECONDS.exists():
        return
    lines = [line.split() for line in FILE_SECONDS.read_text().splitlines() if not line.startswith("#")]
    seconds = {path: float(number) for number, path in lines}
    items.sort(key=lambda item: -seconds.get(item.nodeid.split("::", 1)[0], 0.0))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests, leave out those that do not belong to this run, and order the others."""
    slow = frozenset[str]() if SLOW_FILE else listed(SLOW_TESTS)
    all_only = listed(ALL_ONLY)
    remaining: list[pytest.Item] = []
    for item in items:
        mark(item)
        reason = reason_to_leave_out(item, slow, all_only)
        if reason is None:
            remaining.append(item)
        else:
            _left_out[reason] += 1
    # A test that is named with its case runs.
    named = any("[" in argument for argument in config.args)
    repeated = {} if IS_ALL or IS_QUICK or named else repeated_cases(remaining)
    _left_out.update(repeated.values())
    items[:] = [item for item in remaining if item.nodeid not in repeated]
    sort_longest_first(items)
    workeroutput = getattr(config, "workeroutput", None)
    if workeroutput is not None:
        workeroutput["left_out"] = dict(_left_out)


def pytest_report_header() -> str:
    """The seed of this run."""
    return f"SILVERBALL_TEST_SEED={SEED} draws the cases of this run"


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over from a worker how many tests it left out; each worker counts all of them."""
    _left_out.update(Counter(getattr(node, "workeroutput", {}).get("left_out", {})) - _left_out)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how long a test takes, its fixtures included."""
    _seconds[report.nodeid] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds by folder, the seed, and how many tests were left out and why."""
    if os.environ.get("PYTEST_XDIST_WORKER"):
        return
    for folder, seconds in sorted(seconds_by(length=2).items(), key=lambda pair: -pair[1]):
        terminalreporter.write_line(f"{seconds:8.1f} s  {folder}")
    if _left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(_left_out.items()))
        total = sum(_left_out.values())
        terminalreporter.write_line(f"{total} tests left out ({reasons}); `make test-all` runs them.")
        terminalreporter.write_line(f"SILVERBALL_TEST_SEED={SEED} draws the same cases again.")
    if SLOW_FILE is not None:
        write_slow_tests(Path(SLOW_FILE))
    if SECONDS_FILE is not None:
        write_file_seconds(Path(SECONDS_FILE))


def seconds_by(length: int) -> dict[str, float]:
    """The seconds of the tests below each path of this many parts."""
    totals: defaultdict[str, float] = defaultdict(float)
    for name, seconds in _seconds.items():
        totals["/".join(name.split("::", 1)[0].split("/")[:length])] += seconds
    return dict(totals)


def write_slow_tests(path: Path) -> None:
    """Write the ids of tests of which any case took longer than a quick test may."""
    slow = sorted({function_id(name) for name, seconds in _seconds.items() if seconds > QUICK_SECONDS_MAX})
    path.write_text("# Tests over 50 ms, written by `make slow-list`.\n" + "\n".join(slow) + "\n")


def write_file_seconds(path: Path) -> None:
    """Write the seconds of each file of tests that takes longer than one."""
    ordered = sorted(seconds_by(length=99).items(), key=lambda pair: (-pair[1], pair[0]))
    lines = [f"{seconds:.0f} {file}\n" for file, seconds in ordered if seconds >= 1]
    path.write_text(
        "# Seconds of files of tests, written by `make slow-list`; longest first.\n" + "".join(lines)
    )
