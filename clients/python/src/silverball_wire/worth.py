"""The worth of a tournament by the federation's rules."""

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.values import Number


class PlacePoints(Wire, frozen=True, kw_only=True):
    """The points of a place."""

    position: int
    """Place, from 1; players who share it get the same points."""
    points: Number
    """Points of each player in this place, with two decimals."""


class TournamentEstimate(Wire, frozen=True, kw_only=True):
    """An estimate of the points that a tournament gives. Source: interface, section 1."""

    meaningful_games: Number | None
    """Meaningful games of the event; null without a rule, and while they are being computed."""
    tgp: int | None
    """Grade of the event in percent (TGP), rounded down; null without meaningful games."""
    capped: bool
    """Whether the games would be worth more than the limit of the grade."""
    base_value: Number
    """Value that the rated players add by being there."""
    rating_value: Number
    """Value that the players add by their ratings."""
    rank_value: Number
    """Value that the players add by their ranks."""
    wppr_value: Number
    """Value of the field, before the grade."""
    value: Number | None
    """Points of the winner; null without a grade."""
    points: tuple[PlacePoints, ...]
    """Points of each place; empty without a grade."""
    notes: tuple[str, ...]
    """Sentences for people: the worth, where each number comes from, and what is not settled."""
    womens: bool | UnsetType = UNSET
    """True for a women's tournament, whose points count in the women's ranking; absent elsewhere."""
