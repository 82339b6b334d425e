"""Change one expression of the program, see whether a test fails, and repeat: how much the tests see.

    python scripts/mutants.py                              300 mutants, as `make soak` draws them
    python scripts/mutants.py --count 50 --seed 7 tests/rules    fewer, against these tests alone

mutmut makes the mutants of the files that `[tool.mutmut]` in pyproject.toml names. Its own `mutmut run`
draws no sample, and runs every test in one process that each mutant is forked from, which tests with
threads and servers do not survive. So the mutants are run here: in copies of the tree, each by pytest in a
process of its own, and only with tests that run the changed line. Databases are SQLite.

Survivors that are known and why no test is needed for them are listed in tests/mutants.txt. They count as
survivors.
"""

import argparse
import ast
import difflib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from coverage import Coverage
from mutmut.configuration import config
from mutmut.mutation.file_mutation import create_mutations, deep_replace

ROOT = Path(__file__).parents[1]
LISTED = ROOT / "tests" / "mutants.txt"
COUNT = 300
KILLED_PERCENT_MIN = 90
# Tests of one mutant: the fastest first, so that most mutants end after a few seconds.
FIRST_TESTS = 30
TESTS_MAX = 400
TEST_SECONDS_MAX = 60.0
CASES_PER_TEST_MAX = 3
# A mutant that loops takes longer than its tests ever do.
START_SECONDS_MAX = 120
SLOWDOWN_MAX = 10
# A line inside an expression of several lines is recorded at the line on which the expression begins.
LINES_BACK_MAX = 10
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build", "dist", "handbook_site")
# Handed to the pytest processes that note which test runs which line.
LINES_FILE = "SILVERBALL_MUTANTS_LINES"
SECONDS_FILE = "test_seconds.json"


@dataclass(frozen=True)
class Mutant:
    """A file of the program with one changed expression."""

    path: str
    line: int
    before: str
    after: str
    code: str

    @property
    def name(self) -> str:
        """The lines as tests/mutants.txt lists them; the number of the line is not part of it."""
        return f"{self.path}\n- {self.before}\n+ {self.after}"


@dataclass(frozen=True)
class Verdict:
    """How a mutant ended: by a test, by the clock, or not at all."""

    mutant: Mutant
    is_killed: bool
    reason: str


@dataclass(frozen=True)
class TestsByLine:
    """The tests that run each line of each file, and their seconds."""

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that run the changed line, the fastest first."""
        by_line = self.tests.get(mutant.path, {})
        lines = range(mutant.line, max(0, mutant.line - LINES_BACK_MAX), -1)
        found = next((by_line[line] for line in lines if by_line.get(line)), [])
        chosen: list[str] = []
        cases: Counter[str] = Counter()
        seconds = 0.0
        for test in sorted(found, key=lambda test: (self.seconds[test], test)):
            seconds += self.seconds[test]
            if chosen and (seconds > TEST_SECONDS_MAX or len(chosen) == TESTS_MAX):
                break
            function = test.split("[", 1)[0]
            cases[function] += 1
            if cases[function] <= CASES_PER_TEST_MAX:
                chosen.append(test)
        return chosen


def main() -> int:
    """Draw mutants, run their tests and print the survivors; return the exit status."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--count", type=int, default=COUNT, help="how many mutants are drawn")
    options.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="draws the same again")
    options.add_argument("--processes", type=int, default=2, help="how many mutants run at a time")
    options.add_argument("tests", nargs="*", help="files and folders of tests; those of pyproject.toml")
    given = options.parse_args()
    os.chdir(ROOT)
    tests = given.tests or config().pytest_add_cli_args_test_selection
    print(f"--seed {given.seed} draws these {given.count} mutants again", flush=True)
    mutants = drawn_mutants(given.count, Random(given.seed))
    with tempfile.TemporaryDirectory(prefix="silverball-mutants-") as folder:
        copies = [_copied_tree(Path(folder) / str(number)) for number in range(given.processes)]
        lines = noted_lines(copies[0], tests, given.processes)
        verdicts = list(_verdicts(mutants, lines, copies))
    return _print_summary(verdicts, given.seed)


def drawn_mutants(count: int, dice: Random) -> list[Mutant]:
    """So many different mutants, each with the same chance."""
    made = []
    for file in _mutated_files():
        module, mutations, _, _ = create_mutations(file, (ROOT / file).read_text(encoding="utf-8"))
        made += [(file, module, change) for change in mutations if change.contained_by_top_level_function]
    dice.shuffle(made)
    mutants: dict[str, Mutant] = {}
    for file, module, change in made:
        changed = deep_replace(module, change.original_node, change.mutated_node)
        mutant = changed_file(file, module.code, getattr(changed, "code", ""))
        if mutant is not None:
            mutants.setdefault(mutant.name, mutant)
        if len(mutants) == count:
            break
    print(f"{len(made)} mutants in {len(_mutated_files())} files", flush=True)
    return list(mutants.values())


def changed_file(path: str, before: str, after: str) -> Mutant | None:
    """The mutant that this change makes; None if the program is no other or none at all."""
    try:
        if ast.dump(ast.parse(before)) == ast.dump(ast.parse(after)):
            return None
    except SyntaxError:
        return None
    old, new = before.splitlines(), after.splitlines()
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    _, start, end, new_start, new_end = next(step for step in steps if step[0] != "equal")
    shown = [" ".join(line.strip() for line in lines) for lines in (old[start:end], new[new_start:new_end])]
    return Mutant(path, line=start + 1, before=shown[0], after=shown[1], code=after)


def listed_survivors() -> dict[str, str]:
    """The reasons of known survivors, by the name of the mutant."""
    blocks = LISTED.read_text(encoding="utf-8").split("\n\n")
    pairs = [block.strip().split("\n# ", 1) for block in blocks if block.startswith("src/")]
    return dict(pairs)


def noted_lines(copy: Path, tests: Sequence[str], processes: int) -> TestsByLine:
    """Run the tests once, and note which of them runs which line. Tests that fail here are left out."""
    data_file = copy / "noted" / "lines"
    data_file.parent.mkdir()
    arguments = ["-q", "-n", str(processes), "--dist", "loadfile", "-p", "mutants", *tests]
    print(f"noting which test runs which line: {' '.join(tests)}", flush=True)
    code, output = _run_tests(copy, arguments, None, {LINES_FILE: str(data_file)})
    print(output.splitlines()[-1] if output else f"pytest ended with {code}", flush=True)
    noted = Coverage(data_file=str(data_file))
    noted.combine([str(data_file.parent)])
    data = noted.get_data()
    seconds = json.loads((copy / SECONDS_FILE).read_text(encoding="utf-8"))
    by_file: dict[str, dict[int, list[str]]] = {}
    for file in _mutated_files():
        contexts = data.contexts_by_lineno(str(copy / file))
        by_file[file] = {
            line: [test for test in tests if test in seconds] for line, tests in contexts.items()
        }
    return TestsByLine(by_file, seconds)


def _verdicts(mutants: Sequence[Mutant], lines: TestsByLine, copies: Sequence[Path]) -> Iterator[Verdict]:
    """Run the mutants, one at a time in each copy."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def run_in_a_copy(mutant: Mutant) -> Verdict:
        copy = free.get()
        try:
            return run_mutant(copy, mutant, lines)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for verdict in pool.map(run_in_a_copy, mutants):
            mutant = verdict.mutant
            print(f"{'killed  ' if verdict.is_killed else 'SURVIVED'} {mutant.path}:{mutant.line}", end="")
            print(f"  {verdict.reason}", flush=True)
            yield verdict


def run_mutant(copy: Path, mutant: Mutant, lines: TestsByLine) -> Verdict:
    """Run the tests of a mutant until one fails."""
    tests = lines.of(mutant)
    if not tests:
        return Verdict(mutant, is_killed=False, reason="no test runs it")
    target = copy / mutant.path
    original = target.read_text(encoding="utf-8")
    _write_program(target, mutant.code)
    try:
        for part in (tests[:FIRST_TESTS], tests[FIRST_TESTS:]):
            if not part:
                continue
            seconds_max = START_SECONDS_MAX + SLOWDOWN_MAX * sum(lines.seconds[test] for test in part)
            code, output = _run_tests(copy, ["-x", "-q", *part], seconds_max, {})
            if code is None:
                return Verdict(mutant, is_killed=True, reason="does not end")
            is_missing = code == pytest.ExitCode.USAGE_ERROR and "not found:" in output
            if is_missing or code == pytest.ExitCode.NO_TESTS_COLLECTED:
                raise RuntimeError(f"{mutant.name}\nhas a test that cannot be found:\n{output}")
            if code != pytest.ExitCode.OK:
                failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
                return Verdict(mutant, is_killed=True, reason=failed[1] if failed else f"pytest: {code}")
    finally:
        _write_program(target, original)
    return Verdict(mutant, is_killed=False, reason=f"{len(tests)} tests pass")


def _run_tests(
    copy: Path, arguments: Sequence[str], seconds_max: float | None, environment: dict[str, str]
) -> tuple[int | None, str]:
    """The exit code of pytest and what it printed; no code if it was ended after so many seconds."""
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy / "scripts")]),
        "SILVERBALL_TEST_POSTGRESQL": "0",
        # The same cases for the lines and for the mutants.
        "SILVERBALL_TEST_SEED": "1",
        **environment,
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:schemathesis", "-p", "no:cacheprovider", *arguments]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(
            command, cwd=copy, env=variables, stdout=output, stderr=output, start_new_session=True
        )
        try:
            code = process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None, ""
        output.seek(0)
        return code, output.read().strip()


def _copied_tree(target: Path) -> Path:
    shutil.copytree(ROOT, target, ignore=NOT_COPIED)
    return target


def _write_program(path: Path, code: str) -> None:
    """Write a file so that what was compiled of the text before is not taken for it."""
    seconds = path.stat().st_mtime + 2
    path.write_text(code, encoding="utf-8")
    os.utime(path, (seconds, seconds))


def _mutated_files() -> list[str]:
    files = (file for source in config().source_paths for file in (ROOT / source).rglob("*.py"))
    paths = sorted(file.relative_to(ROOT).as_posix() for file in files)
    return [path for path in paths if config().should_mutate(path)]


def _print_summary(verdicts: Sequence[Verdict], seed: int) -> int:
    """Print the survivors and the share of the killed; return the exit status."""
    listed = listed_survivors()
    survivors = [verdict.mutant for verdict in verdicts if not verdict.is_killed]
    for mutant in survivors:
        print(f"\n{mutant.name}\n# {listed.get(mutant.name, 'not listed')}")
    killed = len(verdicts) - len(survivors)
    percent = 100 * killed / max(1, len(verdicts))
    known = sum(mutant.name in listed for mutant in survivors)
    print(f"\n{killed} of {len(verdicts)} mutants killed: {percent:.0f} % (at least {KILLED_PERCENT_MIN} %).")
    print(f"{len(survivors)} survived, {known} of them listed. --seed {seed} draws them again.")
    return 0 if percent >= KILLED_PERCENT_MIN else 1


class LineNotes:
    """A plugin of pytest: the lines that each test runs, and the seconds of those that pass."""

    def __init__(self, data_file: str) -> None:
        files = [str(Path.cwd() / file) for file in _mutated_files()]
        self._coverage = Coverage(data_file=data_file, data_suffix=True, config_file=False, include=files)
        # A process may get no test at all.
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._failed: set[str] = set()
        self._coverage.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """What runs from now on is run by this test."""
        self._coverage.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the seconds; one process gets the reports of all."""
        self._seconds[report.nodeid] += report.duration
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the lines of this process, and in the process that started the others the seconds."""
        self._coverage.stop()
        self._coverage.save()
        if not os.environ.get("PYTEST_XDIST_WORKER"):
            passed = {test: time for test, time in self._seconds.items() if test not in self._failed}
            Path(SECONDS_FILE).write_text(json.dumps(passed), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Take part in a run of pytest that was started to note the lines."""
    if data_file := os.environ.get(LINES_FILE):
        config.pluginmanager.register(LineNotes(data_file))


if __name__ == "__main__":
    sys.exit(main())
