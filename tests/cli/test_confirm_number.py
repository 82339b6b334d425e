"""`silverball user confirm-number` and `withdraw-number`."""

import pytest
from click.testing import CliRunner, Result

import build
from silverball.cli.main import silverball_group
from silverball.store.database.engine import Store
from silverball.store.people import rating_days


def run(database_url: str, words: str) -> Result:
    environment = {"SILVERBALL_DATABASE_URL": database_url}
    return CliRunner(env=environment).invoke(silverball_group, ["user", *words.split()])


def confirmed(store: Store) -> dict[int, int]:
    with store.read() as db:
        return rating_days.all_confirmed(db).user_by_number


@pytest.mark.both_databases
def test_a_number_is_confirmed_for_one_account_until_it_is_withdrawn(store: Store, database_url: str) -> None:
    vic, mel = build.a_user(store, name="Vic Tor"), build.a_user(store, name="Mel Ody")
    done = run(database_url, f"confirm-number {vic} 38773")
    assert (done.exit_code, confirmed(store)) == (0, {38773: vic})
    assert f"Number 38773 is confirmed for user {vic}." in done.stdout
    for words, sentence in (
        (f"confirm-number {mel} 38773", f"Number 38773 is confirmed for user {vic} already."),
        (f"confirm-number {vic} 44444", "Number 38773 is confirmed for this account already."),
        ("confirm-number 999 44444", "There is no user 999."),
        (f"withdraw-number {mel}", f"User {mel} has no confirmed number."),
    ):
        refused = run(database_url, words)
        assert (refused.exit_code, refused.stdout) == (1, ""), words
        assert sentence in refused.stderr
    assert confirmed(store) == {38773: vic}
    assert run(database_url, f"withdraw-number {vic}").exit_code == 0
    assert confirmed(store) == {}


@pytest.mark.both_databases
def test_numbers_are_confirmed_together_and_taken_back(store: Store, database_url: str) -> None:
    organizer = build.a_user(store, name="Olga Ramp", role="organizer")
    vic = build.a_user(store, name="Vic Tor", ifpa_id=38773)
    mel = build.a_user(store, name="Mel Ody")
    build.a_player(store, organizer, name="Mel O.", ifpa_id=44444, claimed_by=mel)
    build.a_federation_record(store, 38773, "Víc Tor")
    listed = run(database_url, "confirm-numbers --dry-run")
    assert (listed.exit_code, confirmed(store)) == (0, {})
    vic_line, mel_line = (line.split() for line in listed.stdout.splitlines()[1:])
    file_words = "the profile; the federation file: Víc Tor nothing"
    assert " ".join(vic_line) == f"{vic} Vic Tor 38773 {file_words}"
    assert " ".join(mel_line) == f"{mel} Mel Ody 44444 a player of Olga Ramp: Mel O. not-in-file"
    done = run(database_url, "confirm-numbers")
    assert (done.exit_code, confirmed(store)) == (0, {38773: vic})
    assert done.stdout.endswith("1 number is confirmed, 1 waits.\n")
    batch_id = done.stdout.split(":")[0].removeprefix("Batch ")
    assert run(database_url, "confirm-numbers").stdout == "0 numbers are confirmed, 1 waits.\n"
    gone = run(database_url, f"withdraw-numbers {batch_id}")
    assert gone.stdout == f"Batch {batch_id} is taken back: 1 number is withdrawn.\n"
    assert confirmed(store) == {}
    refused = run(database_url, f"withdraw-numbers {batch_id}")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"No number is confirmed in batch {batch_id}." in refused.stderr


def test_a_number_that_is_none_is_refused(store: Store, database_url: str) -> None:
    vic = build.a_user(store, name="Vic Tor")
    for number in ("0", "-7", "many", str(2**63)):
        assert run(database_url, f"confirm-number {vic} {number}").exit_code == 2
    assert confirmed(store) == {}
