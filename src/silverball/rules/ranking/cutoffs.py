"""The bubble: players tied across the border of a playoff band. Source: formats, section 13.3."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from silverball.rules.ranking import ties

BANDS_MAX = 100


class Cutoff(Struct, frozen=True):
    """A playoff band of the standings: its last place and its color."""

    last_place: int
    color: str | None


class Bubble(Struct, frozen=True):
    """The bubble columns of a standing; None means not on the bubble."""

    on_cutoff_bubble: bool | None = None
    cutoff_bubble_color: str | None = None
    on_cutoff_bubble2: bool | None = None


NO_BUBBLE = Bubble()


def parse_cutoffs(bands: Sequence[Any]) -> list[Cutoff]:
    """The cutoffs of the playoff bands, best band first.

    Takes bands as on the wire (index, value, cumulative, text, color), as mappings or as objects with
    these attributes. Raises ValueError above 100 bands. Source: formats, section 13.3.
    """
    if len(bands) > BANDS_MAX:
        raise ValueError(f"{len(bands)} bands are more than {BANDS_MAX}")
    read = [Cutoff(int(_band_part(band, "cumulative")), _band_part(band, "color")) for band in bands]
    return sorted(read, key=lambda cutoff: cutoff.last_place)


def _band_part(band: Any, name: str) -> Any:
    return band.get(name) if isinstance(band, Mapping) else getattr(band, name)


def bubbles(placed: Mapping[int, int], bands: Sequence[Any]) -> dict[int, Bubble]:
    """Player id -> bubble. Takes player id -> position and the bands as on the wire.

    A player is on the bubble of a band when their tie group holds the positions p to q and the band ends
    at one of p to q - 1, so that some of the group would go through. Source: formats, section 13.3.
    """
    borders = parse_cutoffs(bands)
    shown: dict[int, Bubble] = {}
    for position, members in ties.members_by_position(placed).items():
        last = position + len(members) - 1
        straddled = [border for border in borders if position <= border.last_place < last]
        shown.update(dict.fromkeys(members, _bubble(straddled)))
    return shown


def _bubble(straddled: Sequence[Cutoff]) -> Bubble:
    if not straddled:
        return NO_BUBBLE
    second = True if len(straddled) > 1 else None
    return Bubble(True, straddled[0].color, second)
