"""Operations of `client.sign_ups`."""

from datetime import datetime

from msgspec import UNSET, UnsetType

from silverball_client.bodies import NewPayment
from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.prizes import SignUpList


class SignUpsResource(Resource[M]):
    """Operations of `client.sign_ups`."""

    @operation
    def add_waiting(
        self, tournament_id: int, *, player_id: int, idempotency_key: str | None = None
    ) -> Request[SignUpList]:
        """Put a player of the book at the end of the waiting list.

        `POST /api/tournaments/{tournamentId}/sign-ups/waiting`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "sign-ups", "waiting"),
            SignUpList,
            in_data=True,
            body={"playerId": player_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def change_terms(
        self,
        tournament_id: int,
        *,
        fee: int | UnsetType = UNSET,
        late_fee: int | UnsetType = UNSET,
        late_from: datetime | str | UnsetType | None = UNSET,
        new_code: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[SignUpList]:
        """Set the fees of a tournament, or replace the code of its door.

        `PATCH /api/tournaments/{tournamentId}/sign-ups`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "sign-ups"),
            SignUpList,
            in_data=True,
            body={"fee": fee, "lateFee": late_fee, "lateFrom": late_from, "newCode": new_code},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def move_waiting(
        self, tournament_id: int, player_id: int, *, position: int, idempotency_key: str | None = None
    ) -> Request[SignUpList]:
        """Move somebody on the waiting list, or put them into the tournament.

        `PUT /api/tournaments/{tournamentId}/sign-ups/waiting/{playerId}`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "sign-ups", "waiting", player_id),
            SignUpList,
            in_data=True,
            body={"position": position},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def remove_absent(self, tournament_id: int, *, idempotency_key: str | None = None) -> Request[SignUpList]:
        """Remove the players who are not checked in; who waits moves up.

        `POST /api/tournaments/{tournamentId}/sign-ups/absent`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "sign-ups", "absent"),
            SignUpList,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def remove_untaken(
        self, tournament_id: int, sign_up_id: int, *, idempotency_key: str | None = None
    ) -> Request[SignUpList]:
        """Take somebody off the list who signed up themselves and was not taken.

        `DELETE /api/tournaments/{tournamentId}/sign-ups/untaken/{signUpId}`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "sign-ups", "untaken", sign_up_id),
            SignUpList,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def remove_waiting(
        self, tournament_id: int, player_id: int, *, idempotency_key: str | None = None
    ) -> Request[SignUpList]:
        """Take somebody off the waiting list.

        `DELETE /api/tournaments/{tournamentId}/sign-ups/waiting/{playerId}`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "sign-ups", "waiting", player_id),
            SignUpList,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def take(
        self,
        tournament_id: int,
        sign_up_id: int,
        *,
        here: bool | UnsetType = UNSET,
        payment: NewPayment | None | UnsetType = UNSET,
        as_player: int | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[SignUpList]:
        """Let somebody in who signed up themselves, and check them in or record what they paid.

        `PUT /api/tournaments/{tournamentId}/sign-ups/untaken/{signUpId}`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "sign-ups", "untaken", sign_up_id),
            SignUpList,
            in_data=True,
            body={"here": here, "payment": payment, "asPlayer": as_player},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def take_all(self, tournament_id: int, *, idempotency_key: str | None = None) -> Request[SignUpList]:
        """Let everybody in who signed up themselves and has a place.

        `POST /api/tournaments/{tournamentId}/sign-ups/untaken`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "sign-ups", "untaken"),
            SignUpList,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def update_person(
        self,
        tournament_id: int,
        player_id: int,
        *,
        here: bool | UnsetType = UNSET,
        payment: NewPayment | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[SignUpList]:
        """Check somebody in, record what they paid, or take either back.

        `PUT /api/tournaments/{tournamentId}/sign-ups/players/{playerId}`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "sign-ups", "players", player_id),
            SignUpList,
            in_data=True,
            body={"here": here, "payment": payment},
            is_write=True,
            idempotency_key=idempotency_key,
        )
