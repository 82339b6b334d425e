"""Operations of `client.rating_periods`."""

from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.periods import RatingPeriod, RatingPeriodBundle


class RatingPeriodsResource(Resource[M]):
    """Operations of `client.rating_periods`."""

    @operation
    def get(self, date: str) -> Request[RatingPeriodBundle]:
        """A rating period, with the tournaments of its day.

        `GET /api/rating-periods/{date}`.
        """
        return Request(
            "GET",
            ("rating-periods", date),
            RatingPeriodBundle,
        )

    @paged
    def list(self, *, page: int = 1) -> Request[RatingPeriod]:
        """Rating periods.

        `GET /api/rating-periods`.
        """
        return Request(
            "GET",
            ("rating-periods",),
            RatingPeriod,
            query={"page": page},
        )
