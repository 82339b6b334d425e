"""Operations of `client.tournaments`: who plays."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.bodies import ListedEntrantPatch, NewEntrant
from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.players import Player
from silverball_wire.singleplayer import EntryPurchase


class TournamentRoster(Resource[M]):
    """Operations of `client.tournaments`: who plays."""

    @operation
    def add_entries(
        self,
        tournament_id: int,
        player_id: int,
        *,
        type: Literal["regular", "comped", "refund"] | UnsetType = UNSET,
        quantity: int | UnsetType = UNSET,
        amount: Decimal | float | None | UnsetType = UNSET,
        currency: str | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[EntryPurchase]:
        """Record entries that a player bought, got free of charge or returned.

        `POST /api/tournaments/{tournamentId}/players/{playerId}/entries`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "players", player_id, "entries"),
            EntryPurchase,
            in_data=True,
            body={"type": type, "quantity": quantity, "amount": amount, "currency": currency},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def add_players(
        self,
        tournament_id: int,
        *,
        player_id: int | UnsetType = UNSET,
        name: str | UnsetType = UNSET,
        ifpa_id: int | UnsetType | None = UNSET,
        number_wins: bool | UnsetType = UNSET,
        strikes: int | UnsetType = UNSET,
        points_adjustment: Decimal | float | UnsetType = UNSET,
        seed: int | UnsetType | None = UNSET,
        labels: Sequence[str] | UnsetType = UNSET,
        label_color: str | UnsetType | None = UNSET,
        game_id: int | UnsetType = UNSET,
        players: Sequence[NewEntrant] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Player | tuple[Player, ...]]:
        """Add one player, or all of `players`; late entrants of a knockout come with their strikes.

        `POST /api/tournaments/{tournamentId}/players`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "players"),
            Player | tuple[Player, ...],
            in_data=True,
            body={
                "playerId": player_id,
                "name": name,
                "ifpaId": ifpa_id,
                "numberWins": number_wins,
                "strikes": strikes,
                "pointsAdjustment": points_adjustment,
                "seed": seed,
                "labels": labels,
                "labelColor": label_color,
                "gameId": game_id,
                "players": players,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def forfeit_player(
        self,
        tournament_id: int,
        player_id: int,
        *,
        what: Literal["games", "leaves", "did-not-come"] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Player]:
        """Give up the open games of a player, let them leave, or take out who did not come.

        `POST /api/tournaments/{tournamentId}/players/{playerId}/forfeit`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "players", player_id, "forfeit"),
            Player,
            in_data=True,
            body={"what": what},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def players(self, tournament_id: int) -> Request[tuple[Player, ...]]:
        """All players of a tournament, as `includePlayers` embeds them.

        `GET /api/tournaments/{tournamentId}/players`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "players"),
            tuple[Player, ...],
            in_data=True,
        )

    @operation
    def remove_player(
        self, tournament_id: int, player_id: int, *, idempotency_key: str | None = None
    ) -> Request[Player]:
        """Remove a player who has not played.

        `DELETE /api/tournaments/{tournamentId}/players/{playerId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "players", player_id),
            Player,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def resolve_players(self, tournament_id: int, *, players: Sequence[int]) -> Request[tuple[Player, ...]]:
        """Players of a tournament by their ids.

        `GET /api/tournaments/{tournamentId}/players/resolve-unknown`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "players", "resolve-unknown"),
            tuple[Player, ...],
            in_data=True,
            query={"players": players},
        )

    @operation
    def update_player(
        self,
        tournament_id: int,
        player_id: int,
        *,
        seed: int | UnsetType | None = UNSET,
        labels: Sequence[str] | UnsetType = UNSET,
        label_color: str | UnsetType | None = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        points_adjustment: Decimal | float | UnsetType = UNSET,
        score_adjustment: Decimal | float | UnsetType = UNSET,
        away_rounds: int | UnsetType = UNSET,
        open_game: Literal["keep", "last", "fewer"] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Player]:
        """Change a player's seed, labels, status or adjustments.

        `PATCH /api/tournaments/{tournamentId}/players/{playerId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "players", player_id),
            Player,
            in_data=True,
            body={
                "seed": seed,
                "labels": labels,
                "labelColor": label_color,
                "status": status,
                "pointsAdjustment": points_adjustment,
                "scoreAdjustment": score_adjustment,
                "awayRounds": away_rounds,
                "openGame": open_game,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def update_players(
        self, tournament_id: int, *, players: Sequence[ListedEntrantPatch], idempotency_key: str | None = None
    ) -> Request[tuple[Player, ...]]:
        """Change several players at once, for example drop them.

        `PATCH /api/tournaments/{tournamentId}/players`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "players"),
            tuple[Player, ...],
            in_data=True,
            body={"players": players},
            is_write=True,
            idempotency_key=idempotency_key,
        )
