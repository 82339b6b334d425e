"""Which tests run: all of them, the quick ones of `make quick`, or the long ones of `make soak`.

SILVERBALL_QUICK=1          the quick ones: no browser, no PostgreSQL, nothing of slow_tests.txt
SILVERBALL_SOAK=1           tests marked `soak` too, with their large numbers
SILVERBALL_SOAK_PERCENT=10  a soak with a tenth of its numbers, for a machine that has other work
SILVERBALL_LIST_SLOW=FILE   measure what the quick run could hold, and write the slow ones to FILE
"""

import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

IS_QUICK = os.environ.get("SILVERBALL_QUICK") == "1"
IS_SOAK = os.environ.get("SILVERBALL_SOAK") == "1"
SOAK_PERCENT = int(os.environ.get("SILVERBALL_SOAK_PERCENT", "100"))
SLOW_FILE = os.environ.get("SILVERBALL_LIST_SLOW")
QUICK_EXAMPLES = 5
# A test that takes longer than this, on an idle machine and with few examples, is not a quick one.
QUICK_SECONDS_MAX = 0.05
SLOW_TESTS = Path(__file__).parent / "slow_tests.txt"
# Loading one of these costs more than all its tests; none of them has a quick one.
SLOW_FOLDERS = ("tests/stories", "tests/trials", "tests/kept", "tests/clients")

# Pages and the typed client have no statements of their own; the rooms below them are tested on both.
PAGES_AND_CLIENT = ("tests/web/", "tests/typed_client/")

# For modules whose tests always run, and in a soak with large numbers.
LARGE_IN_SOAK = [pytest.mark.soak] if IS_SOAK else []

_left_out: Counter[str] = Counter()
_seconds: defaultdict[str, float] = defaultdict(float)


def examples(count: int) -> int:
    """The number of examples of a property: `count`, or a handful in a quick run."""
    return min(count, QUICK_EXAMPLES) if IS_QUICK else count


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
        if item.nodeid.startswith(PAGES_AND_CLIENT):
            item.add_marker("soak")
    if "browser" in fixtures:
        item.add_marker("browser")
    is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    if is_property or hasattr(getattr(item, "cls", None), "machine"):
        item.add_marker("property")


def reason_to_leave_out(item: pytest.Item, slow: frozenset[str]) -> str | None:
    """The reason why a test is not part of this run; None for one that is."""
    if item.get_closest_marker("soak") and not IS_SOAK:
        return "for `make soak`"
    if not IS_QUICK:
        return None
    for marker in ("browser", "postgresql"):
        if item.get_closest_marker(marker):
            return marker
    if item.nodeid.startswith(SLOW_FOLDERS) or function_id(item.nodeid) in slow:
        return "slow"
    return None


def listed_slow_tests() -> frozenset[str]:
    """The ids of the tests that are known to be slow."""
    if SLOW_FILE is not None or not SLOW_TESTS.exists():
        return frozenset()
    lines = SLOW_TESTS.read_text().splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests and leave out those that do not belong to this run."""
    slow = listed_slow_tests()
    remaining: list[pytest.Item] = []
    for item in items:
        mark(item)
        reason = reason_to_leave_out(item, slow)
        if reason is None:
            remaining.append(item)
        else:
            _left_out[reason] += 1
    items[:] = remaining
    workeroutput = getattr(config, "workeroutput", None)
    if workeroutput is not None:
        workeroutput["left_out"] = dict(_left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over from a worker how many tests it left out; each worker counts all of them."""
    _left_out.update(Counter(getattr(node, "workeroutput", {}).get("left_out", {})) - _left_out)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how long a test takes, its fixtures included."""
    if SLOW_FILE is not None:
        _seconds[report.nodeid] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were left out, and why."""
    if _left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(_left_out.items()))
        total = sum(_left_out.values())
        terminalreporter.write_line(f"{total} tests left out ({reasons}); `make test` runs them.")
    if SLOW_FILE is not None and not os.environ.get("PYTEST_XDIST_WORKER"):
        write_slow_tests(Path(SLOW_FILE))


def write_slow_tests(path: Path) -> None:
    """Write the ids of tests of which any case took longer than a quick test may."""
    slow = sorted({function_id(name) for name, seconds in _seconds.items() if seconds > QUICK_SECONDS_MAX})
    path.write_text("# Tests over 50 ms, written by `make slow-list`.\n" + "\n".join(slow) + "\n")
