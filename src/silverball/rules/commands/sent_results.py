"""The note that the results of an event were sent to the federation, and what was corrected since."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import UNSET, Struct, UnsetType

from silverball.kit.values import replace
from silverball.rules.model.changes import Change, ResultsSent, tournament_changes
from silverball.rules.model.tournament import SentPlace, SentResults, Tournament


class PlaceChange(Struct, frozen=True):
    """A player with the place that was sent, and the place of now; None for none."""

    player_id: int
    sent: int
    now: int | None


def note_sent(tournament: Tournament, places: Mapping[int, int], now: datetime) -> list[Change]:
    """Note that these places (player id -> position) were sent."""
    ordered = sorted(places.items(), key=lambda place: (place[1], place[0]))
    sent = SentResults(sent_at=now, places=tuple(SentPlace(*place) for place in ordered))
    return tournament_changes(ResultsSent, tournament, state=replace(tournament.state, results_sent=sent))


def take_note_back(tournament: Tournament) -> list[Change]:
    """Forget what was sent; no change where nothing was."""
    return tournament_changes(ResultsSent, tournament, state=replace(tournament.state, results_sent=UNSET))


def changes_since(sent: SentResults | UnsetType, places: Mapping[int, int]) -> list[PlaceChange]:
    """The players of the file whose place is another one now. Takes player id -> position now."""
    if isinstance(sent, UnsetType):
        return []
    return [
        PlaceChange(place.player_id, place.position, places.get(place.player_id))
        for place in sent.places
        if places.get(place.player_id) != place.position
    ]
