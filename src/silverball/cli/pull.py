"""silverball pull: bring the history of an organizer along from another service."""

import json
import re
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from random import SystemRandom
from typing import Any

import click

from silverball.cli import database
from silverball.exchange.pull import source as sources
from silverball.exchange.pull import taking
from silverball.exchange.pull.reading import Wanted
from silverball.exchange.pull.source import PullSource, RequestPace, SourceFault
from silverball.exchange.pull.taking import Pull, PullOptions, TournamentReport
from silverball.service.moving import reads as moving_reads
from silverball.service.moving.reads import SharedName
from silverball.settings import Settings
from silverball.store.counts import source_turns
from silverball.store.database.deadlines import LONG_COMMANDS
from silverball.store.database.engine import Store
from silverball.store.people import likely_doubles
from silverball.store.people.likely_doubles import LikelyDouble
from silverball.store.tournament import imports

# Players of one name whom a pull has brought: on a terminal it is asked once whether they are one person.


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
                    answer = {imports.NAMESAKE: {remote_id: first_id}}
                    imports.remember_ids(transaction.connection, source, answer)


def _merge(store: Store, organizer_id: int, removed_id: int, remaining_id: int) -> None:
    """Merge as the organizer of the book does; what cannot be merged stays, with the reason."""
    from silverball import app
    from silverball.demo.robots import InProcessClient, RequestRefused
    from silverball.service.core.access import AuthenticatedCaller

    caller = AuthenticatedCaller(user_id=organizer_id, role="organizer", ability="manage")
    client = InProcessClient(app.build_api(store, Settings()), caller)
    try:
        client.send("POST", f"/api/players/{removed_id}/merge", {"playerId": remaining_id})
    except RequestRefused as refused:
        click.echo(f"They stay two: {refused.message}", err=True)


ID = click.IntRange(1, 2**63 - 1)
PAIR = re.compile(r"([1-9][0-9]{0,17})=([1-9][0-9]{0,17})", re.ASCII)


class AccountPair(click.ParamType[tuple[int, int]]):
    """An account of the source and one here: `REMOTE=LOCAL`."""

    name = "remote=local"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[int, int]:
        """The two ids."""
        match = PAIR.fullmatch(str(value))
        if match is None:
            self.fail(f"{value!r} is not of the form REMOTE=LOCAL, two ids.", parameter, context)
        return int(match[1]), int(match[2])


@click.command()
@click.argument("url")
@click.option("--token", default="", help="API token of the source; `read` is enough.")
@click.option("--owner", "owners", type=ID, multiple=True, help="All tournaments of this user there.")
@click.option("--series", type=ID, multiple=True, help="All nights of this series there, whoever owns them.")
@click.option("--tournament", "tournaments", type=ID, multiple=True, help="This tournament there.")
@click.option(
    "--since", type=click.DateTime(["%Y-%m-%d"]), help="Only tournaments that start on this day or later."
)
@click.option(
    "--me", "accounts", type=AccountPair(), multiple=True, help="An account there, and its account here."
)
@click.option("--full", is_flag=True, help="Read everything again, also what has not changed.")
@click.option(
    "--per-minute", type=click.IntRange(1, 6_000), default=sources.REQUESTS_PER_MINUTE, show_default=True
)
@click.option("--dry-run", is_flag=True, help="Read and check everything, and store nothing.")
@click.option("--json", "as_json", is_flag=True, help="Write the report as JSON.")
def pull(  # noqa: PLR0913  # an argument for each option
    url: str,
    *,
    token: str,
    owners: Sequence[int],
    series: Sequence[int],
    tournaments: Sequence[int],
    since: datetime | None,
    accounts: Sequence[tuple[int, int]],
    full: bool,
    per_minute: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Bring tournaments along from the service at URL: another Silverball, or one with the same interface.

    Without --owner, --series and --tournament: everything of the account of the token. Each tournament is
    stored completely or not at all, and verified. Stop it at any time, and give the command again to go on.
    The exit code is 1 when a tournament was not taken, or our count of it differs.
    """
    first_day = None if since is None else since.date().isoformat()
    options = PullOptions(
        Wanted(owners, series, tournaments, first_day), dict(accounts), is_full=full, is_dry_run=dry_run
    )
    is_whole = False
    reports: list[TournamentReport] = []
    shared: Sequence[SharedName] = ()
    with database.open_database(not_found="There is no such account here.", limits=LONG_COMMANDS) as store:
        try:
            name, ask = sources.asker(url, token)
            turns = source_turns.shared_turns(store, name, token, time.time())
            before = turns.requests()
            source = PullSource(name, ask, RequestPace(per_minute, turns=turns))
            run = Pull(store, source, options, lambda: datetime.now(UTC), SystemRandom())
            listed = run.tournaments()
            for report in run.reports(listed):
                reports.append(report)
                foreign = turns.requests() - before - source.pace.requests
                _print_progress(report, len(reports), len(listed), per_minute, foreign)
            is_whole = True
            shared = _shared_names(store, run.map_name)
            if shared and is_terminal() and not (as_json or dry_run):
                ask_who_is_who(store, run.map_name, shared)
                shared = _shared_names(store, run.map_name)
        except SourceFault as error:
            click.echo(_printable(f"Error: {error}"), err=True)
        except KeyboardInterrupt:
            click.echo("Stopped. Give the command again to go on.", err=True)
        pulled = [report.tournament_id for report in reports if report.tournament_id is not None]
        with store.read() as db:
            doubles = likely_doubles.doubles_by_number(db, pulled)
    _print_report(reports, shared, doubles, url, is_whole=is_whole, is_dry_run=dry_run, as_json=as_json)
    if not is_whole or any(report.outcome == "refused" or report.differences for report in reports):
        sys.exit(1)


def _shared_names(store: Store, map_name: str) -> Sequence[SharedName]:
    with store.read() as db:
        return moving_reads.shared_names(db, map_name)


def _print_progress(
    report: TournamentReport, number: int, count: int, per_minute: int, foreign_requests: int
) -> None:
    minutes = (count - number) * taking.REQUESTS_OF_TOURNAMENT / per_minute
    rest = f", about {minutes:.0f} min left" if minutes >= 1 else ""
    if foreign_requests > 0:
        rest += f", {foreign_requests} requests of others on this token"
    line = f"[{number}/{count}] {report.name or report.remote_id}: {taking.OUTCOMES[report.outcome]}{rest}"
    click.echo(_printable(line), err=True)


def _print_report(
    reports: Sequence[TournamentReport],
    shared: Sequence[SharedName],
    doubles: Sequence[LikelyDouble],
    url: str,
    *,
    is_whole: bool,
    is_dry_run: bool,
    as_json: bool,
) -> None:
    if as_json:
        shown: dict[str, Any] = {"source": url, "isWhole": is_whole, "isDryRun": is_dry_run}
        if shared:
            shown["sharedNames"] = [{"name": same.name, "playerIds": same.player_ids} for same in shared]
        if doubles:
            shown["sharedNumbers"] = [{"playerIds": double.player_ids} for double in doubles]
        rows = [taking.report_json(report) for report in reports]
        click.echo(json.dumps({**shown, "tournaments": rows}, ensure_ascii=False, indent=2))
        return
    for remark in (remark for report in reports for remark in taking.remarks(report)):
        click.echo(_printable(remark))
    for same in shared:
        click.echo(_printable(taking.shared_name(same)))
    for double in doubles:
        click.echo(_printable(likely_doubles.double_text(double)))
    for sentence in taking.summary(reports, is_dry_run=is_dry_run):
        click.echo(sentence)


def _printable(text: str) -> str:
    """The text without what could command a terminal: some of it is the source's."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
