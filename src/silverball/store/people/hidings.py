"""Hidings: the number that outdates what was kept before, and filters for what was written before.

The number of hidings is part of every version by which nodes compare what they keep in memory, and is written
beside exported files: with the next number, all of that is out of date. Stored replies and announcements are
read through the filters below, which know the accounts themselves.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlencode, urlsplit, urlunsplit

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, or_, select, text, true, union, update

from silverball.store import tables
from silverball.store.database.conditions import ascending_batches
from silverball.store.people.unfinished_changes import UnfinishedChange, unfinished_changes

NAME = "hidings"
# What a hidden profile hides (interface.md 2, row 20), as replies name it.
HIDDEN_FIELDS = frozenset(
    {"ifpaId", "flag", "location", "pronouns", "initials", "avatar", "banner", "tournamentAvatar"}
)
# The accounts of a game's players, in order.
USER_IDS = "userIds"
# What a reply says of an erased person beside the name.
ERASED_FIELDS = HIDDEN_FIELDS | {"firstName", "lastName", "clubId", "claimedBy", "labelColor"}
_COUNT_ONE_MORE = text(
    "INSERT INTO site_value (name, value) VALUES (:name, '1') ON CONFLICT (name) DO UPDATE"
    " SET value = CAST(CAST(site_value.value AS BIGINT) + 1 AS TEXT) RETURNING value"
)
_COUNT = select(tables.site_value.c.value).where(tables.site_value.c.name == NAME)
_REPLY = tables.idempotency.c
# No account: of a text that everybody may read.
NOBODY = 0


def count_hiding(db: Connection) -> int:
    """Raise the number, and return it. Called last: until the commit, other hidings wait for its row."""
    return int(db.execute(_COUNT_ONE_MORE, {"name": NAME}).scalar_one())


def hiding_count(db: Connection) -> int:
    """The number of hidings as this connection sees it."""
    return int(db.execute(_COUNT).scalar_one_or_none() or 0)


def reply_as_shown(db: Connection, body: str, viewer_id: int) -> str:
    """A stored reply as this account may see it now."""
    return _erase_from(_hide_profiles(db, body, viewer_id), unfinished_changes(db))


def announcements_as_shown(db: Connection, texts: Collection[str]) -> list[str]:
    """The payloads of announcements without those who hid something since, in their order.

    They are deleted by the job that does the rest of such a change, so without it nothing is looked for.
    """
    names_people = any('"name":' in payload or f'"{USER_IDS}":' in payload for payload in texts)
    changes = unfinished_changes(db) if names_people else []
    if not changes:
        return list(texts)
    return [_erase_from(_hide_profiles(db, payload, NOBODY), changes) for payload in texts]


# Hidden profiles


def _hide_profiles(db: Connection, body: str, viewer_id: int) -> str:
    if '"pronouns":' not in body and '"claimedBy":' not in body:
        return body
    reply = msgspec.json.decode(body)
    people = {person for _, person in _records(reply)} - {viewer_id}
    hidden = _hidden_users(db, people) if people else frozenset()
    if not hidden or _is_admin(db, viewer_id):
        return body
    for record, person in _records(reply):
        if person in hidden:
            record.update(dict.fromkeys(HIDDEN_FIELDS & record.keys()))
    return msgspec.json.encode(reply).decode()


def _records(value: Any) -> Iterator[tuple[dict[str, Any], int]]:
    """The users and claimed players in a decoded reply, each with the account."""
    if isinstance(value, dict):
        # Other things than users have the id of one, but no pronouns.
        person = value.get("userId") if "pronouns" in value else value.get("claimedBy")
        if isinstance(person, int):
            yield value, person
        members: Collection[Any] = value.values()
    else:
        members = value if isinstance(value, list) else ()
    for member in members:
        yield from _records(member)


def _hidden_users(db: Connection, user_ids: Collection[int]) -> frozenset[int]:
    hidden: set[int] = set()
    for batch in ascending_batches(user_ids):
        rows = select(tables.user.c.user_id).where(
            tables.user.c.user_id.in_(batch), tables.user.c.profile_opt_out == true()
        )
        hidden.update(db.execute(rows).scalars())
    return frozenset(hidden)


def _is_admin(db: Connection, user_id: int) -> bool:
    row = select(tables.user.c.user_id).where(tables.user.c.user_id == user_id, tables.user.c.role == "admin")
    return db.execute(row).first() is not None


# Erased people


def erase_from_replies(db: Connection, change: UnfinishedChange, owner_id: int) -> None:
    """Give an erased person and their players their pseudonyms in the stored replies of one account.

    The keys stay, so a retry still acts once. A reply about somebody else of the same name stays as it is.
    """
    eraser = PersonEraser(change)
    rows = select(_REPLY.key, _REPLY.body).where(_REPLY.user_id == owner_id, eraser.may_be_named())
    for key, body in db.execute(rows).all():
        own = (_REPLY.user_id == owner_id, _REPLY.key == key)
        db.execute(update(tables.idempotency).where(*own).values(body=eraser.erase_text(body)))


def _erase_from(body: str, changes: Collection[UnfinishedChange]) -> str:
    for change in changes:
        if change.name is not None:
            body = PersonEraser(change).erase_text(body)
    return body


class PersonEraser:
    """Replaces one erased person in replies and announcements."""

    def __init__(self, change: UnfinishedChange) -> None:
        self._user_id = change.user_id
        self._players = change.players
        self._names = {change.name or "", *change.players.values()}

    def erase_text(self, body: str) -> str:
        """The text without the person; as it is where it does not name them, or is no JSON."""
        try:
            value = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return body
        erased = self.erase(value)
        return body if erased == value else msgspec.json.encode(erased).decode()

    def may_be_named(self) -> ColumnElement[bool]:
        """The condition of the rows that may name the person.

        They have one of the names as a whole string or in an address, or the account in a list of ids.
        """
        return or_(
            *(
                _REPLY.body.contains(f"{before}{self._user_id}{after}", autoescape=True)
                for before in "[,"
                for after in ",]"
            ),
            *(
                _REPLY.body.contains(spelling, autoescape=True)
                for name in self._names
                for spelling in (
                    msgspec.json.encode(name).decode(),
                    f"={quote_plus(name)}",
                    f"={quote(name)}",
                )
            ),
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
        if key == USER_IDS and isinstance(value, list):
            return [None if user_id == self._user_id else user_id for user_id in value]
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


IdsByTournament = dict[int, list[int]]


def running_tournaments(db: Connection, tournament_ids: Collection[int]) -> list[int]:
    """Those of these tournaments that are not completed, ascending."""
    running: list[int] = []
    for batch in ascending_batches(tournament_ids):
        rows = select(tables.tournament.c.tournament_id).where(
            tables.tournament.c.tournament_id.in_(batch), tables.tournament.c.status != "completed"
        )
        running += db.execute(rows.order_by(tables.tournament.c.tournament_id)).scalars()
    return running


def entrants_by_tournament(
    db: Connection, tournament_ids: Collection[int], player_ids: Collection[int]
) -> IdsByTournament:
    """Tournament id -> those of the players who are entrants there."""
    columns = select(tables.entrant.c.tournament_id, tables.entrant.c.player_id)
    return _group_running(db, tournament_ids, columns.where(tables.entrant.c.player_id.in_(player_ids)))


def claimed_entrants_by_tournament(
    db: Connection,
    tournament_ids: Collection[int],
    user_ids: Collection[int],
    player_ids: Collection[int] = (),
) -> IdsByTournament:
    """Tournament id -> its players who are claimed by one of the users, or are among these players."""
    claimed = select(tables.player.c.player_id).where(tables.player.c.claimed_by.in_(user_ids))
    is_theirs = or_(tables.entrant.c.player_id.in_(claimed), tables.entrant.c.player_id.in_(player_ids))
    columns = select(tables.entrant.c.tournament_id, tables.entrant.c.player_id)
    ids: IdsByTournament = {}
    for batch in ascending_batches(tournament_ids):
        ids |= _group_running(db, batch, columns.where(tables.entrant.c.tournament_id.in_(batch), is_theirs))
    return ids


def arenas_by_tournament(
    db: Connection, tournament_ids: Collection[int], arena_ids: Collection[int]
) -> IdsByTournament:
    """Tournament id -> those of the arenas that it shows: in its lineup, in a bank, in a game."""
    in_banks = (
        select(tables.lineup_bank.c.tournament_id, tables.bank_arena.c.arena_id)
        .join(tables.bank_arena, tables.bank_arena.c.bank_id == tables.lineup_bank.c.bank_id)
        .where(tables.bank_arena.c.arena_id.in_(arena_ids))
    )
    in_play = [
        select(table.c.tournament_id, table.c.arena_id).where(table.c.arena_id.in_(arena_ids))
        for table in (tables.lineup_arena, tables.game, tables.round_, tables.single_player_game)
    ]
    pairs = union(in_banks, *in_play).subquery()
    return _group_running(db, tournament_ids, select(pairs.c.tournament_id, pairs.c.arena_id))


def tournaments_staffed_by(
    db: Connection, tournament_ids: Collection[int], user_ids: Collection[int]
) -> list[int]:
    """Those of the tournaments that one of the users organizes or keeps scores in, ascending."""
    own, keeper = tables.tournament.c, tables.scorekeeper.c
    staffed: list[int] = []
    for batch in ascending_batches(tournament_ids):
        organized = select(own.tournament_id).where(
            own.tournament_id.in_(batch), own.organizer_id.in_(user_ids)
        )
        scored = select(keeper.tournament_id).where(
            keeper.tournament_id.in_(batch), keeper.user_id.in_(user_ids)
        )
        both = union(organized, scored).subquery()
        staffed += sorted(db.execute(select(both.c.tournament_id)).scalars())
    return staffed


def tournaments_linking_to(db: Connection, tournament_id: int) -> list[int]:
    """The tournaments that link to this one, ascending."""
    link = tables.tournament_link.c
    rows = select(link.tournament_id).where(link.linked_tournament_id == tournament_id).distinct()
    return list(db.execute(rows.order_by(link.tournament_id)).scalars())


def _group_running(db: Connection, tournament_ids: Collection[int], pairs: Select[Any]) -> IdsByTournament:
    """Tournament id -> ids, from a statement for pairs of both, without completed tournaments."""
    running = set(running_tournaments(db, tournament_ids))
    ids: IdsByTournament = {}
    for tournament_id, row_id in db.execute(pairs):
        if tournament_id in running:
            ids.setdefault(tournament_id, []).append(row_id)
    return ids
