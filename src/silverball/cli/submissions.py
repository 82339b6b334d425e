"""silverball submissions: moderate submitted results."""

from datetime import UTC, datetime

import click

from silverball.cli import database
from silverball.service.submissions import reads as submissions_reads
from silverball.service.submissions import writes as submissions_writes
from silverball_wire.submissions import RatingSubmission
from silverball_wire.values import SUBMISSION_STATUSES, SubmissionStatus

ID = click.IntRange(1, 2**63 - 1)
NOTE_CHARACTERS_MAX = 500
HEADINGS = ("ID", "STATUS", "DAY", "PLAYERS", "GAMES", "SUBMITTER", "HOST", "NAME")


@click.group()
def submissions() -> None:
    """List, approve and reject rating submissions."""


@submissions.command("list")
@click.option("--status", type=click.Choice(SUBMISSION_STATUSES), help="Only those in this state.")
@database.json_option
def list_(status: SubmissionStatus | None, *, as_json: bool) -> None:
    """List submissions, newest first. Those that are `ready` wait for a moderator."""
    with database.open_database() as store, store.read() as db:
        listed = submissions_reads.newest_submissions(db, status)
    if as_json:
        database.print_json(listed)
    else:
        database.print_table([HEADINGS, *map(_submission_row, listed)])
    if len(listed) == submissions_reads.SUBMISSIONS_LISTED_MAX:
        newest = f"the newest {submissions_reads.SUBMISSIONS_LISTED_MAX}"
        click.echo(f"Only {newest} are shown; use --status to see others.", err=True)


@submissions.command()
@click.argument("submission_id", metavar="ID", type=ID)
def approve(submission_id: int) -> None:
    """Approve submission ID, so that it counts for the ratings of its day."""
    nothing = f"There is no rating submission {submission_id}."
    with database.open_database(not_found=nothing) as store, store.write() as transaction:
        submissions_writes.approve_submission(transaction.connection, submission_id, _current_time())
    click.echo(f"Rating submission {submission_id} is approved.", err=True)


@submissions.command()
@click.argument("submission_id", metavar="ID", type=ID)
@click.option("--reason", required=True, help="Shown to the submitter.")
def reject(submission_id: int, reason: str) -> None:
    """Reject submission ID, so that it does not count."""
    if not reason.strip() or len(reason) > NOTE_CHARACTERS_MAX:
        raise click.BadParameter(f"must have 1 to {NOTE_CHARACTERS_MAX} characters", param_hint="--reason")
    nothing = f"There is no rating submission {submission_id}."
    with database.open_database(not_found=nothing) as store, store.write() as transaction:
        submissions_writes.reject_submission(
            transaction.connection, submission_id, reason.strip(), _current_time()
        )
    click.echo(f"Rating submission {submission_id} is rejected.", err=True)


def _submission_row(submission: RatingSubmission) -> tuple[str, ...]:
    counts = (_count_text(submission.player_count), _count_text(submission.game_count))
    day, name = submission.event_date or "-", submission.name or submission.url
    return (
        str(submission.rating_submission_id),
        submission.status,
        day,
        *counts,
        submission.submitter_name,
        submission.source_domain,
        name,
    )


def _count_text(count: int | None) -> str:
    return "-" if count is None else str(count)


def _current_time() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
