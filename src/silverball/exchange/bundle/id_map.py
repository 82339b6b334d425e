"""The ids that the things in a bundle get here: kept, mapped as in earlier files of its source, or new."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from silverball.service.moving import reads as moving_reads
from silverball.service.moving.reads import BroughtPlayer
from silverball.store.database.engine import Db
from silverball.store.tournament import imports
from silverball.store.tournament.imports import OWNER, IdMap
from silverball_wire.base import UnsetType
from silverball_wire.bundle import Bundle

# The objects of a decoded file, however deep they are.


NODES_MAX = 5_000_000


def json_objects(raw: Any, untouched: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Every object in the value, from the outside; members of these names are not looked into."""
    pending = [raw]
    for _ in range(NODES_MAX):
        if not pending:
            return
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending.extend(member for key, member in value.items() if key not in untouched)
        elif isinstance(value, list):
            pending.extend(item for item in value if isinstance(item, (dict, list)))


# New ids for everything in a bundle, or a new owner. Works on the JSON as it was read.


# Name of a member -> the name of the id that it holds. A list holds several.
ID_MEMBERS: dict[str, str] = {
    "tournamentId": "tournamentId",
    "roundId": "roundId",
    "gameId": "gameId",
    "gameIds": "gameId",
    "suggestionId": "suggestionId",
    "singlePlayerGameId": "singlePlayerGameId",
    "singlePlayerGameIds": "singlePlayerGameId",
    "cardId": "cardId",
    "queueId": "queueId",
    "shortcutId": "shortcutId",
    "playerId": "playerId",
    "playerIds": "playerId",
    "playerIdAdvantage": "playerId",
    "resultPositions": "playerId",
    "results": "playerId",
    "arenaId": "arenaId",
    "arenaIds": "arenaId",
    "bankId": "bankId",
    "locationId": "locationId",
    "seriesId": "seriesId",
    "eventId": "eventId",
    "userId": "userId",
    "directorIds": "userId",
    "organizerId": "userId",
    "claimedBy": "userId",
    "actorId": "userId",
    "scorekeeperId": "userId",
    "activeGames": "gameId",
    "entryId": "entryId",
    "finishingOrder": "playerId",
    "forfeitedBy": "playerId",
    "gaveUp": "playerId",
    "givenIds": "playerId",
    "seededIds": "playerId",
    "leftIds": "playerId",
}
# Members that belong to other services, or that nothing here reads: left unchanged.
UNTOUCHED_MEMBERS = frozenset(
    {"linkedTournaments", "managers", "prizePool", "scorbitData", "pointsMapCustom", "userIds"}
)


def ids_in(raw: Any) -> dict[str, set[int]]:
    """Name of an id -> the ids of that name in the bundle."""
    ids_by_name: dict[str, set[int]] = {}
    for holder, key, name in _id_holders(raw):
        values = holder[key] if isinstance(holder[key], list) else [holder[key]]
        ids_by_name.setdefault(name, set()).update(
            item for item in values if isinstance(item, int) and item > 0
        )
    return {name: ids for name, ids in sorted(ids_by_name.items()) if ids}


def draw_new_ids(ids: Mapping[str, Collection[int]], chosen: IdMap, highest: Mapping[str, int]) -> IdMap:
    """Name of an id -> old id -> new id: the chosen one, or one above every id in use, in the old order."""
    numbered: IdMap = {}
    for name, olds in ids.items():
        own = chosen.get(name, {})
        first = max(highest.get(name, 0), *own.values(), 0) + 1
        rest = sorted(set(olds) - set(own))
        numbered[name] = {old: own[old] for old in olds if old in own}
        numbered[name].update(zip(rest, range(first, first + len(rest)), strict=True))
    return {name: dict(sorted(pairs.items())) for name, pairs in numbered.items()}


def renumber(raw: Any, ids: IdMap) -> None:
    """Replace the old ids by the new ones."""
    for holder, key, name in list(_id_holders(raw)):
        holder[key] = _map_ids(holder[key], ids.get(name, {}))
    players = ids.get("playerId", {})
    for holder in json_objects(raw, UNTOUCHED_MEMBERS):
        if "suggestionId" in holder and isinstance(holder.get("scores"), dict):
            scores = holder["scores"]
            holder["scores"] = {str(_map_id_text(key, players)): score for key, score in scores.items()}


def refer_to_known(db: Db, source: str, raw: Any) -> None:
    """Give links, and what a final was made from, the numbers here of what the source has brought before.

    A final whose source is not here follows nothing: its number may be that of another tournament.
    """
    engine = raw.get("engine") or {}
    made_from = engine.get("finalSource") or {}
    links = raw["tournament"].get("linkedTournaments") or ()
    named = {made_from.get("sourceTournament"), *(link.get("tournamentId") for link in links)}
    wanted = {"tournamentId": named - {None}, "seriesId": {made_from.get("sourceSeries")} - {None}}
    mapped = imports.known_ids(db, source, wanted)
    stored = moving_reads.all_stored_ids(db, {kind: pairs.values() for kind, pairs in mapped.items()})
    known = _stored_pairs(mapped, stored)
    for link in links:
        if link.get("tournamentId") in known["tournamentId"]:
            link["tournamentId"] = known["tournamentId"][link["tournamentId"]]
    for key, kind in (("sourceTournament", "tournamentId"), ("sourceSeries", "seriesId")):
        if made_from.get(key) is not None:
            made_from[key] = known[kind].get(made_from[key])
    if made_from and made_from["sourceTournament"] is None and made_from["sourceSeries"] is None:
        del engine["finalSource"]


def set_owner(raw: Any, owner_id: int) -> None:
    """Give the tournament, and all that its organizer owns in the bundle, to this user."""
    organizer_id = raw["tournament"]["organizerId"]
    for holder, key, _ in list(_id_holders(raw)):
        if key == "organizerId" and holder[key] == organizer_id:
            holder[key] = owner_id


def _map_ids(value: Any, ids: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_map_id(item, ids) for item in value]
    return _map_id(value, ids)


def _map_id(value: Any, ids: Mapping[int, int]) -> Any:
    return ids.get(value, value) if isinstance(value, int) and not isinstance(value, bool) else value


def _map_id_text(text: str, ids: Mapping[int, int]) -> int | str:
    return ids.get(int(text), text) if text.isascii() and text.isdigit() else text


def _id_holders(raw: Any) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Object, member and name of the id, for every member that holds ids."""
    for holder in json_objects(raw, UNTOUCHED_MEMBERS):
        for key in holder:
            if key in ID_MEMBERS:
                yield holder, key, ID_MEMBERS[key]


# People of a source who are here already under another id of it: entries in the books of two organizers.


def same_people(
    db: Db, raw: Any, source: str, players: Mapping[int, int], users: Mapping[int, int]
) -> dict[int, int]:
    """Id in the file -> id here, of entries that are new and of a person whom the source has brought before.

    An account that claimed both entries is one person, and so is a federation number where the claims
    agree; both entries must be in the book of one account here. Two entries in one file are two people.
    `players` and `users` are the ids here of those that are known.
    """
    entries = {entry["playerId"]: entry for entry in _entries(raw)}
    new = {player_id: entry for player_id, entry in entries.items() if player_id not in players}
    taken = {players[player_id] for player_id in entries if player_id in players}
    books = {users[entry["organizerId"]] for entry in new.values() if entry.get("organizerId") in users}
    known = moving_reads.known_people(db, source, books)
    found: dict[int, int] = {}
    for player_id, entry in sorted(new.items()):
        mine = [person for person in known if person.organizer_id == users.get(entry.get("organizerId") or 0)]
        same = {person.player_id for person in mine if _is_same(entry, person, users)} - taken
        if len(same) == 1:
            (found[player_id],) = same
            taken |= same
    return found


def _entries(raw: Any) -> Iterator[dict[str, Any]]:
    """The players of a file, in the tournament and beside it."""
    for listed in (raw["tournament"].get("players"), raw.get("signUpPlayers"), raw.get("formerPlayers")):
        yield from listed or ()


def _is_same(entry: Mapping[str, Any], person: BroughtPlayer, users: Mapping[int, int]) -> bool:
    claimed_by, ifpa_id = users.get(entry.get("claimedBy") or 0), entry.get("ifpaId")
    if claimed_by != person.claimed_by:
        # Where only one is claimed, the other would take the claim away.
        return False
    return claimed_by is not None or (ifpa_id is not None and ifpa_id == person.ifpa_id)


# Larger ids are not kept, because scripts of pages cannot hold them exactly.
KEPT_ID_MAX = 2**53 - 1
# The source of files that name none.
UNNAMED = "files"


def source_of(db: Db, bundle: Bundle, *, new_ids: bool) -> str | None:
    """The name of the service whose ids the file has; None when they are those of this database.

    A file of another service says no name; its ids are taken for our own too, unless none are kept.
    """
    if isinstance(bundle.source, UnsetType):
        return UNNAMED if new_ids else None
    return None if bundle.source == imports.site_name(db) and not new_ids else bundle.source


def choose_ids(db: Db, raw: Any, source: str | None, *, new_ids: bool) -> IdMap:
    """Name of an id -> id in the file -> id here, for all ids of the file.

    What the source's map has stays so. Of all else, ids that are free here are kept, or with `new_ids`
    none. Without a source nothing is known.
    """
    ids = ids_in(raw)
    mapped = {} if source is None else imports.known_ids(db, source, ids)
    wished = {
        kind: () if new_ids else {each for each in of_kind if each <= KEPT_ID_MAX}
        for kind, of_kind in ids.items()
    }
    looked_up = {kind: {*wished[kind], *mapped.get(kind, {}).values()} for kind in ids}
    stored = moving_reads.all_stored_ids(db, looked_up)
    # Without things that were deleted here since.
    known = _stored_pairs(mapped, stored)
    if source is not None:
        players, users = known.setdefault("playerId", {}), known.get("userId", {})
        players.update(same_people(db, raw, source, players, users))
    for kind, of_kind in wished.items():
        chosen = known.setdefault(kind, {})
        chosen.update({free: free for free in set(of_kind) - set(chosen) - stored[kind]})
    return draw_new_ids(ids, known, moving_reads.highest_ids(db))


def remember_ids(db: Db, source: str, ids: IdMap, owner: tuple[int, int] | None) -> None:
    """Store the map of a file that was imported, for later files of its source.

    `owner` is the organizer in the file, and the account here that has their things.
    """
    # An id that the file names for nothing that is stored is given out again, to something else.
    stored = moving_reads.all_stored_ids(db, {kind: pairs.values() for kind, pairs in ids.items()})
    remembered = _stored_pairs(ids, stored)
    if owner is not None:
        remembered[OWNER] = dict([owner])
    imports.remember_ids(db, source, remembered)


def known_owner(db: Db, source: str, organizer_id: int) -> int | None:
    """The account that got the things of this organizer in an earlier file of the source."""
    owner_id = imports.known_ids(db, source, {OWNER: [organizer_id]})[OWNER].get(organizer_id)
    return owner_id if owner_id in moving_reads.stored_ids(db, "userId", [owner_id or 0]) else None


def _stored_pairs(ids: IdMap, stored: Mapping[str, Collection[int]]) -> IdMap:
    """The pairs whose thing is here."""
    return {
        kind: {remote: local for remote, local in pairs.items() if local in stored[kind]}
        for kind, pairs in ids.items()
    }
