"""Entries that players buy, are given or get refunded. Source: formats, section 19."""

from collections.abc import Sequence

from silverball.kit.errors import Conflict, NotFound
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import cards
from silverball.rules.format import PlayKind
from silverball.rules.mechanics import entries
from silverball.rules.model.changes import Change, EntrantChanged, EntriesBought
from silverball.rules.model.purchases import Purchase
from silverball.rules.model.refusals import NotABestGame
from silverball.rules.model.tournament import Card, SinglePlayerGame, Tournament


class EntriesClosed(Conflict):
    sentence = "The tournament is completed. Reopen it before you change entries."


class TooFewUnusedEntries(Conflict):
    sentence = "{player} has {left} unused entries. Refund no more than that."


def record_purchase(tournament: Tournament, purchase: Purchase) -> list[Change]:
    """Entries that a player buys or is given, or gets back as a refund, with a negative quantity.

    Raises WrongFormat, NotFound and Conflict. Source: formats, section 19.
    """
    if tournament_commands.format_of(tournament).play is not PlayKind.SCORES:
        raise NotABestGame
    if tournament.status == "completed":
        raise EntriesClosed
    entrant = tournament.entrant_by_id.get(purchase.player_id)
    if entrant is None:
        raise NotFound("Player", purchase.player_id)
    after = replace(entrant, entries_bought=entrant.entries_bought + purchase.quantity)
    used = len(_used_entries(tournament, entrant.player_id))
    if purchase.type == "refund" and after.entries_bought < used:
        left = max(0, entrant.entries_bought - used)
        raise TooFewUnusedEntries(player=entrant.player_id, left=left)
    return [EntriesBought(purchase), EntrantChanged(entrant, after)]


def _used_entries(tournament: Tournament, player_id: int) -> Sequence[Card] | Sequence[SinglePlayerGame]:
    """The cards of the player, or the games where there are no cards."""
    if tournament_commands.format_of(tournament).has_cards:
        return cards.cards_of_player(tournament, player_id)
    return entries.attempts_of_player(tournament, player_id)
