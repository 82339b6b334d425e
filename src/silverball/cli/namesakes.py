"""Players of one name whom a pull has brought: on a terminal it is asked once whether they are one person."""

import sys
from collections.abc import Sequence

import click

from silverball.service.bundles.reads.people import SharedName
from silverball.settings import Settings
from silverball.store import remote_ids
from silverball.store.engine import Store


def is_terminal() -> bool:
    """Whether somebody can be asked, and answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_who_is_who(store: Store, source: str, shared: Sequence[SharedName]) -> None:
    """Ask of each name; merge who is one person, and remember who is not, so that nobody is asked twice."""
    if shared:
        click.echo("Some players of one book have the same name.", err=True)
    for same in shared:
        (first_id, *others), (_, *remotes) = same.player_ids, same.remote_ids
        for player_id, remote_id in zip(others, remotes, strict=True):
            name = "".join(letter if letter.isprintable() else "?" for letter in same.name)
            question = f"{name!r}: are players {first_id} and {player_id} one person?"
            if click.confirm(question, default=False, err=True):
                _merge(store, same.organizer_id, player_id, first_id)
            else:
                with store.write() as transaction:
                    answer = {remote_ids.NAMESAKE: {remote_id: first_id}}
                    remote_ids.remember_ids(transaction.connection, source, answer)


def _merge(store: Store, organizer_id: int, removed_id: int, remaining_id: int) -> None:
    """Merge as the organizer of the book does; what cannot be merged stays, with the reason."""
    from silverball import app
    from silverball.demo.robots import InProcessClient, RequestRefused
    from silverball.service.access import AuthenticatedCaller

    caller = AuthenticatedCaller(user_id=organizer_id, role="organizer", ability="manage")
    client = InProcessClient(app.build_api(store, Settings()), caller)
    try:
        client.send("POST", f"/api/players/{removed_id}/merge", {"playerId": remaining_id})
    except RequestRefused as refused:
        click.echo(f"They stay two: {refused.message}", err=True)
