"""Writes that look at one thing more than the interface does, because somebody taps and looks away.

Each is called in the transaction of its request, and calls the slices' own writes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from silverball.kit.errors import Conflict, Invalid
from silverball.rules.mechanics import results
from silverball.service import access
from silverball.service.arenas import writes as arenas
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.games import bodies as game_bodies
from silverball.service.games import writes as games
from silverball.service.machines import reads as machines
from silverball.service.players import reads as players
from silverball.service.roster import bodies as roster_bodies
from silverball.service.roster import writes as roster
from silverball.web.console.form_bodies import MachinesToAdd, PlayersToAdd

# An arena's name is no longer than that.
NAME_MAX = 100


class ResultFromPage(game_bodies.EnteredResult, frozen=True, kw_only=True):
    """A result, and whether the game had none on the page that it was entered on."""

    was_open: bool = False


def record_result(call: Write[Any]) -> None:
    """The result of a game. Raises Conflict when a stale page would replace one that it never showed."""
    game_id = call.ids[games.GAME]
    before = results.find_game(commands.load_tournament(call, access.may_score), game_id)
    games.record_result(call)
    now = commands.load_tournament(call, access.may_score)
    after = next((one for one in now.games if one.game_id == game_id), None)
    if call.body.was_open and before.status == "completed" and after != before:
        raise Conflict(
            f"Game {game_id} has another result by now: somebody was quicker. Nothing was changed."
            " Correct it under Results if it is wrong."
        )


def add_players(call: Write[Any]) -> None:
    """Players join: those picked, and those named, who are taken from the book where it has the name.

    Raises Invalid for a name that the book has twice, and for somebody who is in already.
    """
    tournament = commands.load_tournament(call)
    body: PlayersToAdd = call.body
    organizer_id = tournament.details["organizer_id"]
    known = players.ids_by_name(call.db, organizer_id, body.names)
    here = tournament.entrant_by_id
    new: list[dict[str, Any]] = [{"playerId": one} for one in body.player_ids]
    picked = set(body.player_ids)
    for name in body.names:
        if body.names.count(name) > 1:
            sentence = f"{name} is in the list twice. Give one of the two another name, with an initial say."
            raise Invalid({"names": [sentence]})
        ids = known.get(name, ())
        fresh = [one for one in ids if one not in here and one not in picked]
        if len(fresh) > 1:
            sentence = f"Your book has {len(fresh)} players called {name}. Search for the name and pick one."
            raise Invalid({"names": [sentence]})
        if ids and not fresh:
            raise Invalid({"names": [f"{name} is in the tournament already. Take the line out."]})
        picked.update(fresh)
        new.append({"playerId": fresh[0]} if fresh else {"name": name})
    if body.strikes is not None:
        new = [{**one, "strikes": body.strikes} for one in new]
    roster.add_players(replace(call, body=msgspec.convert({"players": new}, roster_bodies.NewEntrants)))


def add_machines(call: Write[Any]) -> None:
    """New arenas, written into the organizer's book and taken into the tournament."""
    organizer_id = commands.load_tournament(call).details["organizer_id"]
    # The machine is the organizer's, also when an admin writes it down.
    owner = replace(call.caller, user_id=organizer_id)
    body: MachinesToAdd = call.body
    new = [{"name": name} for name in body.names]
    new += [{"name": name, "opdbId": opdb_id} for opdb_id, name in _known_machines(call, body.opdb_ids)]
    made = []
    for one in new:
        arena = msgspec.convert(one, arenas.NewArena)
        made.append({"arenaId": arenas.add_arena(replace(call, caller=owner, body=arena))})
    roster.add_arenas(replace(call, body=msgspec.convert({"arenas": made}, roster_bodies.NewLineupArenas)))


def _known_machines(call: Write[Any], opdb_ids: Sequence[str]) -> list[tuple[str, str]]:
    """Id and name of these machines. Raises Invalid for one that the machine database has not."""
    entries = machines.entries_by_id(call.db, opdb_ids)
    for opdb_id in opdb_ids:
        if opdb_id not in entries:
            raise Invalid({"opdbIds": [f"{opdb_id} is not in the machine database. Search for it again."]})
    return [(opdb_id, entries[opdb_id].name[:NAME_MAX]) for opdb_id in opdb_ids]
