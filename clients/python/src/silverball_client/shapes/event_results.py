"""Results of an event as the federation takes them."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class EventResult(Shape, frozen=True, kw_only=True):
    """A player of the event, and whether they are in the file unless somebody decides otherwise."""

    player_id: int
    name: str
    ifpa_id: int | None
    position: int | None
    finalist: bool
    ticked: bool
    reasons: tuple[str, ...]


class EventResults(Shape, frozen=True, kw_only=True):
    """Results of a qualifying with the final of its best, of a tournament without one, or of a series."""

    tournament_id: int | None
    finals_id: int | None
    series_id: int | None
    name: str
    womens: bool | UnsetType = UNSET
    results: tuple[EventResult, ...]
    text: str
