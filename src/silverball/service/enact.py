"""The one door: what happens to a tournament becomes rows, standings, journal and a new revision.

Everything happens in the caller's transaction, which holds the tournament's lock.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from random import Random

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from silverball.kit.errors import Invalid
from silverball.rules.changes import Change, TournamentImported
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS
from silverball.service.standings import writes as standings
from silverball.service.summaries import writes as summaries
from silverball.store import revisions, snapshot, tables, writers
from silverball.wire import standings as wire
from silverball.wire.values import Number


def enact(
    db: Connection,
    tournament_id: int,
    changes: Sequence[Change],
    *,
    actor_id: int | None,
    source: str,
    now: datetime,
    dice: Random,
) -> None:
    """Let these changes happen to the tournament, as one action. Raises Invalid when it cannot be ranked.

    `actor_id` and `source` say who and from where; `dice` draws the name of a new incarnation of the
    channel.
    """
    for change in changes:
        writers.WRITERS[type(change)](db, change)
    _rank(db, tournament_id, changes)
    summaries.store_for(db, tournament_id)
    _journal(db, tournament_id, changes, actor_id=actor_id, source=source, now=now)
    if any(isinstance(change, TournamentImported) for change in changes):
        # Nothing is announced: who follows the channel sees another epoch and reads everything again.
        _begin_epoch(db, tournament_id, dice)
    revisions.raise_tournaments(db, [tournament_id])


def _rank(db: Connection, tournament_id: int, changes: Sequence[Change]) -> None:
    for change in changes:
        if isinstance(change, TournamentImported) and "standings" in change.parts:
            given = msgspec.convert(change.parts["standings"], list[wire.Standing])
            standings.replace(db, tournament_id, given)
            return
    key = tables.tournament.c.tournament_id
    type_ = db.execute(select(tables.tournament.c.type).where(key == tournament_id)).scalar_one()
    if type_ not in FORMATS:
        known = ", ".join(sorted(FORMATS))
        raise Invalid(
            {
                "standings": [
                    f"Standings are missing, and those of {type_} cannot be computed here yet (only {known})."
                ]
            }
        )
    ranked = FORMATS[type_].rank(snapshot.load(db, tournament_id))
    standings.replace(db, tournament_id, [shown(one) for one in ranked])


def _journal(
    db: Connection,
    tournament_id: int,
    changes: Sequence[Change],
    *,
    actor_id: int | None,
    source: str,
    now: datetime,
) -> None:
    own = tables.journal.c.tournament_id == tournament_id
    newest = db.execute(select(func.max(tables.journal.c.action_id)).where(own)).scalar_one()
    common = {
        "tournament_id": tournament_id,
        "action_id": (newest or 0) + 1,
        "actor_id": actor_id,
        "source": source,
        "at": now,
    }
    rows = [
        {**common, "change": type(change).__name__, "data": dict(change.journalled())} for change in changes
    ]
    db.execute(insert(tables.journal), rows)


def _begin_epoch(db: Connection, tournament_id: int, dice: Random) -> None:
    rows = update(tables.tournament).where(tables.tournament.c.tournament_id == tournament_id)
    db.execute(rows.values(epoch=f"{dice.getrandbits(32):08x}", seq=0, seq_low=0))


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
