"""Operations of `client.rulings`."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.games import Game
from silverball_wire.rounds import GameNote, NoteKind


class RulingsResource(Resource[M]):
    """Operations of `client.rulings`."""

    @operation
    def add_note(
        self,
        tournament_id: int,
        game_id: int,
        *,
        kind: NoteKind,
        text: str,
        player_id: int | UnsetType = UNSET,
        leaves: Literal["game", "tournament"] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[GameNote]:
        """Write a note on a game, which directors and scorekeepers see.

        `POST /api/tournaments/{tournamentId}/games/{gameId}/notes`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games", game_id, "notes"),
            GameNote,
            in_data=True,
            body={"kind": kind, "text": text, "playerId": player_id, "leaves": leaves},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def list_earlier_cards(self, tournament_id: int, game_id: int) -> Request[tuple[GameNote, ...]]:
        """The players' cards in other tournaments of the organizer in the last year, oldest first.

        `GET /api/tournaments/{tournamentId}/games/{gameId}/earlier-cards`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "games", game_id, "earlier-cards"),
            tuple[GameNote, ...],
            in_data=True,
        )

    @operation
    def list_notes(self, tournament_id: int, game_id: int) -> Request[tuple[GameNote, ...]]:
        """The notes on a game, oldest first; for directors and scorekeepers.

        `GET /api/tournaments/{tournamentId}/games/{gameId}/notes`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "games", game_id, "notes"),
            tuple[GameNote, ...],
            in_data=True,
        )

    @operation
    def rule_on_game(
        self,
        tournament_id: int,
        game_id: int,
        *,
        ruling: Literal["wait", "resume", "startOver", "settle"],
        arena_id: int | UnsetType = UNSET,
        result_positions: Sequence[int] | UnsetType = UNSET,
        result_scores: Mapping[int, int] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Game]:
        """Rule what becomes of a game whose machine is out of order; the ruling stays as a note.

        `POST /api/tournaments/{tournamentId}/games/{gameId}/ruling`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "games", game_id, "ruling"),
            Game,
            in_data=True,
            body={
                "ruling": ruling,
                "arenaId": arena_id,
                "resultPositions": result_positions,
                "resultScores": result_scores,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )
