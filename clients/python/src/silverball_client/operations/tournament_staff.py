"""Operations of `client.tournaments`: who runs it."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.users import User


class TournamentStaff(Resource[M]):
    """Operations of `client.tournaments`: who runs it."""

    @operation
    def add_director(
        self, tournament_id: int, user_id: int, *, idempotency_key: str | None = None
    ) -> Request[User]:
        """Let an account run the tournament as its organizer does, but not delete it or choose directors.

        `PUT /api/tournaments/{tournamentId}/directors/{userId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "directors", user_id),
            User,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def add_scorekeeper(
        self, tournament_id: int, user_id: int, *, idempotency_key: str | None = None
    ) -> Request[User]:
        """Let an account record results of the tournament.

        `PUT /api/tournaments/{tournamentId}/scorekeepers/{userId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "scorekeepers", user_id),
            User,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def remove_director(
        self, tournament_id: int, user_id: int, *, idempotency_key: str | None = None
    ) -> Request[User]:
        """Take a director's rights; directors may resign.

        `DELETE /api/tournaments/{tournamentId}/directors/{userId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "directors", user_id),
            User,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def remove_scorekeeper(
        self, tournament_id: int, user_id: int, *, idempotency_key: str | None = None
    ) -> Request[User]:
        """Withdraw an account's right to record results of the tournament.

        `DELETE /api/tournaments/{tournamentId}/scorekeepers/{userId}`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "scorekeepers", user_id),
            User,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
