"""The note on pages of a tournament that another service runs."""

from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct

from silverball.rules.model.tournament import Tournament
from silverball.service.mirrors import reads
from silverball.store.engine import Db


class MirrorNotice(Struct, frozen=True):
    """The service that runs the tournament, and the last state of it that is known."""

    host: str
    # The last moment that is known, while the other service does not answer.
    lost_at: datetime | None = None
    # The same on the clock of the hall: `22:41`.
    lost_clock: str = ""
    # Players whose place or points differ there.
    standings_differ: int = 0


def mirror_notice(db: Db, tournament: Tournament) -> MirrorNotice | None:
    """The note for this tournament; None when it is run here."""
    mirror = reads.find_mirror(db, tournament.tournament_id)
    if mirror is None:
        return None
    different = mirror.standings_differ or 0
    if mirror.lost_at is None:
        return MirrorNotice(mirror.host, standings_differ=different)
    zone = ZoneInfo(tournament.details["timezone"])
    return MirrorNotice(
        mirror.host, mirror.lost_at, f"{mirror.lost_at.astimezone(zone):%H:%M}", standings_differ=different
    )
