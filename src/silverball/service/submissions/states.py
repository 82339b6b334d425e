"""The states of a submission and their transitions. Pure."""

from silverball.kit.errors import Conflict
from silverball_wire.values import SubmissionStatus

# State -> the states that can follow.
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
# The results count, or will when the rating period of their day runs.
COUNTING_STATES: tuple[SubmissionStatus, ...] = ("approved", "scheduled", "processed")
# A newer document from the same address replaces the submission.
REPLACEABLE_STATES: tuple[SubmissionStatus, ...] = ("needs_players", "ready", "approved", "scheduled")
# Players can still be settled.
OPEN_STATES: tuple[SubmissionStatus, ...] = ("needs_players", "ready")
# A submission in one of these states owns its document: the same document is refused elsewhere.
HOLDING_STATES: tuple[SubmissionStatus, ...] = (*REPLACEABLE_STATES, "processed", "rejected")


class WrongSubmissionState(Conflict):
    sentence = "Rating submission {submission_id} is {state} and cannot become {wanted}."


def require_transition(submission_id: int, now: SubmissionStatus, wanted: SubmissionStatus) -> None:
    """Raise Conflict when this state cannot follow."""
    if wanted not in NEXT_STATES[now]:
        raise WrongSubmissionState(
            submission_id=submission_id, state=now.replace("_", " "), wanted=wanted.replace("_", " ")
        )
