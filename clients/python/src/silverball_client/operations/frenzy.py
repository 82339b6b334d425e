"""Operations of `client.frenzy`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.queues import FrenzyState


class FrenzyResource(Resource[M]):
    """Operations of `client.frenzy`."""

    @operation
    def change_time(
        self, tournament_id: int, *, seconds: int, idempotency_key: str | None = None
    ) -> Request[FrenzyState]:
        """Add seconds to the clock, or take them off.

        `POST /api/tournaments/{tournamentId}/frenzy/time`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "frenzy", "time"),
            FrenzyState,
            body={"seconds": seconds},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def join_queue(
        self, tournament_id: int, *, player_id: int, idempotency_key: str | None = None
    ) -> Request[FrenzyState]:
        """Put a player at the end of the queue.

        `POST /api/tournaments/{tournamentId}/frenzy/queue`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "frenzy", "queue"),
            FrenzyState,
            body={"playerId": player_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def leave_queue(
        self, tournament_id: int, queue_id: int, *, idempotency_key: str | None = None
    ) -> Request[FrenzyState]:
        """Remove a player from the queue.

        `DELETE /api/tournaments/{tournamentId}/frenzy/queue/{queueId}`. Needs a token with the ability
        `score`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "frenzy", "queue", queue_id),
            FrenzyState,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def move_to_end(
        self, tournament_id: int, queue_id: int, *, idempotency_key: str | None = None
    ) -> Request[FrenzyState]:
        """Move a player to the end of the queue.

        `POST /api/tournaments/{tournamentId}/frenzy/queue/{queueId}/end`. Needs a token with the ability
        `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "frenzy", "queue", queue_id, "end"),
            FrenzyState,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def pause(self, tournament_id: int, *, idempotency_key: str | None = None) -> Request[FrenzyState]:
        """Stop the clock; no new game starts.

        `POST /api/tournaments/{tournamentId}/frenzy/pause`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "frenzy", "pause"),
            FrenzyState,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def resume(self, tournament_id: int, *, idempotency_key: str | None = None) -> Request[FrenzyState]:
        """Resume the clock and start games for waiting players.

        `POST /api/tournaments/{tournamentId}/frenzy/resume`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "frenzy", "resume"),
            FrenzyState,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def start_games(self, tournament_id: int, *, idempotency_key: str | None = None) -> Request[FrenzyState]:
        """Start games for waiting players on free arenas.

        `POST /api/tournaments/{tournamentId}/frenzy/games`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "frenzy", "games"),
            FrenzyState,
            is_write=True,
            idempotency_key=idempotency_key,
        )
