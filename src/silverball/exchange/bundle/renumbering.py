"""New ids for everything in a bundle, or a new owner. Works on the JSON as it was read."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from silverball.exchange.bundle.json_objects import json_objects
from silverball.store.remote_ids import IdMap

# Name of a member -> the name of the id that it holds. A list holds several.
ID_MEMBERS: dict[str, str] = {
    "tournamentId": "tournamentId",
    "roundId": "roundId",
    "gameId": "gameId",
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
    "userIds": "userId",
    "directorIds": "userId",
    "organizerId": "userId",
    "claimedBy": "userId",
    "actorId": "userId",
    "scorekeeperId": "userId",
    "activeGames": "gameId",
    "entryId": "entryId",
    "finishingOrder": "playerId",
    "forfeitedBy": "playerId",
}
# Members that belong to other services, or that nothing here reads: left unchanged.
UNTOUCHED_MEMBERS = frozenset(
    {"linkedTournaments", "managers", "prizePool", "scorbitData", "pointsMapCustom"}
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


def new_ids(ids: Mapping[str, Collection[int]], chosen: IdMap, highest: Mapping[str, int]) -> IdMap:
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
