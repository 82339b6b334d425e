"""Erase a person from the stored replies of repeated requests. The keys stay, so a retry still acts once."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlencode, urlsplit, urlunsplit

import msgspec
from sqlalchemy import ColumnElement, Connection, or_, select, update

from silverball.store.erasures import PendingErasure
from silverball.store.tables import idempotency

# What a reply says of a person beside the name.
ERASED_FIELDS = frozenset({
    "firstName", "lastName", "ifpaId", "flag", "location", "pronouns", "initials", "avatar", "banner",
    "tournamentAvatar", "clubId", "claimedBy", "labelColor",
})  # fmt: skip
_REPLY = idempotency.c


def erase_from_replies(db: Connection, pending: PendingErasure, owner_id: int) -> None:
    """Give the person and their players their pseudonyms in the stored replies of one account.

    A reply about somebody else of the same name stays as it is.
    """
    eraser = ReplyEraser(pending)
    rows = select(_REPLY.key, _REPLY.body).where(_REPLY.user_id == owner_id, eraser.may_be_named())
    for key, body in db.execute(rows).all():
        own = (_REPLY.user_id == owner_id, _REPLY.key == key)
        db.execute(update(idempotency).where(*own).values(body=eraser.erase_text(body)))


class ReplyEraser:
    """Replaces one person in replies."""

    def __init__(self, pending: PendingErasure) -> None:
        self._user_id = pending.user_id
        self._players = pending.players
        self._names = {pending.name, *pending.players.values()}

    def erase_text(self, body: str) -> str:
        """The reply without the person; as it is where it is no JSON, which names nobody."""
        try:
            erased = self.erase(msgspec.json.decode(body))
        except msgspec.DecodeError:
            return body
        return msgspec.json.encode(erased).decode()

    def may_be_named(self) -> ColumnElement[bool]:
        """The condition of the rows that have one of the names as a whole string or in an address."""
        return or_(
            *(
                _REPLY.body.contains(spelling, autoescape=True)
                for name in self._names
                for spelling in (
                    msgspec.json.encode(name).decode(),
                    f"={quote_plus(name)}",
                    f"={quote(name)}",
                )
            )
        )

    def erase(self, value: Any) -> Any:
        """The value without the person."""
        if isinstance(value, list):
            return [self.erase(element) for element in value if not self._is_manager(element)]
        if isinstance(value, dict):
            pseudonym = self._pseudonym(value)
            erase = self._member if pseudonym is None else _personal_member(pseudonym, self._names)
            return {key: erase(key, self.erase(member)) for key, member in value.items()}
        return value

    def _pseudonym(self, record: Mapping[str, Any]) -> str | None:
        """The pseudonym of the record's subject; None when that is somebody else."""
        player_id, user_id = record.get("playerId"), record.get("userId")
        if isinstance(player_id, int) and player_id in self._players:
            return f"Player {player_id}"
        return f"Player {user_id}" if user_id == self._user_id else None

    def _is_manager(self, element: Any) -> bool:
        # Imported tournaments name their managers, and nothing else of them.
        return isinstance(element, dict) and element.keys() == {"name"} and element["name"] in self._names

    def _member(self, key: str, value: Any) -> Any:
        is_address = key == "to" and isinstance(value, str)
        return self._address(value) if is_address else value

    def _address(self, address: str) -> str:
        """The address to which a form led, without a search for the name."""
        parts = urlsplit(address)
        fields = parse_qsl(parts.query, keep_blank_values=True)
        if not any(value in self._names for _, value in fields):
            return address
        kept = [(name, value) for name, value in fields if value not in self._names]
        return urlunsplit(parts._replace(query=urlencode(kept)))


def _personal_member(pseudonym: str, names: set[str]) -> Callable[[str, Any], Any]:
    def erased(key: str, value: Any) -> Any:
        if key in ERASED_FIELDS:
            return None
        if key == "labels":
            return []
        return pseudonym if isinstance(value, str) and value in names else value

    return erased
