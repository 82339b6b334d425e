"""People who signed themselves up become players: at the door, and when the tournament starts."""

from collections.abc import Sequence
from random import Random
from typing import Any

from silverball.kit.errors import Invalid, Sentence
from silverball.rules.commands import sign_ups
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Entrant, SignUpEntry, Tournament
from silverball.service.core import commands
from silverball.service.core.calls import Write
from silverball.service.money import reads
from silverball.service.players import reads as players
from silverball.service.roster import reads as roster_reads
from silverball.store.counts import quotas
from silverball.store.people import book
from silverball.store.tournament import chain, sign_up_requests
from silverball.store.tournament.sign_up_requests import SignUpRequest


def listed_ids(tournament: Tournament) -> set[int]:
    """The ids of who plays or waits for a place."""
    return {
        *tournament.entrant_by_id,
        *(entry.player_id for entry in waiting_list.waiting_entries(tournament)),
    }


def take_all(call: Write[Any]) -> bool:
    """Let everybody in who signed up and has a place, as one action, and return whether there was anybody."""
    tournament = commands.load_tournament(call)
    requests = [request for request, position in reads.untaken(call.db, tournament) if position is None]
    take(call, tournament, requests)
    return bool(requests)


def take(
    call: Write[Any],
    tournament: Tournament,
    requests: Sequence[SignUpRequest],
    *,
    as_player: int | None = None,
) -> list[int]:
    """Make players of these people, and return the ids of the players, who may be in already.

    `as_player`: who of the book the only one of them is. Raises Invalid for a player of another book.
    """
    listed = listed_ids(tournament)
    if as_player is None:
        ids = [_book_player(call, tournament, request.name) for request in requests]
    else:
        ids = [as_player for _ in requests]
    claimed = roster_reads.book_players(call.db, tournament.details["organizer_id"], ids)
    if as_player is not None and as_player not in claimed:
        sentence = Sentence("{player} is not in the organizer's book.", player=as_player)
        raise Invalid({"asPlayer": [sentence]})

    def rule(dice: Random) -> list[Change]:
        changes: list[Change] = []
        for request, player_id in zip(requests, ids, strict=True):
            if player_id in listed:
                continue
            entry = SignUpEntry(
                player_id=player_id, signed_up_at=request.signed_up_at, is_late=request.is_late
            )
            entrant = Entrant(player_id=player_id, user_id=claimed.get(player_id))
            changes += sign_ups.take(apply_changes(tournament, changes), entrant, entry, dice, call.now)
        return changes

    if requests:
        commands.run_command(call, lambda current: commands.decide_by_draw(current, "roster", rule))
    for request, player_id in zip(requests, ids, strict=True):
        sign_up_requests.settle(call.db, tournament.tournament_id, request.sign_up_id, player_id)
    return ids


def _book_player(call: Write[Any], tournament: Tournament, name: str) -> int:
    """The player of this name in the book, who is added to it first if need be.

    Whoever was added by hand since is that person; of several with the name, none is.
    """
    organizer_id = tournament.details["organizer_id"]
    known_ids = players.ids_by_name(call.db, organizer_id, [name])[name]
    listed = [player_id for player_id in known_ids if player_id in listed_ids(tournament)]
    if listed or len(known_ids) == 1:
        return (*listed, *known_ids)[0]
    quotas.require_room_for_players(call.db, organizer_id, call.settings.players_per_account, 1)
    row = chain.with_name_digest({"name": name, "ifpa_id": None, "status": "active", "labels": []})
    return book.add(call.db, book.PLAYER, organizer_id, row)
