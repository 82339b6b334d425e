"""silverball verify: compare stored data with the journal and with a recount."""

import json
import sys
from collections.abc import Collection, Iterable, Iterator

import click
import msgspec

from silverball.cli import database
from silverball.service.journal.reads import verification
from silverball.service.journal.reads.verification import DrawsReport, VerificationReport, verify_draws
from silverball.service.moving.reads import Mirror
from silverball.store.database.engine import Store

TOURNAMENT_ID = click.IntRange(1, 2**63 - 1)


@click.command()
@click.argument("tournament_id", metavar="[ID]", type=TOURNAMENT_ID, required=False)
@click.option(
    "--against", metavar="HEAD", help="A head of the journal of tournament ID, as published earlier."
)
@click.option("--draws", is_flag=True, help="Make every draw again from its seed, and compare.")
@click.option("--json", "as_json", is_flag=True, help="Write the differences as JSON.")
def verify(tournament_id: int | None, against: str | None, draws: bool, as_json: bool) -> None:
    """Recompute stored results and report differences, of tournament ID or of all tournaments.

    The journal is replayed backwards and compared with the stored data; pairings, points, strikes,
    standings and summaries are recomputed by separate code. The exit code is 1 when anything differs.

    With --against, also prove that nothing in the journal up to that head was changed since. With
    --draws, also make each draw again with the rules of today and the dice of its seed.
    """
    if against is not None and tournament_id is None:
        raise click.UsageError(
            "Name the tournament whose journal had the head: silverball verify ID --against HEAD."
        )
    with database.open_database(not_found=f"There is no tournament {tournament_id}.") as store:
        reports = list(verdicts(store, tournament_id, against))
        remade = list(_remade_draws(store, reports)) if draws else []
    if as_json:
        shown = [_verdict_json(report) for report in reports]
        for values, made in zip(shown, remade, strict=bool(remade)):
            values["draws"] = msgspec.to_builtins(made)
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        _print_verdicts(reports)
        for report, made in zip(reports, remade, strict=bool(remade)):
            _print_draws(made, report.faults)
    if any(report.faults for report in reports) or any(made.faults for made in remade):
        raise SystemExit(1)


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
