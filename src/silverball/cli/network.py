"""silverball network: networks whose requests are refused."""

from datetime import UTC, datetime

import click

from silverball.cli import database
from silverball.store.people import audit


@click.group()
def network() -> None:
    """Block networks, such as 203.0.113.0/24, and list those that are blocked."""


@network.command()
@click.argument("cidr")
def block(cidr: str) -> None:
    """Refuse all requests and sockets from CIDR, on every node within seconds."""
    with database.open_database() as store, store.write(quiet=True) as transaction:
        blocked = audit.block(transaction.connection, cidr, now=datetime.now(UTC))
    click.echo(f"{blocked} is blocked.", err=True)


@network.command()
@click.argument("cidr")
def unblock(cidr: str) -> None:
    """Answer requests from CIDR again."""
    with database.open_database() as store, store.write(quiet=True) as transaction:
        unblocked = audit.unblock(transaction.connection, cidr, now=datetime.now(UTC))
    click.echo(f"{unblocked} is not blocked.", err=True)


@network.command("list")
@database.json_option
def list_(*, as_json: bool) -> None:
    """List the blocked networks, one a line."""
    with database.open_database() as store, store.read() as db:
        listed = audit.blocked_networks(db)
    if as_json:
        database.print_json(listed)
        return
    for blocked in listed:
        click.echo(blocked)
