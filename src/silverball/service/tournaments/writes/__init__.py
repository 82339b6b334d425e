"""What an organizer does to a whole tournament. Source: interface.md 3; formats, section 2."""

from collections.abc import Mapping
from datetime import datetime
from random import Random
from typing import Any

from msgspec import UNSET
from sqlalchemy import Connection, delete
from sqlalchemy.exc import IntegrityError

from silverball.kit.body import Body
from silverball.kit.errors import Conflict, NotAllowed
from silverball.kit.http import TOURNAMENT, Write
from silverball.rules import entries, play
from silverball.rules.apply import apply_all
from silverball.rules.changes import Change, TournamentEdited, edited
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps
from silverball.rules.settings import Settings
from silverball.rules.tournament import EngineState, Tournament
from silverball.service import acting, enact
from silverball.service.acting import Ahead, Made
from silverball.service.enact import Who
from silverball.service.tournaments import configuring
from silverball.service.tournaments.bodies import ChangedFields, NewFields, Undo, settings_in
from silverball.service.tournaments.reads import belongings, described, idling, series_facts
from silverball.store import announcements, revisions, tables

CREATORS = ("organizer", "admin")
SEED_BITS = 128
NAMED_MAX = 3
# What every tournament begins with; its name, owner and times are said.
BLANK: Mapping[str, Any] = {
    "description": None,
    "end_utc": None,
    "end_local": None,
    "timezone": "UTC",
    "location_id": None,
    "series_id": None,
    "test": False,
    "link": None,
    "linked_tournament_id": None,
    "estimated_tgp": None,
    "points_map_custom": None,
    "primary_config_settings": [],
    "prize_pool": None,
    "motd_text": None,
    "motd_color": None,
    "motd_expiration": None,
    "managers": [],
    "rsvp_configuration": None,
    "entry_configuration": None,
    "links": [],
    "shortcut": None,
    "event_id": None,
}


def create(call: Write[NewFields], dice: Random) -> Tournament:
    """A new tournament of the caller's. All its draws come from `dice`, which nobody can foresee."""
    if call.caller.role not in CREATORS:
        raise NotAllowed("Only organizers create tournaments. Ask the admin of this site to make you one.")
    body = call.body
    settings = configuring.settings_of(body.type, settings_in(body))
    before = blank(call.user_id, call.now)
    details = described.details(call.db, body, before, None)
    rows = None if body.tiebreaker_points_map is UNSET else body.tiebreaker_points_map
    new = planned(body.type, settings, details, dice, tiebreakers=configuring.tiebreaker_map(rows))
    return enact.create(call.db, new, acting.who_of(call), dice)


def blank(organizer_id: int, now: datetime) -> dict[str, Any]:
    """The details of a tournament of which nothing was said: it begins now."""
    local = now.strftime("%Y-%m-%d %H:%M:%S")
    return {
        **BLANK,
        "name": "",
        "organizer_id": organizer_id,
        "start_utc": now.isoformat(),
        "start_local": local,
    }


def planned(
    type_: str,
    settings: Settings,
    details: Mapping[str, Any],
    dice: Random,
    *,
    tiebreakers: point_maps.WireRows = point_maps.TIEBREAKER,
) -> Tournament:
    """A tournament that is not there yet. Raises Invalid for points that its format cannot have."""
    form = FORMATS[type_]
    return Tournament(
        tournament_id=0,
        type=form.type,
        status="planned",
        settings=settings,
        entrants=(),
        points_map=configuring.points_map(type_, settings, details["points_map_custom"]),
        tiebreaker_points_map=tiebreakers,
        has_entry_limits=_is_limited(details),
        state=EngineState(dice_seed=f"{dice.getrandbits(SEED_BITS):032x}"),
        details={**details, "primary_config_settings": list(form.primary_settings)},
    )


def _is_limited(details: Mapping[str, Any]) -> bool:
    return bool((details["entry_configuration"] or {}).get("limited"))


def edit(call: Write[ChangedFields]) -> Tournament:
    """Settings, texts, times, what it belongs to: each as long as it may be changed."""
    return acting.act(call, lambda tournament: _edited(call, tournament))


def _edited(call: Write[ChangedFields], tournament: Tournament) -> list[Change]:
    body = call.body
    sent = [name for name in ChangedFields.__struct_fields__ if getattr(body, name) is not UNSET]
    configuring.refuse_when_completed(tournament, sent)
    settings = configuring.changed_settings(tournament, settings_in(body))
    details = described.details(call.db, body, tournament.details, tournament.tournament_id)
    tiebreakers = tournament.tiebreaker_points_map
    if body.tiebreaker_points_map is not UNSET:
        tiebreakers = configuring.changed_tiebreakers(tournament, body.tiebreaker_points_map)
    return edited(
        TournamentEdited,
        tournament,
        settings=settings,
        details=details,
        points_map=configuring.changed_points_map(tournament, settings, details["points_map_custom"]),
        tiebreaker_points_map=tiebreakers,
        has_entry_limits=_is_limited(details),
    )


def look_at_start(call: Write[Body]) -> Ahead:
    """What the start would make, drawn before the tournament is locked."""
    return acting.look_ahead(call, lambda tournament: _started(call, tournament))


def start(call: Write[Body]) -> Tournament:
    """The night begins."""
    acting.tournament_of(call)
    return acting.act_as_seen(call)


def _started(call: Write[Body], tournament: Tournament) -> Made:
    dice, seed = play.dice_for(tournament, "start")
    informed = series_facts.with_seed_facts(call.db, tournament)
    informed = series_facts.with_series_facts(call.db, informed)
    changes = play.start(informed, dice, call.now)
    begun = apply_all(informed, changes)
    given = entries.given(begun, begun.active_ids, entries.automatic(begun), call.now)
    return Made([*changes, *given], seed)


def complete(call: Write[Body]) -> Tournament:
    """The results are final."""
    return acting.act(call, lambda tournament: play.complete(tournament, call.now))


def reopen(call: Write[Body]) -> Tournament:
    """The results may change again."""
    return acting.act(call, play.reopen)


def undo(call: Write[Undo]) -> Tournament:
    """Take the newest action back. Raises Conflict for any other, and when something stands in the way."""
    acting.tournament_of(call)
    try:
        return enact.undo(call.db, call.ids[TOURNAMENT], call.body.action, acting.who_of(call))
    except IntegrityError as error:
        sentence = "This cannot be undone any more: what it would bring back is gone or taken by now."
        raise Conflict(sentence) from error


def remove(call: Write[Body]) -> None:
    """A planned tournament is gone with everything in it. Raises Conflict for one that has begun."""
    tournament = acting.tournament_of(call)
    if tournament.status != "planned":
        raise Conflict("Only a planned tournament can be deleted: this one has begun.")
    linking = belongings.linked_from(call.db, tournament.tournament_id)
    if linking:
        named = ", ".join(str(tournament_id) for tournament_id in linking[:NAMED_MAX])
        raise Conflict(f"Tournament {named} links to this one. Take it out of those links first.")
    # Whoever has read it must ask again, and is told that it is gone.
    revisions.raise_tournaments(call.db, [tournament.tournament_id])
    own = tables.tournament.c.tournament_id == tournament.tournament_id
    call.db.execute(delete(tables.tournament).where(own))
    announcements.gone(call.db, tournament.tournament_id)


def close_idle(db: Connection, tournament_id: int, source: str, now: datetime) -> bool:
    """Complete a tournament that nobody has touched for two days, as of its last activity.

    Returns whether it was so; it may have been touched since somebody looked. Source: formats, section 23.
    """
    touched_at = idling.last_activity(db, tournament_id, now)
    if touched_at is None:
        return False
    tournament = enact.tournament_of(db, tournament_id)
    who = Who(actor_id=None, source=source, now=now)
    enact.enact(db, tournament_id, play.complete(tournament, touched_at), who)
    return True
