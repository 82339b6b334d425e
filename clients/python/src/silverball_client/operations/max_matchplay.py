"""Operations of `client.max_matchplay`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.games import Game


class MaxMatchplayResource(Resource[M]):
    """Operations of `client.max_matchplay`."""

    @operation
    def create_games(
        self, tournament_id: int, *, idempotency_key: str | None = None
    ) -> Request[tuple[Game, ...]]:
        """Create the matches that can start now, as many as players and arenas allow.

        `POST /api/tournaments/{tournamentId}/max-matchplay/games`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "max-matchplay", "games"),
            tuple[Game, ...],
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
