"""Single links of a tournament to others, added and removed."""

from typing import Any

import msgspec

from silverball.kit.conversions import convert
from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.kit.values import replace
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.tournaments.bodies import ChangedTournament, TournamentLink
from silverball.service.tournaments.writes import tournaments
from silverball_wire.values import LinkType


class NewTournamentLink(Body, frozen=True, kw_only=True):
    """A tournament to link, and its relation to this one."""

    tournament_id: Id
    link_type: LinkType


class LinkToRemove(Body, frozen=True, kw_only=True):
    """A linked tournament."""

    linked_id: Id


def add_link(call: Write[NewTournamentLink]) -> Any:
    """Link one more tournament."""
    added = TournamentLink(tournament_id=call.body.tournament_id, link_type=call.body.link_type)
    return _replace_links(call, [*_current_links(call), added])


def remove_link(call: Write[LinkToRemove]) -> Any:
    """Remove the link to one tournament. Raises Invalid when there is none."""
    links = _current_links(call)
    remaining = [link for link in links if link.tournament_id != call.body.linked_id]
    if len(remaining) == len(links):
        raise Invalid({"linkedId": ["That tournament is not linked here."]})
    return _replace_links(call, remaining)


def _current_links(call: Write[Any]) -> list[TournamentLink]:
    return [
        TournamentLink(
            tournament_id=link["linked_tournament_id"],
            link_type=link["link_type"],
            link_index=link["link_index"],
        )
        for link in commands.load_tournament(call).details["links"]
    ]


def _replace_links(call: Write[Any], links: list[TournamentLink]) -> Any:
    body = convert({"links": msgspec.to_builtins(links)}, ChangedTournament)
    return tournaments.edit_tournament(replace(call, body=body))
