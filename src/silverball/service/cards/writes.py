"""Voiding and deleting cards. Rules: rules/families/cards.py."""

from silverball.kit.http.body import Body
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.core import commands


def void_card(call: Write[Body]) -> int:
    """A card struck out with its games, by a scorekeeper or its player; returns its id."""
    card_id = call.ids["card_id"]

    def may(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
        own = access.claimed_player_ids(caller, tournament)
        is_own = any(one.card_id == card_id and one.player_id in own for one in tournament.cards)
        return is_own or access.may_score(caller, tournament)

    commands.run_command(
        call, lambda one: single_player_commands.void_card(one, card_id, call.now), is_allowed=may
    )
    return card_id


def unvoid_card(call: Write[Body]) -> int:
    """A voided card back among the results; returns its id."""
    card_id = call.ids["card_id"]
    commands.run_command(call, lambda one: single_player_commands.unvoid_card(one, card_id, call.now))
    return card_id


def delete_card(call: Write[Body]) -> None:
    """A card gone with its games, as if it had never been bought."""
    commands.run_command(call, lambda one: single_player_commands.delete_card(one, call.ids["card_id"]))
