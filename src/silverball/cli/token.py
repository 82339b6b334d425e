"""silverball token: API tokens of any user, for the operator of the site."""

from datetime import UTC, datetime
from secrets import SystemRandom

import click
import msgspec

from silverball.cli import database
from silverball.service.core import access
from silverball.service.users import reads as users_reads
from silverball.service.users import writes as users_writes
from silverball.service.users.reads import Token

ID = click.IntRange(1, 2**63 - 1)
HEADINGS = ("ID", "USER", "ABILITY", "CREATED", "LAST USED", "EXPIRES", "NAME")


@click.group()
def token() -> None:
    """Create, list and revoke API tokens."""


@token.command()
@click.option("--user", "user_id", type=ID, required=True, metavar="ID", help="The token's owner.")
@click.option("--name", required=True, help="The token's purpose.")
@click.option(
    "--ability",
    "abilities",
    type=click.Choice(access.ABILITIES),
    multiple=True,
    default=("read",),
    show_default=True,
    help="The token's ability; each includes those before it.",
)
@click.option("--expires", "days", type=click.IntRange(1, users_writes.EXPIRES_DAYS_MAX), metavar="DAYS")
def create(user_id: int, name: str, abilities: tuple[str, ...], days: int | None) -> None:
    """Create a token and print it. It is shown only once."""
    with (
        database.open_database(not_found=f"There is no user {user_id}.") as store,
        store.write(quiet=True) as transaction,
    ):
        issued = users_writes.create_token(
            transaction.connection,
            user_id,
            name,
            abilities=abilities,
            expires_days=days,
            now=datetime.now(UTC),
            dice=SystemRandom(),
        )
    click.echo(issued.text)


@token.command("list")
@click.option("--user", "user_id", type=ID, metavar="ID", help="Only the tokens of this user.")
@database.json_option
def list_(user_id: int | None, *, as_json: bool) -> None:
    """List tokens, newest first, without their secrets."""
    with database.open_database() as store, store.read() as db:
        tokens = users_reads.newest_tokens(db) if user_id is None else users_reads.owned_by(db, user_id)
    if as_json:
        database.print_json([_token_json(item) for item in tokens])
    else:
        database.print_table([HEADINGS, *map(_token_row, tokens)])
    if len(tokens) == users_reads.TOKENS_LISTED_MAX:
        click.echo(
            f"Only the newest {users_reads.TOKENS_LISTED_MAX} are shown; use --user to see others.", err=True
        )


@token.command()
@click.argument("token_id", metavar="ID", type=ID)
def revoke(token_id: int) -> None:
    """Revoke token ID, at once and for good."""
    with (
        database.open_database(not_found=f"There is no token {token_id}.") as store,
        store.write(quiet=True) as transaction,
    ):
        users_writes.revoke_token(transaction, token_id, now=datetime.now(UTC))
    click.echo(f"Token {token_id} is revoked.", err=True)


def _token_row(item: Token) -> tuple[str, ...]:
    moments = (_moment_text(item.created_at), _moment_text(item.last_used_at), _moment_text(item.expires_at))
    return (str(item.token_id), str(item.user_id), item.ability, *moments, item.name)


def _token_json(item: Token) -> dict[str, object]:
    """The token in its published shape, with its owner."""
    return {"userId": item.user_id, **msgspec.to_builtins(users_reads.api_token(item))}


def _moment_text(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%dT%H:%M:%SZ}"
