"""The clock and the queue of a frenzy."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from silverball.kit.body import Body
from silverball.kit.http import Write
from silverball.rules import frenzyplay
from silverball.rules.changes import Change
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.frenzy import reads
from silverball.service.frenzy.bodies import MoreTime, Waiting
from silverball.wire.frenzy import FrenzyState

TOURNAMENT, QUEUE = "tournament_id", "queue_id"


def pause(call: Write[Body]) -> FrenzyState:
    """The clock stops."""
    return _done(call, lambda t, _dice: frenzyplay.pause(t, call.now))


def resume(call: Write[Body]) -> FrenzyState:
    """The clock runs on."""
    return _done(call, lambda t, dice: frenzyplay.resume(t, dice, call.now))


def change_time(call: Write[MoreTime]) -> FrenzyState:
    """More or less time."""
    return _done(call, lambda t, dice: frenzyplay.change_time(t, call.body.seconds, dice, call.now))


def start_waiting(call: Write[Body]) -> FrenzyState:
    """Games for whoever waits."""
    return _done(call, lambda t, dice: frenzyplay.start_waiting(t, dice, call.now), may=access.may_score)


def join_queue(call: Write[Waiting]) -> FrenzyState:
    """A player waits again."""
    player_id = call.body.player_id
    return _done(
        call, lambda t, dice: frenzyplay.join_queue(t, player_id, dice, call.now), may=access.may_score
    )


def take_out(call: Write[Body]) -> FrenzyState:
    """Somebody waits no more."""
    return _done(call, lambda t, _dice: frenzyplay.take_out(t, call.ids[QUEUE]), may=access.may_score)


def send_to_end(call: Write[Body]) -> FrenzyState:
    """Somebody lets all others go first."""
    return _done(call, lambda t, _dice: frenzyplay.send_to_end(t, call.ids[QUEUE]), may=access.may_score)


def _done(
    call: Write[Any],
    rule: Callable[[Tournament, Random], Sequence[Change]],
    *,
    may: acting.May = access.is_organizer,
) -> FrenzyState:
    acting.act(
        call,
        lambda t: acting.drawn(t, f"queue after {len(t.games)}", lambda dice: rule(t, dice)),
        may=may,
    )
    return reads.state(call.db, call.ids[TOURNAMENT])
