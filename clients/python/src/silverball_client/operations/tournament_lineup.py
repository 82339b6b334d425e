"""Operations of `client.tournaments`: machines and banks."""

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.bodies import NewLineupArena
from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.arenas import Arena, Bank


class TournamentLineup(Resource[M]):
    """Operations of `client.tournaments`: machines and banks."""

    @operation
    def add_arenas(
        self,
        tournament_id: int,
        *,
        labels: Sequence[str] | UnsetType = UNSET,
        label_color: str | UnsetType | None = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        preferred: bool | UnsetType = UNSET,
        amazing_race_seed: int | UnsetType | None = UNSET,
        best_game_blocked: bool | UnsetType = UNSET,
        best_game_queue_closed: bool | UnsetType = UNSET,
        arena_id: int | UnsetType = UNSET,
        arenas: Sequence[NewLineupArena] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Arena | tuple[Arena, ...]]:
        """Add one arena, or all of `arenas`.

        `POST /api/tournaments/{tournamentId}/arenas`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "arenas"),
            Arena | tuple[Arena, ...],
            in_data=True,
            body={
                "labels": labels,
                "labelColor": label_color,
                "status": status,
                "preferred": preferred,
                "amazingRaceSeed": amazing_race_seed,
                "bestGameBlocked": best_game_blocked,
                "bestGameQueueClosed": best_game_queue_closed,
                "arenaId": arena_id,
                "arenas": arenas,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def add_bank(
        self, tournament_id: int, bank_id: int, *, idempotency_key: str | None = None
    ) -> Request[Bank]:
        """Add a bank with its arenas.

        `PUT /api/tournaments/{tournamentId}/banks/{bankId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "banks", bank_id),
            Bank,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def arenas(self, tournament_id: int) -> Request[tuple[Arena, ...]]:
        """All arenas of a tournament, as `includeArenas` embeds them.

        `GET /api/tournaments/{tournamentId}/arenas`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "arenas"),
            tuple[Arena, ...],
            in_data=True,
        )

    @operation
    def remove_arena(
        self, tournament_id: int, arena_id: int, *, idempotency_key: str | None = None
    ) -> Request[Arena]:
        """Remove an arena without games.

        `DELETE /api/tournaments/{tournamentId}/arenas/{arenaId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "arenas", arena_id),
            Arena,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def remove_bank(
        self, tournament_id: int, bank_id: int, *, idempotency_key: str | None = None
    ) -> Request[Bank]:
        """Remove a bank from the draws.

        `DELETE /api/tournaments/{tournamentId}/banks/{bankId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "banks", bank_id),
            Bank,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def resolve_arenas(self, tournament_id: int, *, arenas: Sequence[int]) -> Request[tuple[Arena, ...]]:
        """Arenas of a tournament by their ids.

        `GET /api/tournaments/{tournamentId}/arenas/resolve-unknown`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "arenas", "resolve-unknown"),
            tuple[Arena, ...],
            in_data=True,
            query={"arenas": arenas},
        )

    @operation
    def update_arena(
        self,
        tournament_id: int,
        arena_id: int,
        *,
        labels: Sequence[str] | UnsetType = UNSET,
        label_color: str | UnsetType | None = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        preferred: bool | UnsetType = UNSET,
        amazing_race_seed: int | UnsetType | None = UNSET,
        best_game_blocked: bool | UnsetType = UNSET,
        best_game_queue_closed: bool | UnsetType = UNSET,
        redraw: bool | UnsetType = UNSET,
        dissolve_queue: bool | UnsetType = UNSET,
        remove_scores: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Arena]:
        """Change an arena's labels, status or switches; `redraw` moves its open games when it breaks down.

        `PATCH /api/tournaments/{tournamentId}/arenas/{arenaId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "arenas", arena_id),
            Arena,
            in_data=True,
            body={
                "labels": labels,
                "labelColor": label_color,
                "status": status,
                "preferred": preferred,
                "amazingRaceSeed": amazing_race_seed,
                "bestGameBlocked": best_game_blocked,
                "bestGameQueueClosed": best_game_queue_closed,
                "redraw": redraw,
                "dissolveQueue": dissolve_queue,
                "removeScores": remove_scores,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )
