"""Operations of `client.search`."""

from typing import Literal

from silverball_client.calling import Alternatives, M, Request, Resource, paged
from silverball_wire.series import SeriesListItem
from silverball_wire.tournaments import Tournament
from silverball_wire.users import User


class SearchResource(Resource[M]):
    """Operations of `client.search`."""

    @paged
    def list(
        self, *, query: str, type: Literal["users", "tournaments", "series"], page: int = 1
    ) -> Request[User | Tournament | SeriesListItem]:
        """Users, tournaments or series by name.

        `GET /api/search`.
        """
        return Request(
            "GET",
            ("search",),
            Alternatives((Tournament, User, SeriesListItem)),
            query={"query": query, "type": type, "page": page},
        )
