"""Voiding and deleting cards. Rules: rules/cards.py."""

from silverball.kit.body import Body
from silverball.kit.http import Write
from silverball.rules import singleplay
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.access import Caller


def void(call: Write[Body]) -> int:
    """A card struck out with its games, by a scorekeeper or its player; returns its id."""
    card_id = call.ids["card_id"]

    def may(caller: Caller, tournament: Tournament) -> bool:
        own = access.players_of(caller, tournament)
        is_own = any(one.card_id == card_id and one.player_id in own for one in tournament.cards)
        return is_own or access.may_score(caller, tournament)

    acting.act(call, lambda one: singleplay.void_card(one, card_id, call.now), may=may)
    return card_id


def unvoid(call: Write[Body]) -> int:
    """A voided card back among the results; returns its id."""
    card_id = call.ids["card_id"]
    acting.act(call, lambda one: singleplay.unvoid_card(one, card_id, call.now))
    return card_id


def remove(call: Write[Body]) -> None:
    """A card gone with its games, as if it had never been bought."""
    acting.act(call, lambda one: singleplay.delete_card(one, call.ids["card_id"]))
