"""Operations of `client.ratings`."""

from collections.abc import Sequence

from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.ratings import Rating, RatingBundle, RatingComparison


class RatingsResource(Resource[M]):
    """Operations of `client.ratings`."""

    @operation
    def chart(self, type: str, user_id: int) -> Request[str]:
        """A year of the rating of a user (type `users`) as a picture.

        `GET /api/ratings/{type}/{userId}/chart.svg`.
        """
        return Request(
            "GET",
            ("ratings", type, user_id, "chart.svg"),
            str,
        )

    @operation
    def chart_by_ifpa(self, ifpa_id: int) -> Request[str]:
        """A year of the rating of a federation number as a picture.

        `GET /api/ratings/ifpa/{ifpaId}/chart.svg`.
        """
        return Request(
            "GET",
            ("ratings", "ifpa", ifpa_id, "chart.svg"),
            str,
        )

    @operation
    def compare(
        self,
        *,
        user_ids: Sequence[int] | None = None,
        ifpa_ids: Sequence[int] | None = None,
        player_ids: Sequence[int] | None = None,
    ) -> Request[RatingComparison]:
        """Ratings side by side, with head-to-head records.

        `GET /api/ratings/compare`.
        """
        return Request(
            "GET",
            ("ratings", "compare"),
            RatingComparison,
            query={"userIds": user_ids, "ifpaIds": ifpa_ids, "playerIds": player_ids},
        )

    @operation
    def compare_many(
        self,
        *,
        user_ids: Sequence[int] | None = None,
        ifpa_ids: Sequence[int] | None = None,
        player_ids: Sequence[int] | None = None,
    ) -> Request[RatingComparison]:
        """Ratings side by side, with head-to-head records.

        `POST /api/ratings/compare`.
        """
        return Request(
            "POST",
            ("ratings", "compare"),
            RatingComparison,
            body={"userIds": user_ids, "ifpaIds": ifpa_ids, "playerIds": player_ids},
        )

    @operation
    def get(self, type: str, user_id: int) -> Request[RatingBundle]:
        """The rating of a user (type `users`), with a year of its history.

        `GET /api/ratings/{type}/{userId}`.
        """
        return Request(
            "GET",
            ("ratings", type, user_id),
            RatingBundle,
        )

    @operation
    def get_by_ifpa(self, ifpa_id: int) -> Request[RatingBundle]:
        """The rating of a federation number, with a year of its history.

        `GET /api/ratings/ifpa/{ifpaId}`.
        """
        return Request(
            "GET",
            ("ratings", "ifpa", ifpa_id),
            RatingBundle,
        )

    @paged
    def list(
        self, *, user_ids: Sequence[int] | None = None, ifpa_ids: Sequence[int] | None = None, page: int = 1
    ) -> Request[Rating]:
        """Ratings of users and federation numbers, or all of them.

        `GET /api/ratings`.
        """
        return Request(
            "GET",
            ("ratings",),
            Rating,
            query={"userIds": user_ids, "ifpaIds": ifpa_ids, "page": page},
        )

    @operation
    def list_by_ifpa(
        self, *, ifpa_ids: Sequence[int] | None = None, date: str | None = None
    ) -> Request[tuple[Rating, ...]]:
        """Ratings by federation number, now or on a day.

        `GET /api/ratings/ifpa`.
        """
        return Request(
            "GET",
            ("ratings", "ifpa"),
            tuple[Rating, ...],
            in_data=True,
            query={"ifpaIds": ifpa_ids, "date": date},
        )

    @paged
    def search(self, *, query: str, page: int = 1) -> Request[Rating]:
        """Ratings by name.

        `GET /api/ratings/search`.
        """
        return Request(
            "GET",
            ("ratings", "search"),
            Rating,
            query={"query": query, "page": page},
        )

    @operation
    def summary(self, type: str, user_id: int) -> Request[Rating]:
        """The rating of a user (type `users`).

        `GET /api/ratings/{type}/{userId}/summary`.
        """
        return Request(
            "GET",
            ("ratings", type, user_id, "summary"),
            Rating,
            in_data=True,
        )

    @operation
    def summary_by_ifpa(self, ifpa_id: int) -> Request[Rating]:
        """The rating of a federation number.

        `GET /api/ratings/ifpa/{ifpaId}/summary`.
        """
        return Request(
            "GET",
            ("ratings", "ifpa", ifpa_id, "summary"),
            Rating,
            in_data=True,
        )
