"""Players and machines added by name, as the console takes them, with a check for duplicates."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name
from silverball.kit.values import convert
from silverball.rules.model.tournament import Tournament
from silverball.service.core import commands
from silverball.service.core.calls import Write
from silverball.service.machines import reads as machines
from silverball.service.outlook.reads import federation
from silverball.service.players import reads as players
from silverball.service.roster import writes
from silverball.service.roster.bodies import AT_ONCE_MAX, NewEntrants, NewLineupArenas, Strikes
from silverball.store.people import book

MACHINES_MAX = 100
NAME_LETTERS_MAX = 100
OpdbId = Annotated[str, Meta(max_length=40)]


class PlayersToAdd(Body, frozen=True, kw_only=True):
    """Players by name, and players picked from the book and from the federation's file."""

    names: Annotated[tuple[Name, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    player_ids: Annotated[tuple[Id, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    # Picked from the federation's file.
    ifpa_ids: Annotated[tuple[Id, ...], Meta(max_length=AT_ONCE_MAX)] = ()
    # The strikes of players who join a knockout late.
    strikes: Strikes | None = None
    # The game of the open round that a late player joins at once.
    game_id: Id | None = None
    # Leave out who is in the tournament already: somebody else has added them meanwhile.
    skips_present: bool = False

    def __post_init__(self) -> None:
        if not self.names and not self.player_ids and not self.ifpa_ids:
            raise Invalid({"names": ["Enter a name on each line, or pick players from your book."]})


class MachinesToAdd(Body, frozen=True, kw_only=True):
    """New arenas for the book and the tournament: by name, and by id of the machine database."""

    names: Annotated[tuple[Name, ...], Meta(max_length=MACHINES_MAX)] = ()
    opdb_ids: Annotated[tuple[OpdbId, ...], Meta(max_length=MACHINES_MAX)] = ()

    def __post_init__(self) -> None:
        if not self.names and not self.opdb_ids:
            raise Invalid({"names": ["Enter a name on each line, or tick machines that were found."]})


class NameAlreadyEntered(Invalid):
    """A name of a player who is in the tournament already."""


def add_players(call: Write[PlayersToAdd]) -> None:
    """Add the picked and the named players; a name that the book has means that player.

    Raises Invalid for a name that the book has twice, and, unless the body leaves them out, for a player who
    is in already. Who leaves out all of them changes nothing.
    """
    tournament, body = commands.load_tournament(call), call.body
    known_ids = players.ids_by_name(call.db, tournament.details["organizer_id"], body.names)
    entrants: list[dict[str, Any]] = [
        {"playerId": player_id}
        for player_id in body.player_ids
        if not body.skips_present or player_id not in tournament.entrant_by_id
    ]
    picked = set(body.player_ids)
    for name in body.names:
        if body.names.count(name) > 1:
            sentence = f"{name} is in the list twice. Give one of the two another name, with an initial say."
            raise Invalid({"names": [sentence]})
        if body.skips_present and _is_present(tournament, name, known_ids, picked):
            continue
        player_id = _find_player_by_name(tournament, name, known_ids, picked)
        entrants.append({"name": name} if player_id is None else {"playerId": player_id})
        picked |= set() if player_id is None else {player_id}
    entrants += _federation_entrants(call, tournament, picked)
    if not entrants:
        return
    if body.strikes is not None:
        entrants = [{**entrant, "strikes": body.strikes} for entrant in entrants]
    if body.game_id is not None:
        entrants = [{**entrant, "gameId": body.game_id} for entrant in entrants]
    writes.add_players(call.with_body(convert({"players": entrants}, NewEntrants)))


def _federation_entrants(
    call: Write[PlayersToAdd], tournament: Tournament, picked: set[int]
) -> list[dict[str, Any]]:
    """The people picked from the federation's file: those of the book, others with name and number."""
    picked_records = federation.records_by_ifpa(call.db, call.body.ifpa_ids)
    if len(picked_records) < len(set(call.body.ifpa_ids)):
        raise Invalid({"ifpaIds": ["One of them is not in the federation's file any more. Search again."]})
    organizer_id = tournament.details["organizer_id"]
    known_ids = players.ids_by_name(call.db, organizer_id, [record.name for record in picked_records])
    entrants: list[dict[str, Any]] = []
    for record in picked_records:
        if call.body.skips_present and _is_present(tournament, record.name, known_ids, picked):
            continue
        player_id = _find_player_by_name(tournament, record.name, known_ids, picked)
        if player_id is None:
            entrants.append({"name": record.name[:NAME_LETTERS_MAX], "ifpaId": record.ifpa_id})
        else:
            entrants.append({"playerId": player_id})
            picked.add(player_id)
    return entrants


def _is_present(
    tournament: Tournament, name: str, known_ids: Mapping[str, Sequence[int]], picked: set[int]
) -> bool:
    """Whether all players of this name that the book has are in already."""
    ids = known_ids.get(name, ())
    return bool(ids) and all(id_ in tournament.entrant_by_id or id_ in picked for id_ in ids)


def _find_player_by_name(
    tournament: Tournament, name: str, known_ids: Mapping[str, Sequence[int]], picked: set[int]
) -> int | None:
    """The one player of this name who is not in yet; None when the book has no such name."""
    ids = known_ids.get(name, ())
    free_ids = [
        player_id
        for player_id in ids
        if player_id not in tournament.entrant_by_id and player_id not in picked
    ]
    if len(free_ids) > 1:
        sentence = f"Your book has {len(free_ids)} players called {name}. Search for the name and pick one."
        raise Invalid({"names": [sentence]})
    if ids and not free_ids:
        raise NameAlreadyEntered({"names": [f"{name} is in the tournament already. Take the line out."]})
    return free_ids[0] if free_ids else None


def add_machines(call: Write[MachinesToAdd]) -> None:
    """Add new arenas to the organizer's book and to the tournament."""
    # The machines belong to the organizer, also when an admin adds them.
    organizer_id = commands.load_tournament(call).details["organizer_id"]
    named: list[tuple[str, str | None]] = [(name, None) for name in call.body.names]
    named += [(name, opdb_id) for opdb_id, name in _titles(call, call.body.opdb_ids)]
    arenas = [{"arenaId": _insert_arena(call, organizer_id, name, opdb_id)} for name, opdb_id in named]
    writes.add_arenas(call.with_body(convert({"arenas": arenas}, NewLineupArenas)))


def _insert_arena(call: Write[Any], organizer_id: int, name: str, opdb_id: str | None) -> int:
    values = {
        "name": convert(name, Name),
        "status": "active",
        "opdb_id": opdb_id,
        "category_id": None,
        "labels": (),
        "label_color": None,
    }
    return book.add(call.db, book.ARENA, organizer_id, values)


def _titles(call: Write[Any], opdb_ids: Sequence[str]) -> list[tuple[str, str]]:
    """OPDB ids with titles. Raises Invalid for an id that the machine database does not have."""
    entries = machines.entries_by_id(call.db, opdb_ids)
    for opdb_id in opdb_ids:
        if opdb_id not in entries:
            raise Invalid({"opdbIds": [f"{opdb_id} is not in the machine database. Search for it again."]})
    return [(opdb_id, entries[opdb_id].name[:NAME_LETTERS_MAX]) for opdb_id in opdb_ids]
