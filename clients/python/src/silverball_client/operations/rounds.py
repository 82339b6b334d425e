"""Operations of `client.rounds`."""

from msgspec import UNSET, UnsetType

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.rounds import DrawnRound, Round, RoundTimer


class RoundsResource(Resource[M]):
    """Operations of `client.rounds`."""

    @operation
    def complete(
        self, tournament_id: int, round_id: int, *, idempotency_key: str | None = None
    ) -> Request[Round]:
        """Complete a round whose games all have results.

        `POST /api/tournaments/{tournamentId}/rounds/{roundId}/complete`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "rounds", round_id, "complete"),
            Round,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(
        self, tournament_id: int, round_id: int, *, idempotency_key: str | None = None
    ) -> Request[Round]:
        """Delete the newest round with its games.

        `DELETE /api/tournaments/{tournamentId}/rounds/{roundId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "rounds", round_id),
            Round,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def extend_timer(
        self, tournament_id: int, *, minutes: int, idempotency_key: str | None = None
    ) -> Request[RoundTimer]:
        """Give the open round more minutes; negative ones are taken off.

        `POST /api/tournaments/{tournamentId}/timer/extend`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "timer", "extend"),
            RoundTimer,
            in_data=True,
            body={"minutes": minutes},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def open(
        self,
        tournament_id: int,
        *,
        dry_run: bool | UnsetType = UNSET,
        redraw: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[DrawnRound]:
        """Draw and open the next round; `dryRun` answers with the draw and stores nothing.

        `POST /api/tournaments/{tournamentId}/rounds`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "rounds"),
            DrawnRound,
            body={"dryRun": dry_run, "redraw": redraw},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def set_timer(
        self, tournament_id: int, *, minutes: int, idempotency_key: str | None = None
    ) -> Request[RoundTimer]:
        """Give every round so many minutes, the open one from now on; 0 switches the timer off.

        `PUT /api/tournaments/{tournamentId}/timer`. Needs a token with the ability `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "timer"),
            RoundTimer,
            in_data=True,
            body={"minutes": minutes},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def timer(self, tournament_id: int) -> Request[RoundTimer]:
        """When the open round runs out of time, and who was called to a machine.

        `GET /api/tournaments/{tournamentId}/timer`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "timer"),
            RoundTimer,
            in_data=True,
        )

    @operation
    def update(
        self,
        tournament_id: int,
        round_id: int,
        *,
        arena_id: int | UnsetType | None = UNSET,
        score: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Round]:
        """Change the arena and the target of a hole, a frame or a race.

        `PATCH /api/tournaments/{tournamentId}/rounds/{roundId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "rounds", round_id),
            Round,
            in_data=True,
            body={"arenaId": arena_id, "score": score},
            is_write=True,
            idempotency_key=idempotency_key,
        )
