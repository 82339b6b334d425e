"""Operations of `client.opdb`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.machines import OpdbChange, OpdbEntry, OpdbEntryBundle


class OpdbResource(Resource[M]):
    """Operations of `client.opdb`."""

    @operation
    def changelog(self) -> Request[tuple[OpdbChange, ...]]:
        """Ids of the machine database that were replaced or deleted, oldest first.

        `GET /api/opdb/changelog`.
        """
        return Request(
            "GET",
            ("opdb", "changelog"),
            tuple[OpdbChange, ...],
            in_data=True,
        )

    @operation
    def entry(
        self, opdb_id: str, *, include_people: bool = False, include_images: bool = False
    ) -> Request[OpdbEntry]:
        """One entry of the machine database. Use the bulk file to read many.

        `GET /api/opdb/entry/{opdbId}`.
        """
        return Request(
            "GET",
            ("opdb", "entry", opdb_id),
            OpdbEntry,
            in_data=True,
            query={"includePeople": include_people, "includeImages": include_images},
        )

    @operation
    def entry_with_videos(
        self, opdb_id: str, *, include_people: bool = False, include_images: bool = False
    ) -> Request[OpdbEntryBundle]:
        """One entry of the machine database with the videos about its title.

        `GET /api/opdb/entries/{opdbId}`.
        """
        return Request(
            "GET",
            ("opdb", "entries", opdb_id),
            OpdbEntryBundle,
            query={"includePeople": include_people, "includeImages": include_images},
        )
