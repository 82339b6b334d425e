"""silverball pull: bring the history of an organizer along from another service."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from random import SystemRandom
from typing import Any

import click

from silverball.cli import database
from silverball.exchange.pull import source as sources
from silverball.exchange.pull.reading import Wanted
from silverball.exchange.pull.source import PullSource, RequestPace, SourceFault
from silverball.exchange.pull.taking import Pull, PullOptions, TournamentReport
from silverball.store.time_limits import LONG_COMMANDS

ID = click.IntRange(1, 2**63 - 1)
PAIR = re.compile(r"([1-9][0-9]{0,17})=([1-9][0-9]{0,17})", re.ASCII)
# A tournament takes about this many requests, for the estimate of the time.
REQUESTS_OF_TOURNAMENT = 4.5
OUTCOMES = {
    "new": "taken",
    "replaced": "taken again, because it had changed",
    "unchanged": "here already",
    "refused": "not taken",
}
NOT_TAKEN = (
    "Not read: players, arenas and places that none of these tournaments has. Short links and printed codes"
    " go on leading to the source."
)


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
    with database.open_database(not_found="There is no such account here.", limits=LONG_COMMANDS) as store:
        try:
            name, ask = sources.asker(url, token)
            source = PullSource(name, ask, RequestPace(per_minute))
            run = Pull(store, source, options, lambda: datetime.now(UTC), SystemRandom())
            listed = run.tournaments()
            for report in run.reports(listed):
                reports.append(report)
                _print_progress(report, len(reports), len(listed), per_minute)
            is_whole = True
        except SourceFault as error:
            click.echo(_printable(f"Error: {error}"), err=True)
        except KeyboardInterrupt:
            click.echo("Stopped. Give the command again to go on.", err=True)
    _print_report(reports, url, is_whole=is_whole, is_dry_run=dry_run, as_json=as_json)
    if not is_whole or any(report.outcome == "refused" or report.differences for report in reports):
        sys.exit(1)


def _print_progress(report: TournamentReport, number: int, count: int, per_minute: int) -> None:
    minutes = (count - number) * REQUESTS_OF_TOURNAMENT / per_minute
    rest = f", about {minutes:.0f} min left" if minutes >= 1 else ""
    line = f"[{number}/{count}] {report.name or report.remote_id}: {OUTCOMES[report.outcome]}{rest}"
    click.echo(_printable(line), err=True)


def _print_report(
    reports: Sequence[TournamentReport], url: str, *, is_whole: bool, is_dry_run: bool, as_json: bool
) -> None:
    if as_json:
        shown = {"source": url, "isWhole": is_whole, "isDryRun": is_dry_run}
        rows = [_camel_names(asdict(report)) for report in reports]
        click.echo(json.dumps({**shown, "tournaments": rows}, ensure_ascii=False, indent=2))
        return
    for remark in (remark for report in reports for remark in _remarks(report)):
        click.echo(_printable(remark))
    for part in sorted({part for report in reports for part in report.not_published}):
        click.echo(f"Not published there: {part}.")
    sample = sum(report.is_sample for report in reports)
    if sample:
        click.echo(f"Read again as a sample, although unchanged by updatedAt: {sample}.")
    counts = {text: sum(OUTCOMES[report.outcome] == text for report in reports) for text in OUTCOMES.values()}
    listed = ", ".join(f"{count} {text}" for text, count in counts.items() if count) or "nothing to take"
    click.echo(f"{listed}.{' Nothing was stored: this was a dry run.' if is_dry_run else ''}")
    if reports:
        click.echo(NOT_TAKEN)


def _remarks(report: TournamentReport) -> Iterator[str]:
    where = f"Tournament {report.remote_id} {report.name!r}"
    if report.reason is not None:
        yield f"{where} was not taken: {report.reason}"
    if report.is_sample and report.outcome == "replaced":
        yield f"{where} had changed without a new updatedAt: read everything again with --full."
    if report.tournament_id not in (None, report.remote_id):
        yield f"{where} is tournament {report.tournament_id} here."
    for difference in report.differences:
        yield f"{where}: {difference}"
    if report.unknown_fields:
        yield f"{where} has fields that are not known here: {', '.join(report.unknown_fields)}."


def _printable(text: str) -> str:
    """The text without what could command a terminal: some of it is the source's."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _camel_names(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name.split("_")[0] + "".join(word.capitalize() for word in name.split("_")[1:]): value
        for name, value in values.items()
    }
