"""Operations of `client.rating_submissions`."""

from collections.abc import Sequence

from silverball_client.bodies import SettledPlayer
from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.submissions import RatingSubmission
from silverball_wire.values import SubmissionStatus


class RatingSubmissionsResource(Resource[M]):
    """Operations of `client.rating_submissions`."""

    @operation
    def create(self, *, url: str, idempotency_key: str | None = None) -> Request[RatingSubmission]:
        """Submit the address of results; the document is fetched in the background.

        `POST /api/rating-submissions`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("rating-submissions",),
            RatingSubmission,
            in_data=True,
            body={"url": url},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def get(self, rating_submission_id: int) -> Request[RatingSubmission]:
        """A submission with its state and its players.

        `GET /api/rating-submissions/{ratingSubmissionId}`.
        """
        return Request(
            "GET",
            ("rating-submissions", rating_submission_id),
            RatingSubmission,
            in_data=True,
        )

    @paged
    def list(self, *, status: SubmissionStatus | None = None, page: int = 1) -> Request[RatingSubmission]:
        """Submitted results of other software, newest first.

        `GET /api/rating-submissions`.
        """
        return Request(
            "GET",
            ("rating-submissions",),
            RatingSubmission,
            query={"status": status, "page": page},
        )

    @operation
    def settle_players(
        self,
        rating_submission_id: int,
        *,
        players: Sequence[SettledPlayer],
        idempotency_key: str | None = None,
    ) -> Request[RatingSubmission]:
        """Settle players by federation number, or null for a player without one.

        `POST /api/rating-submissions/{ratingSubmissionId}/ifpa`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("rating-submissions", rating_submission_id, "ifpa"),
            RatingSubmission,
            in_data=True,
            body={"players": players},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def withdraw(
        self, rating_submission_id: int, *, idempotency_key: str | None = None
    ) -> Request[RatingSubmission]:
        """Withdraw a submission that is not processed yet; it stays visible.

        `DELETE /api/rating-submissions/{ratingSubmissionId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("rating-submissions", rating_submission_id),
            RatingSubmission,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
