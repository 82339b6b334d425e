"""silverball verify: compare stored data with the journal and with a recount."""

import json
import sys
from collections.abc import Iterable, Iterator

import click

from silverball.cli import database
from silverball.service.verify import reads
from silverball.service.verify.reads import VerificationReport
from silverball.store.engine import Store

TOURNAMENT_ID = click.IntRange(1, 2**63 - 1)


@click.command()
@click.argument("tournament_id", metavar="[ID]", type=TOURNAMENT_ID, required=False)
@click.option("--json", "as_json", is_flag=True, help="Write the differences as JSON.")
def verify(tournament_id: int | None, as_json: bool) -> None:
    """Recompute stored results and report differences, of tournament ID or of all tournaments.

    The journal is replayed backwards and compared with the stored data; pairings, points, strikes,
    standings and summaries are recomputed by separate code. The exit code is 1 when anything differs.
    """
    with database.open_database(not_found=f"There is no tournament {tournament_id}.") as store:
        verdicts = list(_verdicts(store, tournament_id))
    if as_json:
        click.echo(json.dumps([_verdict_json(report) for report in verdicts], ensure_ascii=False, indent=2))
    else:
        _print_verdicts(verdicts)
    if any(report.faults for report in verdicts):
        raise SystemExit(1)


def _verdicts(store: Store, tournament_id: int | None) -> Iterator[VerificationReport]:
    if tournament_id is not None:
        with store.read() as db:
            yield reads.verify_tournament(db, tournament_id)
        return
    with store.read() as db:
        tournament_ids = reads.tournament_ids(db)
    for listed_id in _show_progress(tournament_ids):
        # Each tournament has its own snapshot: consistent, and without holding up writers.
        with store.read() as db:
            yield reads.verify_tournament(db, listed_id)


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
    count = f"{len(verdicts)} tournament{'' if len(verdicts) == 1 else 's'}"
    click.echo(f"{count} verified, {len(different) or 'none'} with differences.")


def _verdict_json(report: VerificationReport) -> dict[str, object]:
    return {"tournamentId": report.tournament_id, "name": report.name, "faults": list(report.faults)}
