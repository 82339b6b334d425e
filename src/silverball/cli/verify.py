"""silverball verify: compare stored data with the journal and with a recount."""

import itertools
import json
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime

import click
import msgspec

from silverball.cli import database
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.journal.reads import series_check, verification
from silverball.service.journal.reads.series_check import SeriesReport
from silverball.service.journal.reads.verification import DrawsReport, VerificationReport, verify_draws
from silverball.service.moving.reads import Mirror
from silverball.service.periods.reads import rating_check
from silverball.service.periods.reads.rating_check import DayReport, Progress
from silverball.store.database.engine import Store

TOURNAMENT_ID = click.IntRange(1, 2**63 - 1)
DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.argument("tournament_id", metavar="[ID]", type=TOURNAMENT_ID, required=False)
@click.option(
    "--against", metavar="HEAD", help="A head of the journal of tournament ID, as published earlier."
)
@click.option("--draws", is_flag=True, help="Make every draw again from its seed, and compare.")
@click.option("--ratings", is_flag=True, help="Rate every day again without storing it, and compare.")
@click.option("--from", "begin", type=DAY, help="With --ratings, the first day to compare.")
@click.option("--json", "as_json", is_flag=True, help="Write the differences as JSON.")
def verify(
    tournament_id: int | None,
    *,
    against: str | None,
    draws: bool,
    ratings: bool,
    begin: datetime | None,
    as_json: bool,
) -> None:
    """Recompute stored results and report differences, of tournament ID or of all tournaments.

    The journal is replayed backwards and compared with the stored data; pairings, points, strikes,
    standings, summaries, prizes and series are recomputed by separate code. What cannot be read is reported
    too. The exit code is 1 when anything differs.

    With --against, also prove that nothing in the journal up to that head was changed since. With
    --draws, also make each draw again with the rules of today and the dice of its seed. With --ratings,
    compare the ratings instead: one that was stopped goes on with --from.
    """
    if ratings and (tournament_id is not None or against is not None or draws):
        raise click.UsageError("--ratings verifies the ratings of everybody, and no tournament.")
    if begin is not None and not ratings:
        raise click.UsageError("--from needs --ratings.")
    if ratings:
        _verify_ratings(None if begin is None else begin.date(), as_json=as_json)
        return
    if against is not None and tournament_id is None:
        raise click.UsageError(
            "Name the tournament whose journal had the head: silverball verify ID --against HEAD."
        )
    with database.open_database(not_found=f"There is no tournament {tournament_id}.") as store:
        reports = list(verdicts(store, tournament_id, against))
        remade = list(_remade_draws(store, reports)) if draws else []
        series = _series_reports(store) if tournament_id is None else []
    if as_json:
        shown = [_verdict_json(report) for report in reports]
        for values, made in zip(shown, remade, strict=bool(remade)):
            values["draws"] = msgspec.to_builtins(made)
        shown += [{"seriesId": each.series_id, "name": each.name, "faults": each.faults} for each in series]
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        _print_verdicts(reports)
        for report, made in zip(reports, remade, strict=bool(remade)):
            _print_draws(made, report.faults)
        _print_series(series)
    found = [report.faults for report in reports] + [made.faults for made in remade]
    if any([*found, *(report.faults for report in series)]):
        raise SystemExit(1)


def _verify_ratings(begin: date | None, *, as_json: bool) -> None:
    """Verify the ratings from a day on, and print faults as they are found."""
    parameters = DEFAULTS
    reports: list[DayReport] = []
    with database.open_database() as store, _progress_bar() as progress:
        try:
            for report in rating_check.verify_ratings(store, parameters, begin=begin, progress=progress):
                reports.append(report)
                for fault in () if as_json else report.faults:
                    click.echo(fault)
        except KeyboardInterrupt:
            day = reports[-1].day if reports else begin
            click.echo(f"Stopped. To go on: silverball verify --ratings --from {day}", err=True)
            raise SystemExit(130) from None
    if as_json:
        shown = [msgspec.to_builtins(report) for report in reports if report.faults or report.not_compared]
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        _print_days(reports)
    if any(report.faults for report in reports):
        raise SystemExit(1)


@contextmanager
def _progress_bar() -> Iterator[Progress]:
    """A bar on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("Verifying", total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def _print_days(reports: list[DayReport]) -> None:
    """Print which days were not compared and why, neighbours together, and the count of the others."""
    for reason, group in itertools.groupby(reports, key=lambda report: report.not_compared):
        if reason is not None:
            days = [report.day for report in group]
            span = f"{days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}"
            click.echo(f"Not compared: {span}, {reason}.")
    compared = {report.day for report in reports if report.not_compared is None}
    different = {report.day for report in reports if report.faults}
    count = f"{len(compared)} day{'' if len(compared) == 1 else 's'}"
    click.echo(f"{count} of ratings verified, {len(different) or 'none'} with differences.")


def _series_reports(store: Store) -> list[SeriesReport]:
    with store.read() as db:
        return list(series_check.verify_series(db))


def _print_series(reports: list[SeriesReport]) -> None:
    for report in reports:
        for fault in report.faults:
            click.echo(f"Series {report.series_id}, {report.name}: {fault}")
    if reports:
        different = sum(bool(report.faults) for report in reports)
        click.echo(f"{len(reports)} series verified, {different or 'none'} with differences.")


def _remade_draws(store: Store, reports: Iterable[VerificationReport]) -> Iterator[DrawsReport]:
    for report in reports:
        with store.read() as db:
            yield verify_draws(db, report.tournament_id)


def _print_draws(made: DrawsReport, named: Collection[str]) -> None:
    """Print what made draws again found, without the faults that were named already."""
    where = f"Tournament {made.tournament_id}"
    if made.reason is not None:
        click.echo(f"{where}: {made.reason}.")
        return
    for fault in made.faults:
        if fault not in named:
            click.echo(f"{where}: {fault}")
    click.echo(f"{where}: {len(made.same)} draws made again gave the same.")
    if made.earlier:
        click.echo(f"  Drawn by an earlier version, and only checked for being legal: {len(made.earlier)}.")
    if made.not_remade:
        click.echo(
            f"  Not made again, as the journal does not hold all of their input: {len(made.not_remade)}."
        )


def verdicts(
    store: Store, tournament_id: int | None = None, against: str | None = None
) -> Iterator[VerificationReport]:
    """Verify a tournament, or all of them one after the other."""
    if tournament_id is not None:
        with store.read() as db:
            yield verification.verify_tournament(db, tournament_id, against)
        return
    with store.read() as db:
        tournament_ids = verification.tournament_ids(db)
    for listed_id in _show_progress(tournament_ids):
        # Each tournament has its own snapshot: consistent, and without holding up writers.
        with store.read() as db:
            yield verification.verify_tournament(db, listed_id)


def _show_progress(tournament_ids: list[int]) -> Iterable[int]:
    if not sys.stderr.isatty():
        return tournament_ids
    from rich.console import Console
    from rich.progress import track

    return track(tournament_ids, "Verifying", console=Console(stderr=True), transient=True)


def _print_verdicts(verdicts: list[VerificationReport]) -> None:
    different = [report for report in verdicts if report.faults]
    for report in different:
        click.echo(f"Tournament {report.tournament_id}, {report.name}:")
        for fault in report.faults:
            click.echo(f"  {fault}")
    for report in verdicts:
        if report.mirror is not None:
            click.echo(_mirror_text(report, report.mirror))
        if report.proven_action_id is not None:
            click.echo(f"Nothing up to action {report.proven_action_id} was changed since that head.")
    count = f"{len(verdicts)} tournament{'' if len(verdicts) == 1 else 's'}"
    click.echo(f"{count} verified, {len(different) or 'none'} with differences.")


def _mirror_text(report: VerificationReport, mirror: Mirror) -> str:
    """The part of a tournament that is run elsewhere which no journal here can prove."""
    text = (
        f"Tournament {report.tournament_id}, {report.name}, is run at {mirror.host}: what came from there was"
        " verified, but not who did it, nor draws and decisions that are not published."
    )
    count = mirror.standings_differ
    return (
        f"{text} Its standings there differ for {count} player{'' if count == 1 else 's'}." if count else text
    )


def _verdict_json(report: VerificationReport) -> dict[str, object]:
    shown: dict[str, object] = {
        "tournamentId": report.tournament_id,
        "name": report.name,
        "faults": list(report.faults),
    }
    if report.proven_action_id is not None:
        shown["provenUntilAction"] = report.proven_action_id
    if report.mirror is not None:
        shown["runAt"] = report.mirror.host
        shown["standingsDiffer"] = report.mirror.standings_differ or 0
    return shown
