"""The note that the results of an event were sent to the federation."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.http.fields import Id
from silverball.kit.values import replace
from silverball.rules.commands import sent_results
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service.core import commands
from silverball.service.core.calls import Write
from silverball.service.tables.reads import event_results


class SentMark(Body, frozen=True, kw_only=True):
    """Whether the results were sent, and with whom."""

    sent: bool
    """False takes the note back."""
    players: Annotated[tuple[Id, ...], Meta(max_length=event_results.PLAYERS_MAX)] = ()
    """Ids of the players in the file; without it those who are ticked."""


def mark_sent(call: Write[SentMark]) -> Tournament:
    """Note on the first tournament of the event what was sent, or take the note back.

    Raises Conflict while the event is not finished, Invalid for who has no place in it.
    """
    tournament_id = call.ids[TOURNAMENT]
    first = replace(call, ids={**call.ids, TOURNAMENT: event_results.id_of_first(call.db, tournament_id)})

    def rule(tournament: Tournament) -> list[Change]:
        if not call.body.sent:
            return sent_results.take_note_back(tournament)
        event = event_results.finished_event(call.db, tournament_id, call.caller)
        chosen = event_results.player_ids_in_file(event, call.body.players)
        places = {
            place.player_id: place.position
            for place in event.places
            if place.position is not None and place.player_id in chosen
        }
        return sent_results.note_sent(tournament, places, call.now)

    return commands.run_command(first, rule)
