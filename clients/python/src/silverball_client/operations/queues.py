"""Operations of `client.queues`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.queues import QueueEntry
from silverball_wire.singleplayer import SinglePlayerGame


class QueuesResource(Resource[M]):
    """Operations of `client.queues`."""

    @operation
    def join(
        self, tournament_id: int, *, player_id: int, arena_id: int, idempotency_key: str | None = None
    ) -> Request[QueueEntry]:
        """Add a player to the end of an arena's queue.

        `POST /api/tournaments/{tournamentId}/queues`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "queues"),
            QueueEntry,
            in_data=True,
            body={"playerId": player_id, "arenaId": arena_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def leave(
        self, tournament_id: int, queue_id: int, *, idempotency_key: str | None = None
    ) -> Request[QueueEntry]:
        """Remove a spot from a queue; answers its last state.

        `DELETE /api/tournaments/{tournamentId}/queues/{queueId}`. Needs a token with the ability `score`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "queues", queue_id),
            QueueEntry,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def move(
        self, tournament_id: int, queue_id: int, *, idempotency_key: str | None = None
    ) -> Request[QueueEntry]:
        """Swap an absent player with the next one in line.

        `POST /api/tournaments/{tournamentId}/queues/{queueId}/move`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "queues", queue_id, "move"),
            QueueEntry,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def start(
        self, tournament_id: int, queue_id: int, *, idempotency_key: str | None = None
    ) -> Request[SinglePlayerGame]:
        """Start the game of the first player in line.

        `POST /api/tournaments/{tournamentId}/queues/{queueId}/start`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "queues", queue_id, "start"),
            SinglePlayerGame,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
