"""`silverball user` and `silverball token` on real databases."""

import json
import os
import pty
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result

from silverball.cli.main import silverball_group
from silverball.kit.security import passwords
from silverball.service.accounts import reads as accounts_reads
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.users import reads as users_reads
from silverball.store.database.engine import Store
from silverball.store.database.migrate import migrate

PASSWORD = "correct horse"
TOKEN = re.compile(r"[0-9]+\|slv_[A-Za-z0-9]{48}\n")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """The database of a new site, after `silverball migrate`."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("sqlite_url"))
    empty: str = request.getfixturevalue("postgresql").empty_database()
    opened = Store(empty)
    migrate(opened)
    opened.close()
    return empty


@pytest.fixture
def run(url: str) -> CliRunner:
    """A runner of commands on that database."""
    return CliRunner(env={"SILVERBALL_DATABASE_URL": url})


def run_command(run: CliRunner, *words: str, given: str | None = None) -> Result:
    return run.invoke(silverball_group, list(words), input=given)


def a_user(run: CliRunner, role: str = "player", email: str = "ada@silverball.test") -> str:
    words = ("user", "create", "--name", "Ada Quill", "--email", email, "--role", role, "--json")
    return str(json.loads(run_command(run, *words).stdout)["userId"])


def find(url: str, token: str, now: datetime | None = None) -> AuthenticatedCaller | None:
    store = Store(url)
    with store.read() as db:
        found = users_reads.find_caller(db, b"Bearer " + token.strip().encode(), now or datetime.now(UTC))
    store.close()
    return found


def test_creating_a_user_prints_the_next_step(run: CliRunner) -> None:
    done = run_command(run, "user", "create", "--name", "Ada", "--email", "ada@silverball.test")
    assert done.exit_code == 0, done.output
    assert done.stdout == "Created user 1. Set a password with: silverball user password 1\n"


def test_json_prints_the_user_id_and_nothing_else(run: CliRunner) -> None:
    done = run_command(
        run, "user", "create", "--name", "Ada", "--email", "a@b.test", "--role", "admin", "--json"
    )
    assert json.loads(done.stdout) == {"userId": 1}
    assert done.stderr == ""


def test_accounts_are_listed_with_who_can_sign_in(run: CliRunner) -> None:
    user_id = a_user(run, role="organizer")
    a_user(run, email="bo@silverball.test")
    run_command(run, "user", "password", user_id, given=f"{PASSWORD}\n")
    listed = json.loads(run_command(run, "user", "list", "--json").stdout)
    assert [(account["userId"], account["role"], account["signsIn"]) for account in listed] == [
        (1, "organizer", True),
        (2, "player", False),
    ]
    assert PASSWORD not in run_command(run, "user", "list").stdout
    assert "bo@silverball.test" in run_command(run, "user", "list").stdout


def test_a_command_that_is_none_is_answered_with_the_one_that_was_meant(run: CliRunner) -> None:
    done = run_command(run, "server")
    assert (done.exit_code, "Did you mean serve?" in done.stderr) == (2, True)


def test_a_refused_user_prints_a_sentence_on_stderr_and_exits_with_1(run: CliRunner) -> None:
    a_user(run)
    done = run_command(run, "user", "create", "--name", "Bo", "--email", "ADA@silverball.test")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "Error: The email has already been taken.\n"


@pytest.mark.parametrize(
    "words",
    [
        ["user", "create"],
        ["user", "create", "--name", "Ada", "--email", "a@b.test", "--role", "owner"],
        ["user", "password", "0"],
        ["user", "password", "99999999999999999999"],
        ["token", "create", "--name", "x"],
        ["token", "create", "--user", "1", "--name", "x", "--ability", "god"],
        ["token", "create", "--user", "1", "--name", "x", "--expires", "0"],
        ["token", "revoke", "one"],
    ],
)
def test_wrong_usage_exits_with_2(run: CliRunner, words: list[str]) -> None:
    done = run_command(run, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Usage:" in done.stderr


def test_the_last_administrator_who_can_sign_in_is_suspended_only_by_force(run: CliRunner) -> None:
    user_id = a_user(run, role="admin")
    run_command(run, "user", "password", user_id, given=PASSWORD + "\n")
    for command in (("suspend", user_id), ("undo-spam", user_id, "--yes")):
        done = run_command(run, "user", *command)
        assert (done.exit_code, "the only administrator who can sign in" in done.stderr) == (1, True)
    assert run_command(run, "user", "suspend", user_id, "--force").exit_code == 0


def test_a_password_is_read_from_standard_input(run: CliRunner, url: str) -> None:
    user_id = a_user(run)
    done = run_command(run, "user", "password", user_id, given=PASSWORD + "\n")
    assert done.exit_code == 0, done.output
    assert PASSWORD not in done.output
    store = Store(url)
    with store.read() as db:
        login = accounts_reads.find_credentials(db, "ada@silverball.test")
    store.close()
    assert login is not None
    assert passwords.is_correct(PASSWORD, login.password_hash)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("short\n", "The password field must be at least 10 characters."),
        ("", "The password field must be at least 10 characters."),
        ("x" * 201, "The password field must not be greater than 200 characters."),
    ],
)
def test_a_password_of_the_wrong_length_is_refused(run: CliRunner, given: str, sentence: str) -> None:
    done = run_command(run, "user", "password", a_user(run), given=given)
    assert (done.exit_code, done.stderr) == (1, f"Error: {sentence}\n")


@pytest.mark.both_databases
def test_a_password_for_an_unknown_user_is_refused(run: CliRunner) -> None:
    done = run_command(run, "user", "password", "7", given=PASSWORD)
    assert (done.exit_code, done.stderr) == (1, "Error: There is no user 7.\n")


def test_a_token_is_printed_alone_and_works(run: CliRunner, url: str) -> None:
    user_id = a_user(run, "organizer")
    words = ("token", "create", "--user", user_id, "--name", "Board", "--ability", "read", "--ability")
    done = run_command(run, *words, "score")
    assert done.exit_code == 0, done.output
    assert TOKEN.fullmatch(done.stdout)
    assert done.stderr == ""
    found = find(url, done.stdout)
    assert found is not None
    assert (str(found.user_id), found.ability) == (user_id, "score")


def test_a_token_reads_by_default_and_can_expire(run: CliRunner, url: str) -> None:
    done = run_command(run, "token", "create", "--user", a_user(run), "--name", "Board", "--expires", "2")
    found = find(url, done.stdout)
    assert found is not None
    assert found.ability == "read"
    assert find(url, done.stdout, datetime.now(UTC) + timedelta(days=3)) is None


def test_a_token_beyond_its_user_s_role_is_refused(run: CliRunner) -> None:
    done = run_command(run, "token", "create", "--user", a_user(run), "--name", "x", "--ability", "manage")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "Error: A token of a player can have: read, score.\n"
    done = run_command(run, "token", "create", "--user", "9", "--name", "x")
    assert done.stderr == "Error: There is no user 9.\n"


@pytest.mark.both_databases
def test_tokens_are_listed_without_their_secrets(run: CliRunner) -> None:
    first = a_user(run)
    second = a_user(run, email="bo@silverball.test")
    made = [
        run_command(run, "token", "create", "--user", user, "--name", "Board").stdout
        for user in (first, second)
    ]
    everybody = run_command(run, "token", "list").stdout.splitlines()
    assert [line.split()[:3] for line in everybody] == [
        ["ID", "USER", "ABILITY"],
        ["2", second, "read"],
        ["1", first, "read"],
    ]
    own = run_command(run, "token", "list", "--user", first).stdout.splitlines()
    assert [line.split()[1] for line in own] == ["USER", first]
    assert all(token.strip().partition("slv_")[2] not in "".join(everybody) for token in made)


@pytest.mark.both_databases
def test_a_revoked_token_stops_working_and_cannot_be_revoked_again(run: CliRunner, url: str) -> None:
    token = run_command(run, "token", "create", "--user", a_user(run), "--name", "Board").stdout
    assert run_command(run, "token", "revoke", "1").exit_code == 0
    assert find(url, token) is None
    again = run_command(run, "token", "revoke", "1")
    assert (again.exit_code, again.stderr) == (1, "Error: There is no token 1.\n")


def test_a_postgresql_database_is_never_migrated_implicitly(request: pytest.FixtureRequest) -> None:
    empty = request.getfixturevalue("postgresql").empty_database()
    done = run_command(CliRunner(env={"SILVERBALL_DATABASE_URL": empty}), "token", "list")
    assert done.exit_code == 1
    assert "silverball migrate" in done.stderr


@pytest.mark.parametrize(
    "address",
    ["sqlite:////nowhere/at/all.db", "mysql://nowhere", "", "postgresql+psycopg:///x?host=/nowhere"],
)
def test_an_unusable_database_is_reported_in_one_line(address: str) -> None:
    done = run_command(CliRunner(env={"SILVERBALL_DATABASE_URL": address}), "token", "list")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1


def test_at_a_terminal_the_password_is_asked_for_twice_and_never_shown(sqlite_url: str) -> None:
    environment = {**os.environ, "SILVERBALL_DATABASE_URL": sqlite_url}
    a_user(CliRunner(env=environment))
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "silverball.cli.main", "user", "password", "1"]
    with subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment, start_new_session=True
    ) as running:
        os.close(terminal)
        seen = _seen_until(controller, b": ")
        os.write(controller, PASSWORD.encode() + b"\n")
        seen += _seen_until(controller, b": ")
        os.write(controller, PASSWORD.encode() + b"\n")
        seen += _seen_until(controller, b"is set.")
        assert running.wait(60) == 0
    os.close(controller)
    assert PASSWORD.encode() not in seen
    assert seen.count(b": ") == 2


def _seen_until(controller: int, end: bytes) -> bytes:
    seen = b""
    while end not in seen:
        seen += os.read(controller, 1024)
    return seen


def test_the_installed_command_knows_both_groups() -> None:
    command = [sys.executable, "-m", "silverball.cli.main", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^ +token ", shown, re.MULTILINE)
    assert re.search(r"^ +user ", shown, re.MULTILINE)
