"""Operations of `client.series`."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, Unpack

from msgspec import UNSET, UnsetType

from silverball_client.bodies import NewBand
from silverball_client.calling import Alternatives, M, Request, Resource, chosen, operation, paged
from silverball_client.options import TournamentParts
from silverball_wire.generated.words import BestGameScoring
from silverball_wire.players import Player
from silverball_wire.series import Series, SeriesDetails, SeriesListItem, SeriesStats
from silverball_wire.standings import EventResults
from silverball_wire.tournaments import Tournament


class SeriesResource(Resource[M]):
    """Operations of `client.series`."""

    @operation
    def attendance(self, series_id: int, *, count: int) -> Request[tuple[Player, ...]]:
        """The players who attended a series exactly this many times.

        `GET /api/series/{seriesId}/stats/attendance`.
        """
        return Request(
            "GET",
            ("series", series_id, "stats", "attendance"),
            tuple[Player, ...],
            in_data=True,
            query={"count": count},
        )

    @operation
    def create(
        self,
        *,
        name: str,
        status: Literal["active", "inactive", "completed"] | UnsetType = UNSET,
        test: bool | UnsetType = UNSET,
        removed_results: int | UnsetType = UNSET,
        playoffs_cutoffs: Sequence[NewBand] | UnsetType = UNSET,
        scoring: Literal["points", "pingolf"] | BestGameScoring | UnsetType = UNSET,
        scoring_custom: Mapping[str, int] | None | UnsetType = UNSET,
        estimated_tgp: int | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Series]:
        """Create a series.

        `POST /api/series`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("series",),
            Series,
            in_data=True,
            body={
                "name": name,
                "status": status,
                "test": test,
                "removedResults": removed_results,
                "playoffsCutoffs": playoffs_cutoffs,
                "scoring": scoring,
                "scoringCustom": scoring_custom,
                "estimatedTgp": estimated_tgp,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(self, series_id: int, *, idempotency_key: str | None = None) -> Request[Series]:
        """Delete a series without tournaments; answers its last state.

        `DELETE /api/series/{seriesId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("series", series_id),
            Series,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def federation_results(
        self, series_id: int, *, players: Sequence[int] | None = None
    ) -> Request[EventResults]:
        """Results of a completed series for the federation.

        `GET /api/series/{seriesId}/federation-results`.
        """
        return Request(
            "GET",
            ("series", series_id, "federation-results"),
            EventResults,
            in_data=True,
            query={"players": players},
        )

    @operation
    def federation_results_csv(self, series_id: int, *, players: Sequence[int] | None = None) -> Request[str]:
        """Results of a completed series for the federation as CSV.

        `GET /api/series/{seriesId}/federation-results/csv`.
        """
        return Request(
            "GET",
            ("series", series_id, "federation-results", "csv"),
            str,
            query={"players": players},
        )

    @operation
    def get(self, series_id: int, *, include_details: bool = False) -> Request[Series | SeriesDetails]:
        """A series; with includeDetails also its players, points and standings.

        `GET /api/series/{seriesId}`.
        """
        return Request(
            "GET",
            ("series", series_id),
            Alternatives((SeriesDetails, Series)),
            in_data=True,
            query={"includeDetails": include_details},
        )

    @paged
    def list(
        self,
        *,
        owner: int | None = None,
        played: int | None = None,
        status: Literal["active", "inactive", "completed"] | None = None,
        page: int = 1,
    ) -> Request[SeriesListItem]:
        """Series, newest first.

        `GET /api/series`.
        """
        return Request(
            "GET",
            ("series",),
            SeriesListItem,
            query={"owner": owner, "played": played, "status": status, "page": page},
        )

    @operation
    def playoffs(
        self,
        series_id: int,
        *,
        type: str,
        players: int | Sequence[int] | UnsetType = UNSET,
        half: Literal[True] | UnsetType = UNSET,
        within: Decimal | float | UnsetType = UNSET,
        nights_min: int | UnsetType = UNSET,
        after: int | UnsetType = UNSET,
        name: str | UnsetType = UNSET,
        settings: Mapping[str, Any] | UnsetType = UNSET,
        idempotency_key: str | None = None,
        **options: Unpack[TournamentParts],
    ) -> Request[Tournament]:
        """Create a final for the best of a series, seeded by their places in its table.

        `POST /api/series/{seriesId}/playoffs`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("series", series_id, "playoffs"),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, TournamentParts),
            body={
                "type": type,
                "players": players,
                "half": half,
                "within": within,
                "nightsMin": nights_min,
                "after": after,
                "name": name,
                "settings": settings,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def stats(self, series_id: int) -> Request[SeriesStats]:
        """Attendance, opponents and arenas of the players of a series.

        `GET /api/series/{seriesId}/stats`.
        """
        return Request(
            "GET",
            ("series", series_id, "stats"),
            SeriesStats,
        )

    @operation
    def update(
        self,
        series_id: int,
        *,
        name: str | UnsetType = UNSET,
        status: Literal["active", "inactive", "completed"] | UnsetType = UNSET,
        test: bool | UnsetType = UNSET,
        removed_results: int | UnsetType = UNSET,
        playoffs_cutoffs: Sequence[NewBand] | UnsetType = UNSET,
        scoring: Literal["points", "pingolf"] | BestGameScoring | UnsetType = UNSET,
        scoring_custom: Mapping[str, int] | UnsetType | None = UNSET,
        estimated_tgp: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Series]:
        """Change a series of the caller; its tournaments show the change.

        `PATCH /api/series/{seriesId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("series", series_id),
            Series,
            in_data=True,
            body={
                "name": name,
                "status": status,
                "test": test,
                "removedResults": removed_results,
                "playoffsCutoffs": playoffs_cutoffs,
                "scoring": scoring,
                "scoringCustom": scoring_custom,
                "estimatedTgp": estimated_tgp,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )
