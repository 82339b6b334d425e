"""silverball user: accounts and their passwords."""

import contextlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from secrets import SystemRandom

import click
from msgspec import Struct

from silverball.cli import database
from silverball.kit.errors import Conflict
from silverball.kit.security import passwords
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.writes import accounts, sessions
from silverball.service.core import access
from silverball.service.numbers import reads as numbers
from silverball.service.numbers import writes as number_writes
from silverball.service.numbers.writes import BATCH_MAX, Actor, ConfirmedBatch
from silverball.service.submissions import writes as submissions_writes
from silverball.service.tournaments import writes as tournaments_writes
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads, writes
from silverball.store.database.deadlines import LONG_COMMANDS
from silverball.store.database.engine import Store
from silverball.store.database.transaction import Transaction
from silverball.store.people import audit, rating_days
from silverball_wire.ratings import AccountNumber, NumberEvidence

USER_ID = click.IntRange(1, 2**63 - 1)


@click.group()
def user() -> None:
    """Create accounts and set their passwords."""


@user.command()
@click.option("--name", required=True, help="The public name.")
@click.option("--email", required=True, help="The address to sign in with.")
@click.option("--role", type=click.Choice(access.ROLES), default="player", show_default=True)
@click.option("--json", "as_json", is_flag=True, help='Print {"userId": ...} and nothing else.')
def create(name: str, email: str, role: str, *, as_json: bool) -> None:
    """Create an account. It can sign in once it has a password."""
    with database.open_database() as store, store.write() as transaction:
        user_id = writes.create_user(
            transaction.connection, name=name, email=email, role=role, now=datetime.now(UTC)
        )
    if as_json:
        click.echo(json.dumps({"userId": user_id}))
        return
    click.echo(f"Created user {user_id}. Set a password with: silverball user password {user_id}")


@user.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the accounts as JSON for programs.")
def list_users(*, as_json: bool) -> None:
    """List the accounts: id, role, name, address, and whether each can sign in."""
    with database.open_database() as store, store.read() as db:
        listed = accounts_reads.listed_accounts(db)
    if as_json:
        database.print_json(listed)
        return
    header = ("Id", "Role", "Name", "E-mail", "Signs in")
    lines = [
        (str(found.user_id), found.role, found.name, found.email or "", "yes" if found.signs_in else "no")
        for found in listed
    ]
    database.print_table([header, *lines])


@user.command("first-code")
@click.option("--json", "as_json", is_flag=True, help='Print {"code": ...} and nothing else.')
def first_code(*, as_json: bool) -> None:
    """Print the code that the first account of a new site is made with at /account/first."""
    with database.open_database() as store, store.write(quiet=True) as transaction:
        code = writes.find_or_make_first_code(transaction.connection, SystemRandom())
    click.echo(json.dumps({"code": code}) if as_json else code)


@user.command()
@click.argument("user_id", metavar="ID", type=USER_ID)
def password(user_id: int) -> None:
    """Set the password of user ID, from a prompt or a line of standard input."""
    given = _read_password()
    with database.open_database(not_found=f"There is no user {user_id}.") as store:
        with store.read() as db:
            owner_words = reads.name_and_email(db, user_id)
        fault = passwords.fault(given, owner_words)
        if fault is not None:
            raise click.ClickException(fault)
        stored = passwords.hash_password(given)
        with store.write() as transaction:
            db = transaction.connection
            writes.set_password(db, user_id, stored)
            audit.record(db, "password-set", at=datetime.now(UTC), user_id=user_id, source=audit.COMMAND_LINE)
    click.echo(f"The password of user {user_id} is set.", err=True)


FORCE = click.option(
    "--force", "is_forced", is_flag=True, help="Even the only administrator who can sign in."
)


@user.command()
@click.argument("user_id", metavar="ID", type=USER_ID)
@FORCE
def suspend(user_id: int, *, is_forced: bool) -> None:
    """Suspend user ID: tokens, sign-ins, devices and webhooks are refused at once."""
    with _open_accounts(user_id) as transaction:
        accounts.suspend(transaction, user_id, now=datetime.now(UTC), is_forced=is_forced)
    click.echo(f"User {user_id} is suspended.", err=True)


@user.command()
@click.argument("user_id", metavar="ID", type=USER_ID)
def unsuspend(user_id: int) -> None:
    """End the suspension of user ID."""
    with _open_accounts(user_id) as transaction:
        accounts.unsuspend(transaction, user_id, now=datetime.now(UTC))
    click.echo(f"User {user_id} is not suspended.", err=True)


@user.command("totp-off")
@click.argument("email")
def totp_off(email: str) -> None:
    """Turn two-step sign-in off for the account with EMAIL: its person lost the phone and all codes."""
    with database.open_database() as store, store.write(quiet=True) as transaction:
        db = transaction.connection
        user_id = accounts_reads.account_with_email(db, email)
        if user_id is None:
            raise click.ClickException("There is no account with this e-mail.")
        now, source = datetime.now(UTC), audit.COMMAND_LINE
        was_on = sessions.turn_off(db, user_id, now=now, source=source)
    state = "off" if was_on else "off already"
    click.echo(f"Two-step sign-in of user {user_id} is {state}.", err=True)


@user.command("undo-spam")
@click.argument("user_id", metavar="ID", type=USER_ID)
@click.option("--yes", is_flag=True, help="Do not ask.")
@FORCE
def undo_spam(user_id: int, *, yes: bool, is_forced: bool) -> None:
    """Suspend user ID, and delete all that they made. Make a backup first.

    Tournaments with results and feed, players, machines, series, clubs, webhooks and pending claims are
    deleted, rating submissions rejected. What other accounts' tournaments use stays.
    """

    with database.open_database(not_found=f"There is no user {user_id}.", limits=LONG_COMMANDS) as store:
        if not yes:
            click.confirm(f"Delete all tournaments and the book of user {user_id}?", abort=True, err=True)
        cleaned = clean_account(store, user_id, datetime.now(UTC), is_forced=is_forced)
    click.echo(f"Deleted {cleaned.tournaments} tournaments and {cleaned.rows} rows of the book.")
    if cleaned.tournaments_kept or cleaned.rows_kept:
        ids = ", ".join(map(str, cleaned.tournaments_kept)) or "none"
        click.echo(f"Others use the rest: tournaments {ids}, and {cleaned.rows_kept} rows of the book.")


@contextmanager
def _open_accounts(user_id: int) -> Iterator[Transaction]:
    """A transaction about this account; without one the command ends with a sentence."""
    with (
        database.open_database(not_found=f"There is no user {user_id}.") as store,
        store.write() as transaction,
    ):
        yield transaction


@user.command("confirm-number")
@click.argument("user_id", metavar="ID", type=USER_ID)
@click.argument("number", type=USER_ID)
def confirm_number(user_id: int, number: int) -> None:
    """Confirm that federation number NUMBER is user ID's: only then its rating is theirs."""
    with _open_accounts(user_id) as transaction:
        number_writes.confirm_number(
            transaction, user_id, number, now=datetime.now(UTC), source=audit.COMMAND_LINE
        )
    click.echo(f"Number {number} is confirmed for user {user_id}. The next rating run joins their ratings.")


@user.command("confirm-numbers")
@click.option("--dry-run", is_flag=True, help="Only list what waits, with what speaks for it.")
def confirm_numbers(*, dry_run: bool) -> None:
    """Confirm every number that nothing stands in the way of, in batches that can be taken back.

    A number is taken with one account, an account with one number, where nobody else claims either and the
    account has the name of the federation's file.
    """
    confirmed = 0
    with database.open_database() as store:
        if dry_run:
            with store.read() as db:
                lines = [_number_line(number) for number in numbers.waiting_numbers(db)]
            database.print_table([NUMBERS_HEADER, *lines])
            return
        for done in confirm_every_ready_number(store, datetime.now(UTC)):
            confirmed += len(done.confirmed)
            click.echo(
                f"Batch {done.batch_id}: {_count_numbers(len(done.confirmed))} confirmed."
                f" To take them back: silverball user withdraw-numbers {done.batch_id}"
            )
        with store.read() as db:
            left = sum(1 for _ in numbers.waiting_numbers(db))
    click.echo(f"{_count_numbers(confirmed)} confirmed, {left} {'waits' if left == 1 else 'wait'}.")


def confirm_every_ready_number(store: Store, now: datetime) -> Iterator[ConfirmedBatch]:
    """Confirm all numbers that nothing stands in the way of, in transactions of one batch each."""
    with store.read() as db:
        ready = [
            (number.user_id, number.ifpa_id) for number in numbers.waiting_numbers(db) if not number.obstacles
        ]
    for start in range(0, len(ready), BATCH_MAX):
        with store.write() as transaction:
            batch = ready[start : start + BATCH_MAX]
            done = number_writes.confirm_ready_numbers(transaction, batch, Actor(now, audit.COMMAND_LINE))
        if done.batch_id is not None:
            yield done


NUMBERS_HEADER = ("Id", "Name", "Number", "What speaks for it", "What is in its way")


def _number_line(number: AccountNumber) -> tuple[str, ...]:
    sources = [_evidence_words(evidence) for evidence in number.evidence]
    obstacles = ", ".join(number.obstacles) or "nothing"
    return str(number.user_id), number.name, str(number.ifpa_id), "; ".join(sources), obstacles


def _count_numbers(count: int) -> str:
    return f"{count} number is" if count == 1 else f"{count} numbers are"


def _evidence_words(evidence: NumberEvidence) -> str:
    if evidence.kind == "profile":
        return "the profile"
    if evidence.kind == "federation":
        return f"the federation file: {evidence.name}"
    came_from = "" if evidence.imported_from is None else f", imported from {evidence.imported_from}"
    return f"a player of {evidence.source}: {evidence.name}{came_from}"


@user.command("withdraw-numbers")
@click.argument("batch_id", metavar="BATCH", type=USER_ID)
def withdraw_numbers(batch_id: int) -> None:
    """Take back what `confirm-numbers`, or the page, confirmed in batch BATCH."""
    with (
        database.open_database(not_found=f"No number is confirmed in batch {batch_id}.") as store,
        store.write() as transaction,
    ):
        actor = Actor(datetime.now(UTC), audit.COMMAND_LINE)
        withdrawn = number_writes.withdraw_batch(transaction, batch_id, actor)
    click.echo(f"Batch {batch_id} is taken back: {_count_numbers(len(withdrawn))} withdrawn.")


@user.command("withdraw-number")
@click.argument("user_id", metavar="ID", type=USER_ID)
def withdraw_number(user_id: int) -> None:
    """Withdraw the confirmed federation number of user ID; the next rating run parts the two ratings."""
    with (
        database.open_database(not_found=f"User {user_id} has no confirmed number.") as store,
        store.write() as transaction,
    ):
        number = number_writes.withdraw_number(
            transaction, user_id, now=datetime.now(UTC), source=audit.COMMAND_LINE
        )
    click.echo(f"Number {number} is no longer user {user_id}'s.")


def _read_password() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("Password", hide_input=True, confirmation_prompt="The same again"))
    return sys.stdin.readline().rstrip("\r\n")


# Delete what an account made, in transactions of one tournament each: a server may run meanwhile.


REJECTED = "The account that sent it was suspended."


class CleanedAccount(Struct, frozen=True):
    """The counts of what was deleted, and of what stays because others use it."""

    tournaments: int
    rows: int
    tournaments_kept: tuple[int, ...]
    rows_kept: int


def clean_account(store: Store, user_id: int, now: datetime, *, is_forced: bool = False) -> CleanedAccount:
    """Suspend the account, and delete what it made. Raises NotFound.

    A command that was cut off can be given again. Tournaments that others link to stay.
    """
    with store.write() as transaction:
        accounts.suspend(transaction, user_id, now=now, is_forced=is_forced)
    with store.read() as db:
        made, sent = accounts.made_tournaments(db, user_id), accounts.sent_submissions(db, user_id)
    kept = [tournament_id for tournament_id in made if not _remove(store, tournament_id, user_id)]
    for submission_id in sent:
        with contextlib.suppress(Conflict), store.write() as transaction:
            submissions_writes.reject_submission(transaction.connection, submission_id, REJECTED, now)
    with store.write() as transaction:
        db = transaction.connection
        rows = accounts.delete_book(transaction, user_id)
        count = len(made) - len(kept)
        accounts.record_cleaning(db, user_id, now=now, tournaments=count, rows=rows)
        rows_kept = accounts.count_book(db, user_id)
    return CleanedAccount(count, rows, tuple(kept), rows_kept)


def _remove(store: Store, tournament_id: int, user_id: int) -> bool:
    with store.write(tournament_id) as transaction:
        db = transaction.connection
        accounts.remove_links(db, tournament_id, user_id)
        if tournaments.linking_tournaments(db, tournament_id):
            return False
        # The results of that day are rated again without it.
        rating_days.mark_tournament(db, tournament_id)
        tournaments_writes.remove_tournament(transaction, tournament_id)
    return True
