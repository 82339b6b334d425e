"""The life of a submission: which state can follow which. Pure."""

from silverball.kit.errors import Conflict
from silverball.wire.values import SubmissionStatus

# State -> what may come next, and nothing else may.
NEXT_STATES: dict[SubmissionStatus, frozenset[SubmissionStatus]] = {
    "fetching": frozenset({"invalid", "needs_players", "ready", "withdrawn"}),
    "invalid": frozenset(),
    "needs_players": frozenset({"ready", "rejected", "withdrawn", "superseded"}),
    "ready": frozenset({"approved", "rejected", "withdrawn", "superseded"}),
    "approved": frozenset({"scheduled", "rejected", "withdrawn", "superseded"}),
    "scheduled": frozenset({"processed", "rejected", "withdrawn", "superseded"}),
    "processed": frozenset(),
    "rejected": frozenset(),
    "withdrawn": frozenset(),
    "superseded": frozenset(),
}
# Its results count, or will when their day is run.
COUNTING_STATES: tuple[SubmissionStatus, ...] = ("approved", "scheduled", "processed")
# A newer document from the same address takes its place.
REPLACEABLE_STATES: tuple[SubmissionStatus, ...] = ("needs_players", "ready", "approved", "scheduled")
# Players can still be told apart.
OPEN_STATES: tuple[SubmissionStatus, ...] = ("needs_players", "ready")
# Whoever is in one of these keeps the document for itself: sent in again, it is refused.
HOLDING_STATES: tuple[SubmissionStatus, ...] = (*REPLACEABLE_STATES, "processed", "rejected")


class WrongSubmissionState(Conflict):
    def __init__(self, submission_id: int, now: str, wanted: str) -> None:
        super().__init__(f"Rating submission {submission_id} is {now} and cannot become {wanted}.")


def require_transition(submission_id: int, now: SubmissionStatus, wanted: SubmissionStatus) -> None:
    """Raises Conflict when this state cannot follow."""
    if wanted not in NEXT_STATES[now]:
        raise WrongSubmissionState(submission_id, now.replace("_", " "), wanted.replace("_", " "))
