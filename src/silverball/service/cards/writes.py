"""Cards voided and deleted. Rules: rules/families/cards.py."""

from silverball.kit.http.body import Body
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.core import commands


def void_card(call: Write[Body]) -> int:
    """Void a card with its games, as a scorekeeper or as its player; returns its id."""
    card_id = call.ids["card_id"]

    def is_allowed(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
        own = access.claimed_player_ids(caller, tournament)
        is_own = any(card.card_id == card_id and card.player_id in own for card in tournament.cards)
        return is_own or access.may_score(caller, tournament)

    commands.run_command(
        call,
        lambda tournament: single_player_commands.void_card(tournament, card_id, call.now),
        is_allowed=is_allowed,
    )
    return card_id


def unvoid_card(call: Write[Body]) -> int:
    """Count a voided card again; returns its id."""
    card_id = call.ids["card_id"]
    commands.run_command(
        call, lambda tournament: single_player_commands.unvoid_card(tournament, card_id, call.now)
    )
    return card_id


def delete_card(call: Write[Body]) -> None:
    """Delete a card with its games and its entry."""
    commands.run_command(
        call, lambda tournament: single_player_commands.delete_card(tournament, call.ids["card_id"])
    )
