"""Operations of `client.suggestions`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.games import Game


class SuggestionsResource(Resource[M]):
    """Operations of `client.suggestions`."""

    @operation
    def approve(
        self, tournament_id: int, suggestion_id: int, *, idempotency_key: str | None = None
    ) -> Request[Game]:
        """Make a reported result the result of the game.

        `POST /api/tournaments/{tournamentId}/suggestions/{suggestionId}/approve`. Needs a token with the
        ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "suggestions", suggestion_id, "approve"),
            Game,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def decline(
        self, tournament_id: int, suggestion_id: int, *, idempotency_key: str | None = None
    ) -> Request[Game]:
        """Decline a reported result.

        `DELETE /api/tournaments/{tournamentId}/suggestions/{suggestionId}`. Needs a token with the ability
        `score`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "suggestions", suggestion_id),
            Game,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
