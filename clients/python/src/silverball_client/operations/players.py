"""Operations of `client.players`."""

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.bodies import DecidedRow
from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.imports import PlayersImport
from silverball_wire.players import Claim, Player


class PlayersResource(Resource[M]):
    """Operations of `client.players`."""

    @operation
    def approve_claim(
        self, player_id: int, *, user_id: int, idempotency_key: str | None = None
    ) -> Request[Player]:
        """Approve a claim: from now on the player is this user.

        `PUT /api/players/{playerId}/claim`. Needs a token with the ability `manage`.
        """
        return Request(
            "PUT",
            ("players", player_id, "claim"),
            Player,
            in_data=True,
            body={"userId": user_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def claim(self, player_id: int, *, idempotency_key: str | None = None) -> Request[Player]:
        """Claim a player as the caller; the player's organizer must approve it.

        `POST /api/players/{playerId}/claim`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("players", player_id, "claim"),
            Player,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def claims(self) -> Request[tuple[Claim, ...]]:
        """Pending claims: the caller's own, and those on players of the caller's book.

        `GET /api/players/claims`.
        """
        return Request(
            "GET",
            ("players", "claims"),
            tuple[Claim, ...],
            in_data=True,
        )

    @operation
    def create(
        self,
        *,
        name: str,
        ifpa_id: int | None | UnsetType = UNSET,
        number_wins: bool | UnsetType = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        labels: Sequence[str] | UnsetType = UNSET,
        label_color: str | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Player]:
        """Add a player to the caller's book.

        `POST /api/players`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("players",),
            Player,
            in_data=True,
            body={
                "name": name,
                "ifpaId": ifpa_id,
                "numberWins": number_wins,
                "status": status,
                "labels": labels,
                "labelColor": label_color,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(self, player_id: int, *, idempotency_key: str | None = None) -> Request[Player]:
        """Delete a player who is in no tournament, and return them as they were.

        `DELETE /api/players/{playerId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("players", player_id),
            Player,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def give_up_claim(
        self, player_id: int, *, user: int | None = None, idempotency_key: str | None = None
    ) -> Request[Player]:
        """Withdraw a claim, or reject it as the player's organizer, approved or not.

        `DELETE /api/players/{playerId}/claim`. Needs a token with the ability `score`.
        """
        return Request(
            "DELETE",
            ("players", player_id, "claim"),
            Player,
            in_data=True,
            query={"user": user},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def import_list(
        self,
        *,
        text: str | UnsetType = UNSET,
        file: bytes | UnsetType = UNSET,
        encoding: Literal["utf-8", "utf-16-le", "utf-16-be", "windows-1252", "windows-1250", "mac-roman"]
        | UnsetType = UNSET,
        sheet: str | UnsetType = UNSET,
        columns: Sequence[
            Literal[
                "name",
                "first",
                "middle",
                "last",
                "number",
                "seed",
                "town",
                "country",
                "initials",
                "pronouns",
                "paid",
                "ordinal",
                "place",
                "score",
                "machine",
                "shortName",
                "opdbId",
                "other",
            ]
        ]
        | UnsetType = UNSET,
        plan: str | UnsetType = UNSET,
        name_order: Literal["firstLast", "lastFirst"] | UnsetType = UNSET,
        tournament_id: int | UnsetType = UNSET,
        rows: Sequence[DecidedRow] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[PlayersImport]:
        """Look at a list of players, or store its rows.

        `POST /api/players/import`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("players", "import"),
            PlayersImport,
            in_data=True,
            body={
                "text": text,
                "file": file,
                "encoding": encoding,
                "sheet": sheet,
                "columns": columns,
                "plan": plan,
                "nameOrder": name_order,
                "tournamentId": tournament_id,
                "rows": rows,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @paged
    def list(
        self,
        *,
        status: Literal["active", "inactive"] | None = None,
        players: Sequence[int] | None = None,
        page: int = 1,
    ) -> Request[Player]:
        """The caller's players.

        `GET /api/players`.
        """
        return Request(
            "GET",
            ("players",),
            Player,
            query={"status": status, "players": players, "page": page},
        )

    @operation
    def merge(
        self, player_id: int, *, other_player_id: int, idempotency_key: str | None = None
    ) -> Request[Player]:
        """Merge two entries of one person; the named one takes over all results.

        `POST /api/players/{playerId}/merge`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("players", player_id, "merge"),
            Player,
            in_data=True,
            body={"playerId": other_player_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def resolve(self, *, players: Sequence[int]) -> Request[tuple[Player, ...]]:
        """Players by their ids.

        `GET /api/players/resolve-unknown`.
        """
        return Request(
            "GET",
            ("players", "resolve-unknown"),
            tuple[Player, ...],
            in_data=True,
            query={"players": players},
        )

    @operation
    def update(
        self,
        player_id: int,
        *,
        name: str | UnsetType = UNSET,
        ifpa_id: int | UnsetType | None = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        labels: Sequence[str] | UnsetType = UNSET,
        label_color: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Player]:
        """Change a player of the caller's book, in all tournaments.

        `PATCH /api/players/{playerId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("players", player_id),
            Player,
            in_data=True,
            body={
                "name": name,
                "ifpaId": ifpa_id,
                "status": status,
                "labels": labels,
                "labelColor": label_color,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )
