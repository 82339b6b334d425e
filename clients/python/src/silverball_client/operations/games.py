"""Operations of `client.games`."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.bodies import PlayerSwap, ResultCorrection
from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.games import Game, Leg
from silverball_wire.rounds import RoundTimer
from silverball_wire.singleplayer import RecordedGame


class GamesResource(Resource[M]):
    """Operations of `client.games`."""

    @operation
    def add_player(
        self, tournament_id: int, game_id: int, *, player_id: int, idempotency_key: str | None = None
    ) -> Request[Game]:
        """Add a player to a game of the open round.

        `POST /api/tournaments/{tournamentId}/games/{gameId}/players`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games", game_id, "players"),
            Game,
            in_data=True,
            body={"playerId": player_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def call(
        self, tournament_id: int, game_id: int, *, idempotency_key: str | None = None
    ) -> Request[RoundTimer]:
        """Call the players of an open game to their machine, once more if they were called before.

        `POST /api/tournaments/{tournamentId}/games/{gameId}/call`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games", game_id, "call"),
            RoundTimer,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def change_leg(
        self,
        tournament_id: int,
        game_id: int,
        leg: int,
        *,
        result_positions: Sequence[int] | UnsetType = UNSET,
        arena_id: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Leg]:
        """Correct a single game of a match, counted from 1; a decided match only the organizer.

        `PATCH /api/tournaments/{tournamentId}/games/{gameId}/legs/{leg}`. Needs a token with the ability
        `score`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "games", game_id, "legs", leg),
            Leg,
            in_data=True,
            body={"resultPositions": result_positions, "arenaId": arena_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def clear_result(
        self, tournament_id: int, game_id: int, *, idempotency_key: str | None = None
    ) -> Request[Game]:
        """Clear the result of a game.

        `DELETE /api/tournaments/{tournamentId}/games/{gameId}/result`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "games", game_id, "result"),
            Game,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def create(
        self,
        tournament_id: int,
        *,
        player_ids: Sequence[int],
        arena_id: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Game]:
        """Create a game of chosen players, where the organizer makes the games.

        `POST /api/tournaments/{tournamentId}/games`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games"),
            Game,
            in_data=True,
            body={"playerIds": player_ids, "arenaId": arena_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(
        self, tournament_id: int, game_id: int, *, idempotency_key: str | None = None
    ) -> Request[Game]:
        """Delete a game outside drawn rounds, or a tiebreak game.

        `DELETE /api/tournaments/{tournamentId}/games/{gameId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "games", game_id),
            Game,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete_leg(
        self, tournament_id: int, game_id: int, leg: int, *, idempotency_key: str | None = None
    ) -> Request[Leg]:
        """Delete a single game of a match, counted from 1; the later ones move up.

        `DELETE /api/tournaments/{tournamentId}/games/{gameId}/legs/{leg}`. Needs a token with the ability
        `score`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "games", game_id, "legs", leg),
            Leg,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def get(self, tournament_id: int, game_id: int) -> Request[Game]:
        """One game, with its arena.

        `GET /api/tournaments/{tournamentId}/games/{gameId}`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "games", game_id),
            Game,
            in_data=True,
        )

    @operation
    def give_extra_time(
        self, tournament_id: int, game_id: int, *, minutes: int, idempotency_key: str | None = None
    ) -> Request[RoundTimer]:
        """Give one open game more minutes than its round, from now on where its time is up.

        `POST /api/tournaments/{tournamentId}/games/{gameId}/extra-time`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games", game_id, "extra-time"),
            RoundTimer,
            in_data=True,
            body={"minutes": minutes},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @paged
    def list(
        self,
        *,
        tournaments: Sequence[int] | None = None,
        series: Sequence[int] | None = None,
        ids: Sequence[int] | None = None,
        round: int | None = None,
        player: int | None = None,
        arena: int | None = None,
        bank: int | None = None,
        status: Literal["started", "completed"] | None = None,
        page: int = 1,
    ) -> Request[Game]:
        """Games of several tournaments or series.

        `GET /api/games`.
        """
        return Request(
            "GET",
            ("games",),
            Game,
            query={
                "tournaments": tournaments,
                "series": series,
                "ids": ids,
                "round": round,
                "player": player,
                "arena": arena,
                "bank": bank,
                "status": status,
                "page": page,
            },
        )

    @operation
    def list_legs(self, tournament_id: int, game_id: int) -> Request[tuple[Leg, ...]]:
        """The single games of a match of a bracket, where they are recorded.

        `GET /api/tournaments/{tournamentId}/games/{gameId}/legs`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "games", game_id, "legs"),
            tuple[Leg, ...],
            in_data=True,
        )

    @operation
    def record_leg(
        self,
        tournament_id: int,
        game_id: int,
        *,
        result_positions: Sequence[int],
        arena_id: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Leg]:
        """Record the next single game of a match; the match completes when a player has won enough.

        `POST /api/tournaments/{tournamentId}/games/{gameId}/legs`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games", game_id, "legs"),
            Leg,
            in_data=True,
            body={"resultPositions": result_positions, "arenaId": arena_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def record_result(
        self,
        tournament_id: int,
        game_id: int,
        *,
        result_positions: Sequence[int] | UnsetType = UNSET,
        result_scores: Mapping[int, int] | UnsetType = UNSET,
        strikes: Sequence[int] | UnsetType = UNSET,
        strokes: Mapping[int, int] | UnsetType = UNSET,
        games: Mapping[int, int] | UnsetType = UNSET,
        forfeit: int | Sequence[int] | UnsetType = UNSET,
        correction: ResultCorrection | UnsetType = UNSET,
        dry_run: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[RecordedGame]:
        """Record the result of a game; only the organizer can replace one, in any round with a `correction`.

        `PUT /api/tournaments/{tournamentId}/games/{gameId}/result`. Needs a token with the ability `score`.
        """
        return Request(
            "PUT",
            ("tournaments", tournament_id, "games", game_id, "result"),
            RecordedGame,
            body={
                "resultPositions": result_positions,
                "resultScores": result_scores,
                "strikes": strikes,
                "strokes": strokes,
                "games": games,
                "forfeit": forfeit,
                "correction": correction,
                "dryRun": dry_run,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def redraw_arena(
        self, tournament_id: int, game_id: int, *, idempotency_key: str | None = None
    ) -> Request[Game]:
        """Draw another arena for an open game.

        `POST /api/tournaments/{tournamentId}/games/{gameId}/arena`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games", game_id, "arena"),
            Game,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def remove_player(
        self, tournament_id: int, game_id: int, player_id: int, *, idempotency_key: str | None = None
    ) -> Request[Game]:
        """Remove a player from an open game.

        `DELETE /api/tournaments/{tournamentId}/games/{gameId}/players/{playerId}`. Needs a token with the
        ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "games", game_id, "players", player_id),
            Game,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def suggest_result(
        self,
        tournament_id: int,
        game_id: int,
        *,
        result_positions: Sequence[int] | UnsetType = UNSET,
        result_scores: Mapping[int, int] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Game]:
        """Report the result of a game as one of its players; answers the game with the report.

        `POST /api/tournaments/{tournamentId}/games/{gameId}/suggestions`. Needs a token with the ability
        `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games", game_id, "suggestions"),
            Game,
            in_data=True,
            body={"resultPositions": result_positions, "resultScores": result_scores},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def update(
        self,
        tournament_id: int,
        game_id: int,
        *,
        player_ids: Sequence[int] | UnsetType = UNSET,
        arena_id: int | UnsetType | None = UNSET,
        swap: PlayerSwap | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Game]:
        """Change the playing order, the arena or the players of an open game.

        `PATCH /api/tournaments/{tournamentId}/games/{gameId}`. Needs a token with the ability `score`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "games", game_id),
            Game,
            in_data=True,
            body={"playerIds": player_ids, "arenaId": arena_id, "swap": swap},
            is_write=True,
            idempotency_key=idempotency_key,
        )
