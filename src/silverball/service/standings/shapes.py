"""Standings in the shape that the interface publishes."""

from collections.abc import Sequence
from decimal import Decimal

from silverball.rules.ranking.standing import Standing
from silverball_wire import standings as wire
from silverball_wire.base import UNSET
from silverball_wire.values import Number


def wire_standing(standing: Standing, *, is_drawn: bool = False) -> wire.Standing:
    """The standing in its published shape; `is_drawn`: the player's order in a tie was drawn by lot."""
    return wire.Standing(
        player_id=standing.player_id,
        position=standing.position,
        points=_wire_value(standing.points),
        points_with_tiebreaker=_wire_value(standing.points_with_tiebreaker),
        games_played=standing.games_played,
        entries_played=standing.entries_played,
        entries_available=standing.entries_available,
        strike_count=standing.strike_count,
        cards_counted=_counted_cards(standing),
        adjustment=None if standing.adjustment is None else _number(standing.adjustment),
        frenzy_wins=standing.frenzy_wins,
        frenzy_losses=standing.frenzy_losses,
        points_list=_wire_values(standing.points_list),
        tiebreakers=_wire_values(standing.tiebreakers),
        active_games=standing.active_games,
        active_game_color=standing.active_game_color,
        on_pace_bubble=_pace_bubble(standing),
        on_cutoff_bubble=standing.bubble.on_cutoff_bubble,
        cutoff_bubble_color=standing.bubble.cutoff_bubble_color,
        on_cutoff_bubble2=standing.bubble.on_cutoff_bubble2,
        manual_tiebreaker_group=standing.manual_tiebreaker_group,
        drawn_by_lot=True if is_drawn else UNSET,
    )


def _counted_cards(standing: Standing) -> tuple[wire.CountedCard, ...] | None:
    if standing.cards_counted is None:
        return None
    return tuple(
        wire.CountedCard(card_id=card.card_id, points=_wire_value(card.points), count=card.count)
        for card in standing.cards_counted
    )


def _pace_bubble(standing: Standing) -> wire.PaceBubble | None:
    bubble = standing.pace_bubble
    if bubble is None:
        return None
    return wire.PaceBubble(target=_number(bubble.target), needed=_number(bubble.needed))


def _wire_values(values: Sequence[str | Decimal | int] | None) -> tuple[str | Number, ...] | None:
    if values is None:
        return None
    return tuple(value if isinstance(value, str) else _number(value) for value in values)


def _wire_value(value: str | Decimal | int | None) -> str | Number | None:
    return value if value is None or isinstance(value, str) else _number(value)


def _number(value: Decimal | int) -> Number:
    """A JSON number: 10, not 10.0."""
    whole = int(value)
    return whole if whole == value else float(value)
