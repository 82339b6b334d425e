"""`silverball submissions` on real databases."""

import json

import pytest
from click.testing import CliRunner, Result

import build
from service.submissions.sent_documents import URL, a_document, get_submission, submit_document
from silverball.cli.main import silverball_group
from silverball.store.database.engine import Store


@pytest.fixture
def run(database_url: str) -> CliRunner:
    return CliRunner(env={"SILVERBALL_DATABASE_URL": database_url})


def run_command(run: CliRunner, *words: str) -> Result:
    return run.invoke(silverball_group, ["submissions", *words])


@pytest.fixture
def user_id(store: Store) -> int:
    return build.a_user(store, name="Olga Ramp", role="organizer")


def test_submissions_are_listed_newest_first_and_by_state(run: CliRunner, store: Store, user_id: int) -> None:
    submit_document(store, user_id, a_document())
    submit_document(store, user_id, b"no document", f"{URL}?2")
    lines = run_command(run, "list").stdout.splitlines()
    assert lines[0].split() == ["ID", "STATUS", "DAY", "PLAYERS", "GAMES", "SUBMITTER", "HOST", "NAME"]
    assert lines[1].split()[:5] == ["2", "invalid", "-", "-", "-"]
    assert lines[1].split()[5:] == ["Olga", "Ramp", "results.example.org", f"{URL}?2"]
    assert lines[2].split("  ")[-1].strip() == "Thursday at the Drain"
    newest, oldest = json.loads(run_command(run, "list", "--json").stdout)
    assert (newest["ratingSubmissionId"], newest["status"]) == (2, "invalid")
    assert oldest["name"] == "Thursday at the Drain"
    assert [
        line.split()[0] for line in run_command(run, "list", "--status", "ready").stdout.splitlines()
    ] == [
        "ID",
        "1",
    ]


def test_a_moderator_approves(run: CliRunner, store: Store, user_id: int) -> None:
    submit_document(store, user_id, a_document())
    done = run_command(run, "approve", "1")
    assert (done.exit_code, done.stderr) == (0, "Rating submission 1 is approved.\n")
    assert get_submission(store, 1)["status"] == "approved"
    again = run_command(run, "approve", "1")
    assert again.exit_code == 1
    assert again.stderr == "Error: Rating submission 1 is approved and cannot become approved.\n"


def test_a_moderator_rejects_with_a_reason(run: CliRunner, store: Store, user_id: int) -> None:
    submit_document(store, user_id, a_document())
    done = run_command(run, "reject", "1", "--reason", " Nobody was there. ")
    assert (done.exit_code, done.stderr) == (0, "Rating submission 1 is rejected.\n")
    data = get_submission(store, 1)
    assert (data["status"], data["moderatorNote"]) == ("rejected", "Nobody was there.")
    assert run_command(run, "approve", "1").exit_code == 1


@pytest.mark.parametrize(
    "words",
    [
        ["reject", "1"],
        ["reject", "1", "--reason", " "],
        ["reject", "1", "--reason", "x" * 501],
        ["approve"],
        ["approve", "0"],
        ["list", "--status", "lost"],
    ],
)
def test_wrong_usage_exits_with_2(run: CliRunner, words: list[str]) -> None:
    done = run_command(run, *words)
    assert (done.exit_code, done.stdout) == (2, "")


@pytest.mark.parametrize("words", [["approve", "7"], ["reject", "7", "--reason", "No."]])
def test_an_unknown_submission_is_reported(run: CliRunner, words: list[str]) -> None:
    done = run_command(run, *words)
    assert (done.exit_code, done.stderr) == (1, "Error: There is no rating submission 7.\n")
