"""Operations of `client.arenas`."""

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.bodies import DecidedMachine
from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.arenas import Arena
from silverball_wire.imports import MachinesImport


class ArenasResource(Resource[M]):
    """Operations of `client.arenas`."""

    @operation
    def create(
        self,
        *,
        name: str,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        opdb_id: str | None | UnsetType = UNSET,
        category_id: int | None | UnsetType = UNSET,
        labels: Sequence[str] | UnsetType = UNSET,
        label_color: str | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Arena]:
        """Add an arena to the caller's book.

        `POST /api/arenas`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("arenas",),
            Arena,
            in_data=True,
            body={
                "name": name,
                "status": status,
                "opdbId": opdb_id,
                "categoryId": category_id,
                "labels": labels,
                "labelColor": label_color,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(self, arena_id: int, *, idempotency_key: str | None = None) -> Request[Arena]:
        """Delete an unused arena from the book; answers its last state.

        `DELETE /api/arenas/{arenaId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("arenas", arena_id),
            Arena,
            in_data=True,
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
        tournament_id: int | UnsetType = UNSET,
        rows: Sequence[DecidedMachine] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[MachinesImport]:
        """Look at a list of machines, or store its rows.

        `POST /api/arenas/import`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("arenas", "import"),
            MachinesImport,
            in_data=True,
            body={
                "text": text,
                "file": file,
                "encoding": encoding,
                "sheet": sheet,
                "columns": columns,
                "plan": plan,
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
        arenas: Sequence[int] | None = None,
        page: int = 1,
    ) -> Request[Arena]:
        """The caller's arenas.

        `GET /api/arenas`.
        """
        return Request(
            "GET",
            ("arenas",),
            Arena,
            query={"status": status, "arenas": arenas, "page": page},
        )

    @operation
    def merge(
        self, arena_id: int, *, other_arena_id: int, idempotency_key: str | None = None
    ) -> Request[Arena]:
        """Merge two entries of one machine; the named one takes over all games.

        `POST /api/arenas/{arenaId}/merge`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("arenas", arena_id, "merge"),
            Arena,
            in_data=True,
            body={"arenaId": other_arena_id},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def resolve(self, *, arenas: Sequence[int]) -> Request[tuple[Arena, ...]]:
        """Arenas by their ids.

        `GET /api/arenas/resolve-unknown`.
        """
        return Request(
            "GET",
            ("arenas", "resolve-unknown"),
            tuple[Arena, ...],
            in_data=True,
            query={"arenas": arenas},
        )

    @operation
    def update(
        self,
        arena_id: int,
        *,
        name: str | UnsetType = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        opdb_id: str | UnsetType | None = UNSET,
        category_id: int | UnsetType | None = UNSET,
        labels: Sequence[str] | UnsetType = UNSET,
        label_color: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Arena]:
        """Change an arena of the caller's book; its tournaments show the change.

        `PATCH /api/arenas/{arenaId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("arenas", arena_id),
            Arena,
            in_data=True,
            body={
                "name": name,
                "status": status,
                "opdbId": opdb_id,
                "categoryId": category_id,
                "labels": labels,
                "labelColor": label_color,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )
