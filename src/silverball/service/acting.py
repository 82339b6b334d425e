"""What every writing slice does: load, ask who may, let the rules state changes, let them happen.

    def complete_round(call: Write[Body], round_id: int) -> Tournament:
        return acting.act(call, lambda t: play.complete_round(t, round_id, call.now))

Nothing here speaks SQL; the transaction is the caller's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from silverball.kit.errors import NotAllowed
from silverball.kit.http import TOURNAMENT, Moved, Write
from silverball.rules import play
from silverball.rules.changes import Change
from silverball.rules.tournament import Tournament
from silverball.service import access, enact
from silverball.service.access import Caller
from silverball.service.enact import Who
from silverball.store.kept import Kept

May = Callable[[Caller, Tournament], bool]


@dataclass(frozen=True)
class Made:
    """What a rule stated, and the seed of the draw that it came from."""

    changes: Sequence[Change]
    dice_seed: str | None = None


Rule = Callable[[Tournament], "Made | Sequence[Change]"]


@dataclass(frozen=True)
class Ahead:
    """What was made of a snapshot before the lock was taken, and the revision of that snapshot."""

    revision: int
    made: Made = field(default_factory=lambda: Made(()))


def who_of(call: Write[Any]) -> Who:
    """Who asked, from where, and when."""
    return Who(actor_id=call.actor_id, source=call.source, now=call.now, device=call.caller.device)


def tournament_of(call: Write[Any], may: May = access.is_organizer) -> Tournament:
    """The tournament in the path, if the caller may change it so. Raises NotFound and NotAllowed."""
    return _kept(call, may).tournament


def _kept(call: Write[Any], may: May) -> Kept:
    kept = enact.kept_of(call.db, call.ids[TOURNAMENT])
    if not may(call.caller, kept.tournament):
        raise NotAllowed
    return kept


def _enacted(call: Write[Any], made: "Made", kept: Kept) -> Tournament:
    tournament_id = call.ids[TOURNAMENT]
    who = who_of(call)
    return enact.enact(call.db, tournament_id, made.changes, who, dice_seed=made.dice_seed, before=kept)


def act(call: Write[Any], rule: Rule, *, may: May = access.is_organizer) -> Tournament:
    """Let what the rule states happen to the tournament in the path, and return what it is now."""
    kept = _kept(call, may)
    return _enacted(call, _made(rule(kept.tournament)), kept)


def look_ahead(call: Write[Any], rule: Rule, *, may: May = access.is_organizer) -> Ahead:
    """Make something of a snapshot, without the lock: for draws that may take long."""
    kept = _kept(call, may)
    return Ahead(kept.revision, _made(rule(kept.tournament)))


def drawn(tournament: Tournament, draw: str, rule: Callable[[Random], Sequence[Change]]) -> Made:
    """What a rule states that may need dice: those of the draw with this name."""
    dice, seed = play.dice_for(tournament, draw)
    return Made(rule(dice), seed)


def act_as_seen(call: Write[Any]) -> Tournament:
    """Let what was made ahead happen. Raises Moved when the tournament is another by now."""
    seen: Ahead = call.ahead
    kept = enact.kept_of(call.db, call.ids[TOURNAMENT])
    if kept.revision != seen.revision:
        raise Moved
    return _enacted(call, seen.made, kept)


def _made(stated: "Made | Sequence[Change]") -> Made:
    return stated if isinstance(stated, Made) else Made(stated)
