"""The list of mutants that survive names lines of today's program, each with a reason."""

from house.doc_blocks import ROOT
from house.scripts import load_script

mutants = load_script("mutants")


def test_each_listed_survivor_changes_a_line_of_today_and_has_a_reason() -> None:
    for name, reason in mutants.listed_survivors().items():
        path, before, after = name.split("\n")
        assert before.startswith("- "), name
        assert after.startswith("+ "), name
        program = " ".join((ROOT / path).read_text(encoding="utf-8").split())
        assert before.removeprefix("- ") in program, f"{name}\nis no line of the program any more"
        assert reason.strip(), name


def test_a_mutant_is_listed_by_the_lines_that_differ() -> None:
    before = "def is_over(rounds):\n    return (\n        rounds > 3\n    )\n"
    after = before.replace(">", ">=")
    mutant = mutants.changed_file("src/over.py", before, after)
    assert (mutant.line, mutant.name) == (3, "src/over.py\n- rounds > 3\n+ rounds >= 3")


def test_a_change_that_makes_no_other_program_is_no_mutant() -> None:
    assert mutants.changed_file("src/over.py", "over = 3\n", "over  =  3\n") is None
    assert mutants.changed_file("src/over.py", "over = 3\n", "over = = 3\n") is None


def test_the_fastest_tests_of_a_line_run_first_and_few_cases_of_each() -> None:
    cases = [f"tests/a.py::test_over[{number}]" for number in range(9)]
    lines = mutants.TestsByLine(
        {"src/over.py": {2: ["tests/b.py::test_night", *cases], 9: ["tests/b.py::test_other"]}},
        {"tests/b.py::test_night": 9.0, "tests/b.py::test_other": 0.1, **dict.fromkeys(cases, 0.2)},
    )
    # The condition stands on the line after that of its statement.
    mutant = mutants.Mutant("src/over.py", line=3, before="rounds > 3", after="rounds >= 3", code="")
    assert lines.of(mutant) == [*cases[:3], "tests/b.py::test_night"]
