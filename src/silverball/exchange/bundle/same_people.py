"""People of a source who are here already under another id of it: entries in the books of two organizers."""

from collections.abc import Iterator, Mapping
from typing import Any

from silverball.service.bundles.reads import people
from silverball.service.bundles.reads.people import BroughtPlayer
from silverball.store.engine import Db


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
    known = people.known_people(db, source, books)
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
