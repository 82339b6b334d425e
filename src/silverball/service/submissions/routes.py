"""Rating submissions over HTTP."""

from typing import Any

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Call, delete, get, post
from silverball.kit.http.query import Query
from silverball.service.core import calls
from silverball.service.core.calls import Write
from silverball.service.submissions import reads, writes
from silverball_wire.pages import Data, Page
from silverball_wire.submissions import RatingSubmission

SUBMISSIONS = "/api/rating-submissions"
SUBMISSION = "/api/rating-submissions/{rating_submission_id}"


@get(SUBMISSIONS, query=reads.SubmissionQuery)
def list_rating_submissions(call: Call[reads.SubmissionQuery]) -> Page[RatingSubmission]:
    """Submitted results of other software, newest first."""
    with call.read() as db:
        page = reads.submissions_page(db, call.query, call.caller)
    return calls.full_page(call, page, per_page=reads.PER_PAGE)


@get(SUBMISSION)
def show_rating_submission(call: Call[Query]) -> Data[RatingSubmission]:
    """A submission with its state and its players."""
    with call.read() as db:
        return Data(data=reads.find_submission(db, call.ids["rating_submission_id"], call.caller))


@post(SUBMISSIONS, body=writes.NewSubmission, ability="manage", status=201)
def add_rating_submission(call: Write[writes.NewSubmission]) -> Data[RatingSubmission]:
    """Submit the address of results; the document is fetched in the background."""
    return _submission_answer(call, writes.create_submission(call))


@post(SUBMISSION + "/ifpa", body=writes.SettledPlayers, ability="manage")
def settle_players_of_rating_submission(
    call: Write[writes.SettledPlayers],
) -> Data[RatingSubmission]:
    """Settle players by federation number, or null for a player without one."""
    return _submission_answer(call, writes.settle_players(call))


@delete(SUBMISSION, ability="manage")
def withdraw_rating_submission(call: Write[Body]) -> Data[RatingSubmission]:
    """Withdraw a submission that is not processed yet; it stays visible."""
    return _submission_answer(call, writes.withdraw_submission(call))


def _submission_answer(call: Write[Any], submission_id: int) -> Data[RatingSubmission]:
    return Data(data=reads.find_submission(call.db, submission_id, call.caller))
