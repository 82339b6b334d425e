"""Ties broken by a game or by hand."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.model.tournament import Tournament
from silverball.service.calls import Write
from silverball.service.core import commands, loaded
from silverball.service.core.commands import Decision
from silverball.service.games.reads import games
from silverball.service.standings import reads as standings
from silverball_wire.games import Game
from silverball_wire.standings import Standing

TOURNAMENT = "tournament_id"
PlayerIds = Annotated[tuple[Id, ...], Meta(min_length=1, max_length=1000)]


class TiebreakRequest(Body, frozen=True, kw_only=True):
    """A game of tied players, an order by hand or by lot, or the withdrawal of such an order."""

    player_ids: PlayerIds | UnsetType = UNSET
    """Ids of the tied players who play a tiebreak game."""
    order: PlayerIds | UnsetType = UNSET
    """Ids of the tied players in the order that the organizer decides, best first."""
    draw: PlayerIds | UnsetType = UNSET
    """Ids of the tied players whose order is drawn on purpose, in place of a game."""
    forget: PlayerIds | UnsetType = UNSET
    """Ids of tied players whose order by hand is withdrawn."""

    def __post_init__(self) -> None:
        fields = (self.player_ids, self.order, self.draw, self.forget)
        if sum(field is not UNSET for field in fields) != 1:
            sentence = "Send playerIds for a game, an order by hand, a draw, or whom to forget."
            raise Invalid({"playerIds": [sentence]})


def break_tie(call: Write[TiebreakRequest]) -> tuple[Game, ...] | tuple[Standing, ...]:
    """Break the tie; returns the tiebreak games (none where holes decide) or the new standings."""
    tournament_id, body = call.ids[TOURNAMENT], call.body
    before = {game.game_id for game in commands.load_tournament(call).games}
    if not isinstance(body.player_ids, UnsetType):
        ids = body.player_ids
        after = commands.run_command(
            call, lambda tournament: tiebreak_commands.open_tiebreak(tournament, ids, call.now)
        )
        new_ids = [game.game_id for game in after.games if game.game_id not in before]
        return games.selected_games(call.db, tournament_id, new_ids)
    if not isinstance(body.order, UnsetType):
        order = body.order
        commands.run_command(call, lambda tournament: tiebreak_commands.set_manual_order(tournament, order))
    elif not isinstance(body.draw, UnsetType):
        drawn = body.draw
        commands.run_command(call, lambda tournament: _draw_order(tournament, drawn))
    elif not isinstance(body.forget, UnsetType):
        forgotten = body.forget
        commands.run_command(
            call, lambda tournament: tiebreak_commands.clear_manual_order(tournament, forgotten)
        )
    # The transaction's own state, which the commit leaves in memory with its ranking.
    return standings.standings_of(loaded.load_for_change(call.transaction, tournament_id))


def _draw_order(tournament: Tournament, player_ids: tuple[int, ...]) -> Decision:
    return commands.decide_by_draw(
        tournament,
        tiebreak_commands.next_draw_name(tournament),
        lambda dice: tiebreak_commands.draw_order(tournament, player_ids, dice),
    )
