"""The one door: what happens to a tournament becomes rows, standings, journal and a new revision.

Everything happens in the caller's transaction, which holds the tournament's lock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, select

from silverball.kit.errors import Conflict, NotFound
from silverball.rules import numbering
from silverball.rules.apply import apply_all
from silverball.rules.changes import Added, Change, TournamentAltered, TournamentImported, undone
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS
from silverball.rules.tournament import Tournament
from silverball.service import announce
from silverball.service.access import Device
from silverball.service.devices import reads as devices
from silverball.service.standings import writes as standings
from silverball.service.summaries import writes as summaries
from silverball.store import (
    announcements,
    imports,
    journal,
    rated,
    revisions,
    showing,
    snapshot,
    tables,
    writers,
)
from silverball.store.engine import PENDING
from silverball.store.journal import Action
from silverball.store.kept import Kept
from silverball.wire import standings as wire
from silverball.wire.values import Number

Entries = Sequence[tuple[str, Mapping[str, Any]]]
# What a tournament shows of those that it links to, beside their status.
LINKED_DETAILS = ("name", "test")
_T = tables.tournament.c
_NEWEST = select(_T.revision, _T.type).where(_T.tournament_id == bindparam("own_id"))


@dataclass(frozen=True, kw_only=True)
class Who:
    """Who asked, from where, and when."""

    # None for the service itself and for a device.
    actor_id: int | None
    source: str
    now: datetime
    device: Device | None = None


def tournament_of(db: Connection, tournament_id: int) -> Tournament:
    """The tournament as this transaction sees it. Raises NotFound, and Conflict for an unknown format."""
    return kept_of(db, tournament_id).tournament


def kept_of(db: Connection, tournament_id: int) -> Kept:
    """The tournament with its revision and its stored standings. Raises as `tournament_of` does."""
    row = db.execute(_NEWEST, {"own_id": tournament_id}).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    if row.type not in FORMATS:
        raise Conflict(f"Tournaments of the type {row.type} can be read here, but not changed.")
    return snapshot.of_revision(db, tournament_id, row.revision)


def enact(
    db: Connection,
    tournament_id: int,
    changes: Sequence[Change],
    who: Who,
    *,
    dice_seed: str | None = None,
    beside: Entries = (),
    before: Kept | None = None,
) -> Tournament:
    """Let these changes happen to the tournament, as one action, and return what it is now.

    Nothing happens when there are none. `dice_seed` is the seed of the draw that made them; `beside`
    are journal entries that are not changes; `before` is what this transaction has just loaded.
    """
    before = before or kept_of(db, tournament_id)
    if not changes and not beside:
        return before.tournament
    real = _numbered(db, changes)
    writers.write(db, before.tournament, real)
    after = apply_all(before.tournament, real)
    rows = _rank(db, before, after)
    if before.tournament.status != after.status:
        summaries.store_for(db, tournament_id)
    if before.tournament.status == "completed" or after.status == "completed":
        rated.tournament_changed(db, before.tournament, after)
    entries = [(type(change).__name__, journal.encoded(change)) for change in real]
    action_id = journal.append(
        db,
        tournament_id,
        [*beside, *entries],
        actor_id=who.actor_id,
        source=who.source,
        now=who.now,
        dice_seed=dice_seed,
        newest=before.action_id,
    )
    if who.device is not None:
        device_id, player_id = who.device.device_id, who.device.player_id
        journal.note_device(db, tournament_id, action_id, device_id=device_id, player_id=player_id)
    revision = revisions.raise_one(db, tournament_id, who.now)
    announce.of_changes(db, before.tournament, after, real)
    if _shows_otherwise_in_links(before.tournament, after):
        announce.of_tournaments(db, showing.linking_to(db, tournament_id))
    db.get_execution_options()[PENDING].append(Kept(revision, after, rows, action_id))
    return after


def _shows_otherwise_in_links(before: Tournament, after: Tournament) -> bool:
    """Whether tournaments that link to this one show something of it that is different now."""
    return before.status != after.status or any(
        before.details.get(name) != after.details.get(name) for name in LINKED_DETAILS
    )


def create(db: Connection, planned: Tournament, who: Who, dice: Random) -> Tournament:
    """A tournament is there now, planned and without anybody in it, and its channel begins.

    Takes it without its id, and the dice for the channel's epoch; returns it with its id.
    """
    epoch = f"{dice.getrandbits(32):08x}"
    tournament_id = writers.write_new(db, planned, who.now, epoch)
    entry = (journal.CREATED, journal.creation(planned))
    journal.append(db, tournament_id, [entry], actor_id=who.actor_id, source=who.source, now=who.now)
    revisions.raise_tournaments(db, [tournament_id])
    return replace(planned, tournament_id=tournament_id)


def undo(db: Connection, tournament_id: int, action_id: int, who: Who) -> Tournament:
    """Take the newest action back. Raises Conflict when `action_id` is not that one, and says which is."""
    tournament = tournament_of(db, tournament_id)
    if tournament.status == "completed":
        raise Conflict("The tournament is completed. Reopen it before you undo anything.")
    newest = journal.newest_undoable(journal.actions(db, tournament_id))
    if newest is None:
        raise Conflict("There is nothing to undo.")
    if newest.action_id != action_id:
        raise Conflict(f"Only the newest action can be undone: {_told(db, tournament_id, newest)}.")
    opposites = undone(newest.changes(tournament.type))
    after = enact(db, tournament_id, opposites, who, beside=[(journal.UNDONE, {"action": action_id})])
    # What comes back was remembered with the claims and categories of then: it is loaded anew.
    db.get_execution_options()[PENDING].clear()
    return after


def _told(db: Connection, tournament_id: int, action: Action) -> str:
    """An action in words: its id, what it was, who did it and when."""
    name = devices.actors(db, tournament_id, [action.action_id]).get(action.action_id)
    if action.actor_id is not None:
        name = db.execute(
            select(tables.user.c.name).where(tables.user.c.user_id == action.actor_id)
        ).scalar_one_or_none()
    what = action.entries[0][0] if action.entries else "nothing"
    return f"action {action.action_id} ({what}) by {name or 'the service'} at {action.at:%Y-%m-%d %H:%M:%SZ}"


def _numbered(db: Connection, changes: Sequence[Change]) -> list[Change]:
    """The changes with real ids; each kind's are fetched at once."""
    wanted: dict[str, int] = {}
    for change in changes:
        if isinstance(change, Added) and _key(change) < 0:
            wanted[change.part] = wanted.get(change.part, 0) + 1
    free = {part: iter(writers.new_ids(db, part, count)) for part, count in wanted.items()}
    return [_lasting(one) for one in numbering.numbered(changes, lambda part: next(free[part]))]


def _lasting(change: Change) -> Change:
    """The change without what was looked up for a draw, which may be in the engine's memory."""
    if not isinstance(change, TournamentAltered) or "state" not in change.after:
        return change
    before, after = ({**side, "state": side["state"].lasting} for side in (change.before, change.after))
    return type(change)(before, after)


def _key(change: Added[Any]) -> int:
    return int(getattr(change.thing, writers.KINDS[change.part].key))


def _rank(db: Connection, before: Kept, after: Tournament) -> dict[int, str]:
    """Store the rows of the standings that are different now. A tournament that never ran has none."""
    ranked = [] if after.status == "planned" else FORMATS[after.type].rank(after)
    shown_rows = [shown(one) for one in ranked]
    return standings.update(db, after.tournament_id, shown_rows, before.standings)


def enact_import(db: Connection, change: TournamentImported, who: Who, dice: Random) -> None:
    """A tournament came in. Raises Invalid when it cannot be ranked.

    Nothing is announced: who follows the channel sees another epoch, drawn by `dice`, and reads
    everything again.
    """
    tournament_id = change.tournament_id
    rated.mark_completed(db, tournament_id)
    imports.write_import(db, change)
    rated.mark_completed(db, tournament_id)
    _rank_import(db, change)
    summaries.store_for(db, tournament_id)
    journal.append(
        db,
        tournament_id,
        [(type(change).__name__, journal.encoded(change))],
        actor_id=who.actor_id,
        source=who.source,
        now=who.now,
    )
    announcements.begin(db, tournament_id, f"{dice.getrandbits(32):08x}")
    revisions.raise_tournaments(db, [tournament_id])


def _rank_import(db: Connection, change: TournamentImported) -> None:
    tournament_id = change.tournament_id
    if "standings" in change.parts:
        given = msgspec.convert(change.parts["standings"], list[wire.Standing])
        standings.replace(db, tournament_id, given)
        return
    loaded = snapshot.load(db, tournament_id)
    ranked = [] if loaded.status == "planned" else FORMATS[loaded.type].rank(loaded)
    standings.replace(db, tournament_id, [shown(one) for one in ranked])


def shown(standing: Standing) -> wire.Standing:
    """A standing as the interface shows it."""
    return wire.Standing(
        player_id=standing.player_id,
        position=standing.position,
        points=_shown(standing.points),
        points_with_tiebreaker=_shown(standing.points_with_tiebreaker),
        games_played=standing.games_played,
        entries_played=standing.entries_played,
        entries_available=standing.entries_available,
        strike_count=standing.strike_count,
        cards_counted=_cards(standing),
        adjustment=None if standing.adjustment is None else _number(standing.adjustment),
        frenzy_wins=standing.frenzy_wins,
        frenzy_losses=standing.frenzy_losses,
        points_list=_all_shown(standing.points_list),
        tiebreakers=_all_shown(standing.tiebreakers),
        active_games=standing.active_games,
        active_game_color=standing.active_game_color,
        on_pace_bubble=_pace(standing),
        on_cutoff_bubble=standing.bubble.on_cutoff_bubble,
        cutoff_bubble_color=standing.bubble.cutoff_bubble_color,
        on_cutoff_bubble2=standing.bubble.on_cutoff_bubble2,
        manual_tiebreaker_group=standing.manual_tiebreaker_group,
    )


def _cards(standing: Standing) -> tuple[wire.CountedCard, ...] | None:
    if standing.cards_counted is None:
        return None
    return tuple(
        wire.CountedCard(card_id=card.card_id, points=_shown(card.points), count=card.count)
        for card in standing.cards_counted
    )


def _pace(standing: Standing) -> wire.PaceBubble | None:
    bubble = standing.pace_bubble
    if bubble is None:
        return None
    return wire.PaceBubble(target=_number(bubble.target), needed=_number(bubble.needed))


def _all_shown(values: Sequence[str | Decimal | int] | None) -> tuple[str | Number, ...] | None:
    if values is None:
        return None
    return tuple(value if isinstance(value, str) else _number(value) for value in values)


def _shown(value: str | Decimal | int | None) -> str | Number | None:
    return value if value is None or isinstance(value, str) else _number(value)


def _number(value: Decimal | int) -> Number:
    """A JSON number: 10, not 10.0."""
    whole = int(value)
    return whole if whole == value else float(value)
