"""Operations of `client.single_player_games`."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from silverball_client.bodies import ResultCorrection
from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.singleplayer import RecordedSinglePlayerGame, SinglePlayerGame


class SinglePlayerGamesResource(Resource[M]):
    """Operations of `client.single_player_games`."""

    @operation
    def create(
        self,
        tournament_id: int,
        *,
        player_id: int,
        score: int | None | UnsetType = UNSET,
        strokes: int | None | UnsetType = UNSET,
        rolls: Sequence[int] | UnsetType = UNSET,
        arena_id: int | None | UnsetType = UNSET,
        round_id: int | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[SinglePlayerGame]:
        """Record a player's score on an arena; without a result the game starts.

        `POST /api/tournaments/{tournamentId}/single-player-games`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "single-player-games"),
            SinglePlayerGame,
            in_data=True,
            body={
                "score": score,
                "strokes": strokes,
                "rolls": rolls,
                "playerId": player_id,
                "arenaId": arena_id,
                "roundId": round_id,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(
        self, tournament_id: int, single_player_game_id: int, *, idempotency_key: str | None = None
    ) -> Request[SinglePlayerGame]:
        """Delete a single player game, or its result where the format made the game; answers the game.

        `DELETE /api/tournaments/{tournamentId}/single-player-games/{singlePlayerGameId}`. Needs a token with
        the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "single-player-games", single_player_game_id),
            SinglePlayerGame,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def get(self, tournament_id: int, single_player_game_id: int) -> Request[SinglePlayerGame]:
        """One single player game.

        `GET /api/tournaments/{tournamentId}/single-player-games/{singlePlayerGameId}`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "single-player-games", single_player_game_id),
            SinglePlayerGame,
            in_data=True,
        )

    @operation
    def unvoid(
        self, tournament_id: int, single_player_game_id: int, *, idempotency_key: str | None = None
    ) -> Request[SinglePlayerGame]:
        """Count a voided single player game again.

        `POST /api/tournaments/{tournamentId}/single-player-games/{singlePlayerGameId}/unvoid`. Needs a token
        with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "single-player-games", single_player_game_id, "unvoid"),
            SinglePlayerGame,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def update(
        self,
        tournament_id: int,
        single_player_game_id: int,
        *,
        score: int | None | UnsetType = UNSET,
        strokes: int | None | UnsetType = UNSET,
        rolls: Sequence[int] | UnsetType = UNSET,
        correction: ResultCorrection | UnsetType = UNSET,
        dry_run: bool | UnsetType = UNSET,
        forfeit: int | Sequence[int] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[RecordedSinglePlayerGame]:
        """Record or correct the result of a single player game.

        `PATCH /api/tournaments/{tournamentId}/single-player-games/{singlePlayerGameId}`. Needs a token with
        the ability `score`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "single-player-games", single_player_game_id),
            RecordedSinglePlayerGame,
            body={
                "score": score,
                "strokes": strokes,
                "rolls": rolls,
                "correction": correction,
                "dryRun": dry_run,
                "forfeit": forfeit,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def void(
        self, tournament_id: int, single_player_game_id: int, *, idempotency_key: str | None = None
    ) -> Request[SinglePlayerGame]:
        """Void a single player game; it still uses up its entry.

        `POST /api/tournaments/{tournamentId}/single-player-games/{singlePlayerGameId}/void`. Needs a token
        with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "single-player-games", single_player_game_id, "void"),
            SinglePlayerGame,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
