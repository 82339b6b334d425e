"""silverball verify: what is stored, held against the journal and counted again."""

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
@click.option("--json", "as_json", is_flag=True, help="Write what differs as JSON.")
def verify(tournament_id: int | None, as_json: bool) -> None:
    """Count everything again and say what differs: of tournament ID, or of every tournament.

    The journal is told backwards and held against what is stored; pairings, points, strikes, standings and
    summaries are counted by code of their own. The exit code is 1 when anything differs.
    """
    with database.open_database(not_found=f"There is no tournament {tournament_id}.") as store:
        verdicts = list(_verdicts(store, tournament_id))
    if as_json:
        click.echo(json.dumps([_verdict_json(one) for one in verdicts], ensure_ascii=False, indent=2))
    else:
        _print_verdicts(verdicts)
    if any(one.faults for one in verdicts):
        raise SystemExit(1)


def _verdicts(store: Store, tournament_id: int | None) -> Iterator[VerificationReport]:
    if tournament_id is not None:
        with store.read() as db:
            yield reads.verify_tournament(db, tournament_id)
        return
    with store.read() as db:
        tournament_ids = reads.tournament_ids(db)
    for one in _show_progress(tournament_ids):
        # Each in a snapshot of its own: writers are not held up, nor is one seen half.
        with store.read() as db:
            yield reads.verify_tournament(db, one)


def _show_progress(tournament_ids: list[int]) -> Iterable[int]:
    if not sys.stderr.isatty():
        return tournament_ids
    from rich.console import Console
    from rich.progress import track

    return track(tournament_ids, "Verifying", console=Console(stderr=True), transient=True)


def _print_verdicts(verdicts: list[VerificationReport]) -> None:
    wrong = [one for one in verdicts if one.faults]
    for one in wrong:
        click.echo(f"Tournament {one.tournament_id}, {one.name}:")
        for fault in one.faults:
            click.echo(f"  {fault}")
    count = f"{len(verdicts)} tournament{'' if len(verdicts) == 1 else 's'}"
    click.echo(f"{count} verified, {len(wrong) or 'none'} with differences.")


def _verdict_json(one: VerificationReport) -> dict[str, object]:
    return {"tournamentId": one.tournament_id, "name": one.name, "faults": list(one.faults)}
