"""silverball mirror: serve a tournament here while it runs on another service."""

import queue
import sys
import time
from datetime import UTC, datetime
from random import SystemRandom

import click

from silverball.cli import database
from silverball.exchange import mirror as exchange_mirror
from silverball.exchange.mirror import Heard, KnownParts, MirrorCopy, MirrorRun
from silverball.exchange.pull import source as sources
from silverball.exchange.pull.source import PullSource, RequestPace, SourceFault
from silverball.kit.errors import Refusal
from silverball.service.moving import reads as moving_reads
from silverball.service.moving import writes as moving_writes
from silverball.store.database.engine import Store
from silverball.store.people import likely_doubles

# Who waits for a mirror waits shorter than a pull does.
TRIES_MAX = 2
STOP = "stop"
REPORT_SECONDS = 15.0


@click.command()
@click.argument("url")
@click.argument("tournament", type=click.IntRange(1, 2**63 - 1))
@click.option(
    "--token", default="", envvar="SILVERBALL_REMOTE_TOKEN", help="API token there; it is stored nowhere."
)
@click.option(
    "--per-minute",
    type=click.IntRange(1, 6_000),
    default=sources.REQUESTS_PER_MINUTE,
    show_default=True,
    help="At most so many requests in a minute.",
)
@click.option(
    "--from",
    "last_read",
    default="",
    help="With `stop`: the service at this URL, which is read once more before, if it answers.",
)
def mirror(url: str, tournament: int, *, token: str, per_minute: int, last_read: str) -> None:
    """Follow TOURNAMENT of the service at URL until stopped; nobody can change it here meanwhile.

    `silverball mirror stop TOURNAMENT` makes a mirror an ordinary tournament, with its id here: the night
    goes on here, and what changes there later is not looked at any more.
    """
    with database.open_database(not_found="There is no such tournament here.") as store:
        try:
            if url == STOP:
                if last_read:
                    _read_once_more(store, last_read, tournament, token)
                _take_over(store, tournament)
            else:
                _follow(store, url, tournament, token, per_minute)
        except (SourceFault, Refusal) as error:
            _say(f"Error: {error.message if isinstance(error, Refusal) else error}")
            sys.exit(1)
        except KeyboardInterrupt:
            _say("Stopped. It stays a mirror; give the command again to go on.")


def _read_once_more(store: Store, url: str, tournament_id: int, token: str) -> None:
    """Bring the mirror up to date, queues last; when nobody answers there, say so and leave it as it is."""
    with store.read() as db:
        followed = moving_reads.find_mirror(db, tournament_id)
    if followed is None:
        return
    try:
        name, ask = sources.asker(url, token)
        if name != followed.host:
            raise SourceFault(f"It is run at {followed.host}, not at {name}.")
        known = KnownParts(PullSource(name, ask, RequestPace(), tries_max=1), followed.remote_id)
        known.read_everything()
        MirrorCopy(store, name, tournament_id).apply(known.raw, datetime.now(UTC))
    except (SourceFault, Refusal) as error:
        _say(f"It could not be read once more. {error.message if isinstance(error, Refusal) else error}")


def _take_over(store: Store, tournament_id: int) -> None:
    with store.write(tournament_id) as transaction:
        moving_writes.stop_mirror(transaction, tournament_id)
    click.echo(f"Tournament {tournament_id} is run here from now on.")


def _follow(store: Store, url: str, remote_id: int, token: str, per_minute: int) -> None:
    """Follow until the tournament is completed there or is no mirror any more."""
    name, ask = sources.asker(url, token)
    source = PullSource(name, ask, RequestPace(per_minute), tries_max=TRIES_MAX)
    known = KnownParts(source, remote_id)
    known.read_everything()
    copy = exchange_mirror.begin(store, name, known.raw, datetime.now(UTC), SystemRandom())
    heard: queue.Queue[Heard] = queue.Queue()
    run = MirrorRun(copy, known, heard, lambda: datetime.now(UTC), time.monotonic, _say)
    source.pace.sleep = lambda seconds: run.pause(seconds, time.sleep)
    base = url.strip().rstrip("/").removesuffix("/api")
    is_over = False
    exchange_mirror.listening_thread(base, remote_id, heard, lambda: is_over)
    click.echo(f"Tournament {remote_id} of {name} is tournament {copy.tournament_id} here.")
    with store.read() as db:
        doubles = likely_doubles.doubles_by_number(db, [copy.tournament_id])
    for double in doubles:
        _say(likely_doubles.double_text(double))
    reported_at = time.monotonic()
    run.begin()
    try:
        while _is_mirror(store, copy.tournament_id):
            run.step()
            if known.raw["tournament"].get("status") == "completed" and not run.is_lost:
                click.echo(f"It is completed. {_lag_text(run)}")
                return
            if time.monotonic() - reported_at >= REPORT_SECONDS:
                reported_at = time.monotonic()
                _note_lag(store, run)
        click.echo("It is run here from now on.")
    finally:
        is_over = True
        _note_lag(store, run)
        if known.raw["tournament"].get("status") != "completed":
            run.leave()


def _is_mirror(store: Store, tournament_id: int) -> bool:
    with store.read() as db:
        return moving_reads.find_mirror(db, tournament_id) is not None


def _note_lag(store: Store, run: MirrorRun) -> None:
    if run.lags:
        with store.write(quiet=True) as transaction:
            moving_writes.note_lag(transaction, run.copy.tournament_id, *run.lag())


def _lag_text(run: MirrorRun) -> str:
    median, p99 = run.lag()
    return f"Events came through in {median} ms (median), {p99} ms (p99)."


def _say(sentence: str) -> None:
    click.echo("".join(letter if letter.isprintable() else "?" for letter in sentence), err=True)
