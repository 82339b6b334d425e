"""Operations of `client.ifpa`."""

from collections.abc import Sequence

from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.federation import WpprEstimate
from silverball_wire.ratings import RatingRevision


class IfpaResource(Resource[M]):
    """Operations of `client.ifpa`."""

    @operation
    def estimate(
        self,
        *,
        tournament_id: int | None = None,
        series_id: int | None = None,
        ifpa_ids: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
    ) -> Request[WpprEstimate]:
        """The WPPR value of a field: the players of a tournament, of a series, or of a list.

        `POST /api/ifpa/wppr-estimator`.
        """
        return Request(
            "POST",
            ("ifpa", "wppr-estimator"),
            WpprEstimate,
            body={"tournamentId": tournament_id, "seriesId": series_id, "ifpaIds": ifpa_ids, "names": names},
        )

    @paged
    def rating_history(
        self, ifpa_id: int, *, limit: int | None = None, page: int = 1
    ) -> Request[RatingRevision]:
        """The periods that a federation number played, newest first.

        `GET /api/ifpa/{ifpaId}/rating-history`.
        """
        return Request(
            "GET",
            ("ifpa", ifpa_id, "rating-history"),
            RatingRevision,
            query={"limit": limit, "page": page},
        )
