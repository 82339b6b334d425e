"""Operations of `client.cards`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.singleplayer import Card


class CardsResource(Resource[M]):
    """Operations of `client.cards`."""

    @operation
    def delete(
        self, tournament_id: int, card_id: int, *, idempotency_key: str | None = None
    ) -> Request[Card]:
        """Delete a card with its games; answers its last state.

        `DELETE /api/tournaments/{tournamentId}/cards/{cardId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "cards", card_id),
            Card,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def get(self, tournament_id: int, card_id: int) -> Request[Card]:
        """One card, with its games.

        `GET /api/tournaments/{tournamentId}/cards/{cardId}`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "cards", card_id),
            Card,
            in_data=True,
        )

    @operation
    def unvoid(
        self, tournament_id: int, card_id: int, *, idempotency_key: str | None = None
    ) -> Request[Card]:
        """Count a voided card again.

        `POST /api/tournaments/{tournamentId}/cards/{cardId}/unvoid`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "cards", card_id, "unvoid"),
            Card,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def void(self, tournament_id: int, card_id: int, *, idempotency_key: str | None = None) -> Request[Card]:
        """Void a card and its games; it still uses up its entry.

        `POST /api/tournaments/{tournamentId}/cards/{cardId}/void`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "cards", card_id, "void"),
            Card,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
