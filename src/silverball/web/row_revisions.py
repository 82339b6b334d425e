"""Revisions of what a row shows, which a tap in it sends along: a row that has changed refuses the tap."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from silverball.kit.errors import Conflict
from silverball.rules.families import amazing_race
from silverball.rules.mechanics import rounds, waiting_list
from silverball.rules.model.tournament import QueueSpot, Tournament
from silverball.service.single_player import writes as single_player_writes

Ids: TypeAlias = Mapping[str, int]
# The text for the thing with these ids as it is now; empty where there is none.
RowRevision: TypeAlias = Callable[[Tournament, Ids], str]
# Field of a form with the revision that its row showed.
SEEN = "seen"
# The text for a spot names the spots before it.
AFTER = "after "
# The text for a queue, a pair of states or a moment has no other.
NOTHING = "nothing"


class RowChangedMeanwhile(Conflict):
    """The row was changed after the page was opened."""

    sentence = "This was changed by somebody else after it was shown here. Nothing was changed by your tap."


def is_outdated(seen: str, current: str) -> bool:
    """Whether a row showed something else; without a revision, it may have shown anything."""
    if not seen or not current:
        return False
    if seen.startswith(AFTER) and current.startswith(AFTER):
        # Somebody who left the queue is no reason; somebody who came before them is.
        return not set(current.split()) <= set(seen.split())
    return seen != current


def _queue_of(tournament: Tournament, spot: QueueSpot) -> list[QueueSpot]:
    place = (spot.arena_id, spot.round_id)
    queue = [each for each in tournament.waiting_spots if (each.arena_id, each.round_id) == place]
    return sorted(queue, key=lambda each: (each.queue_index or 0, each.queue_id))


def spot(tournament: Tournament, ids: Ids) -> str:
    """Name those who stand before the spot."""
    found = next((each for each in tournament.waiting_spots if each.queue_id == ids["queue_id"]), None)
    if found is None:
        return ""
    queue = _queue_of(tournament, found)
    return AFTER + " ".join(str(each.queue_id) for each in queue[: queue.index(found)])


def whole_queue(tournament: Tournament, _ids: Ids) -> str:
    """Name those who wait."""
    return " ".join(sorted(str(each.queue_id) for each in tournament.waiting_spots)) or NOTHING


def presence(tournament: Tournament, ids: Ids) -> str:
    """Whether the person is here."""
    entry = waiting_list.entry_of(tournament, ids["player_id"])
    return "here" if entry is not None and entry.checked_in_at is not None else NOTHING


def payment(tournament: Tournament, ids: Ids) -> str:
    """The payment of the person."""
    entry = waiting_list.entry_of(tournament, ids["player_id"])
    if entry is None or entry.payment is None:
        return NOTHING
    return f"{entry.payment.cents} {entry.payment.paid_at:%Y%m%d%H%M%S}"


def waiting_place(tournament: Tournament, ids: Ids) -> str:
    """The place of the person on the waiting list."""
    waiting = [entry.player_id for entry in waiting_list.waiting_entries(tournament)]
    return str(waiting.index(ids["player_id"])) if ids["player_id"] in waiting else ""


def open_attempt(tournament: Tournament, ids: Ids) -> str:
    """The open game of a player in an amazing race, and the bar of its round."""
    attempt = amazing_race.find_open_attempt(tournament, ids["player_id"])
    if attempt is None:
        return NOTHING
    round_ = tournament.round_by_id.get(attempt.round_id or 0)
    bar = None if round_ is None else round_.score
    return f"{single_player_writes.attempt_revision(attempt)} {bar}"


def arena(tournament: Tournament, ids: Ids) -> str:
    """Whether the machine is in play, and takes scores and a queue."""
    found = next((each for each in tournament.lineup if each.arena_id == ids["arena_id"]), None)
    return "" if found is None else f"{found.is_active} {found.is_blocked} {found.is_queue_closed}"


def round_end(tournament: Tournament, _ids: Ids) -> str:
    """When the time of the round is up."""
    ends_at = rounds.round_ends_at(tournament)
    return NOTHING if ends_at is None else f"{ends_at:%Y%m%d%H%M%S}"
