"""Voiding and deleting cards. Rules: rules/cards.py."""

from silverball.kit.body import Body
from silverball.kit.http import Write
from silverball.rules import singleplay
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.access import AuthenticatedCaller


def void_card(call: Write[Body]) -> int:
    """A card struck out with its games, by a scorekeeper or its player; returns its id."""
    card_id = call.ids["card_id"]

    def may(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
        own = access.claimed_player_ids(caller, tournament)
        is_own = any(one.card_id == card_id and one.player_id in own for one in tournament.cards)
        return is_own or access.may_score(caller, tournament)

    acting.run_command(call, lambda one: singleplay.void_card(one, card_id, call.now), is_allowed=may)
    return card_id


def unvoid_card(call: Write[Body]) -> int:
    """A voided card back among the results; returns its id."""
    card_id = call.ids["card_id"]
    acting.run_command(call, lambda one: singleplay.unvoid_card(one, card_id, call.now))
    return card_id


def delete_card(call: Write[Body]) -> None:
    """A card gone with its games, as if it had never been bought."""
    acting.run_command(call, lambda one: singleplay.delete_card(one, call.ids["card_id"]))
