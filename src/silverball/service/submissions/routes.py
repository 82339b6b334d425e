"""Rating submissions over HTTP."""

from typing import Any

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Call, delete, get, post
from silverball.kit.http.query import Query
from silverball.service import pages
from silverball.service.calls import Write
from silverball.service.submissions.reads import submissions as reads
from silverball.service.submissions.writes import submissions as writes
from silverball.wire.pages import Data, Page
from silverball.wire.submissions import RatingSubmission

SUBMISSIONS = "/api/rating-submissions"
SUBMISSION = "/api/rating-submissions/{rating_submission_id}"


@get(SUBMISSIONS, query=reads.SubmissionQuery)
def list_rating_submissions(call: Call[reads.SubmissionQuery]) -> Page[RatingSubmission]:
    """Results of other software that were sent in, newest first."""
    with call.read() as db:
        found = reads.submissions_page(db, call.query, call.caller)
    return pages.full_page(call, found, per_page=reads.PER_PAGE)


@get(SUBMISSION)
def show_rating_submission(call: Call[Query]) -> Data[RatingSubmission]:
    """A submission: what became of it, and who its players are."""
    with call.read() as db:
        return Data(data=reads.find_submission(db, call.ids["rating_submission_id"], call.caller))


@post(SUBMISSIONS, body=writes.NewSubmission, ability="manage", status=201)
def submit_ratings(call: Write[writes.NewSubmission]) -> Data[RatingSubmission]:
    """Results at an address are sent in; the document is fetched in a moment."""
    return _submission_answer(call, writes.create_submission(call))


@post(SUBMISSION + "/ifpa", body=writes.SettledPlayers, ability="manage")
def settle_players_of_rating_submission(call: Write[writes.SettledPlayers]) -> Data[RatingSubmission]:
    """The submitter says who players are: by federation number, or null for who has none."""
    return _submission_answer(call, writes.settle_players(call))


@delete(SUBMISSION, ability="manage")
def withdraw_rating_submission(call: Write[Body]) -> Data[RatingSubmission]:
    """The submitter takes a submission back that was not processed yet; it stays to be seen."""
    return _submission_answer(call, writes.withdraw_submission(call))


def _submission_answer(call: Write[Any], submission_id: int) -> Data[RatingSubmission]:
    return Data(data=reads.find_submission(call.db, submission_id, call.caller))
