"""What `make test` leaves to `make test-all` is listed with a reason, and nothing else is left out."""

import re

import selection

LINES_MAX = 150
LINE = re.compile(r"(?P<file>tests/\S+\.py)::(?P<function>\w+) (?P<reason>\w+ \S.*)")


def test_what_only_make_test_all_runs_is_listed_with_its_reason() -> None:
    lines = [line for line in selection.ALL_ONLY.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) <= LINES_MAX
    assert lines == sorted(set(lines))
    for line in lines:
        match = LINE.fullmatch(line)
        assert match is not None, f"not an id and a reason: {line}"
        source = (selection.ALL_ONLY.parents[1] / match["file"]).read_text()
        assert re.search(rf"def {match['function']}\(", source), f"no such test: {line}"
