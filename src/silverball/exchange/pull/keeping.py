"""A pull whose tournaments all belong to the account that asked for it, as from a page.

An account is no authority on other accounts, nor on the ids of this site: people of the source become
players of its own book only, ids are given anew, and what is known of the source is known to it alone.
"""

from typing import Any

from msgspec import Struct

from silverball.exchange.bundle.json_objects import json_objects
from silverball.store import account_quotas, account_storage, remote_ids
from silverball.store.engine import Db

# The id that stands for the account in a file, whoever organized things at the source.
KEEPER = 1
# Members that are about other accounts.
ACCOUNTS = ("organizer", "scorekeepers", "directorIds", "actorId")


class Keeper(Struct, frozen=True):
    """The account here that gets all that is pulled, and how much it may have."""

    user_id: int
    tournaments_max: int = 0
    players_max: int = 0
    # Whether ids and short links of the source are kept where they are free here.
    keeps_ids: bool = False

    def map_name(self, source: str) -> str:
        """The name of the source in the table of ids: of this account's pulls only."""
        return f"{source} for account {self.user_id}"

    def remember_account(self, db: Db, source: str) -> None:
        """Let the file's account be this one."""
        remote_ids.remember_ids(db, self.map_name(source), {"userId": {KEEPER: self.user_id}})

    def require_room(self, db: Db) -> None:
        """Raise AccountQuotaReached or JournalFull when the account has more than it may."""
        account_storage.require_room_in_journal(db, self.user_id)
        account_quotas.require_within_limits(
            db, self.user_id, tournaments=self.tournaments_max, players=self.players_max
        )

    def give_all(self, raw: Any, remote_user: int | None) -> None:
        """Give everything in the file to this account, and name no other. `remote_user`: of the token."""
        for holder in json_objects(raw):
            for name in ACCOUNTS:
                holder.pop(name, None)
            if "organizerId" in holder:
                holder["organizerId"] = KEEPER
            if holder.get("claimedBy") is not None:
                holder["claimedBy"] = KEEPER if holder["claimedBy"] == remote_user else None
            if "userIds" in holder:
                holder["userIds"] = []
            if "scorekeeperId" in holder:
                holder["scorekeeperId"] = None
            if not self.keeps_ids:
                holder.pop("shortcut", None)
