"""Random nights in memory that are verified after every step, undos included."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

import msgspec

from rules.moves import Moves
from rules.night import Night
from rules.night_machine import NightMachine
from silverball.kit.errors import Refusal
from silverball.kit.values import replace
from silverball.rules.commands import tiebreaks
from silverball.rules.model.changes import Added, Altered, Change
from silverball.rules.model.settings import Band
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.registry import FORMATS
from silverball.rules.verify import replay, results, standings
from silverball.rules.verify.replay import ReplayedAction
from silverball.service.standings.reads.standings import wire_standing

AnyNight = TypeVar("AnyNight", bound=Night)
STEPS = 30
# How often a step is followed by an attempt to separate tied players.
TIES_SHARE = 0.15
# Most steps of a night are play.
WEIGHTS = {"play_round": 6, "record": 5, "record_all": 2, "undo": 3, "correct": 2, "something_else": 3}


@dataclass
class JournalledNight(Night):
    """A night whose undos are actions too, as in the journal of a stored tournament."""

    planned: Tournament | None = None
    actions: list[ReplayedAction] = field(default_factory=list)
    # The ids of the actions that an undo can take back, newest last.
    undoable_ids: list[int] = field(default_factory=list)

    def apply(self, changes: Sequence[Change]) -> list[Change]:
        real = super().apply(changes)
        if real:
            self.actions.append(ReplayedAction(len(self.actions) + 1, real))
            self.undoable_ids.append(len(self.actions))
        return real

    def undo(self) -> list[Change]:
        opposites = super().undo()
        undone_id = self.undoable_ids.pop()
        self.actions.append(ReplayedAction(len(self.actions) + 1, opposites, (undone_id,)))
        return opposites

    def faults(self) -> list[str]:
        """What the verifier says about the night as it stands."""
        tournament = self.tournament
        checks = FORMATS[tournament.type].verify
        state = replay.stored_state(tournament)
        found = replay.journal_faults(self.actions)
        for action, faults in replay.replay_backwards(state, self.actions):
            found += faults
            if not action.undone_action_ids:
                found += replay.draw_faults(checks, state, action.changes, action.action_id)
        assert self.planned is not None
        if state != replay.stored_state(self.planned):
            found.append("The replay does not end with the planned tournament.")
        found += replay.state_faults(tournament, checks)
        found += results.result_faults(tournament, checks, _recorded_game_ids(self.actions))
        found += standings.standings_faults(tournament, checks, _stored_rows(tournament))
        if tournament.status == "completed":
            found += checks.final_points_faults(tournament)
        return found


def journalled(night: Night) -> JournalledNight:
    """The planned night with a journal that can be verified."""
    return JournalledNight(night.tournament, now=night.now, planned=night.tournament)


def _recorded_game_ids(actions: Sequence[ReplayedAction]) -> set[int]:
    changes = [change for action in actions for change in action.changes]
    parts = [
        change.after if isinstance(change, Altered) else change.subject
        for change in changes
        if isinstance(change, Added | Altered)
    ]
    return {part.game_id for part in parts if isinstance(part, Game) and part.status == "completed"}


def _stored_rows(tournament: Tournament) -> dict[int, dict[str, Any]]:
    if tournament.status == "planned":
        return {}
    rows = FORMATS[tournament.type].rank(tournament)
    return {row.player_id: msgspec.to_builtins(wire_standing(row)) for row in rows}


def walk(played: Moves, seed: str) -> list[str]:
    """Play one random night and return the verifier's first faults and the steps before them."""
    steps: list[str] = []
    for night, step in _steps(played, seed, STEPS, journalled):
        steps.append(step)
        faults = night.faults()
        if faults:
            return [f"{played.kind}, seed {seed!r}, after {', '.join(steps)}:", *faults]
    return []


def random_night(played: Moves, seed: str, *, steps: int, prepare: Callable[[Night], AnyNight]) -> AnyNight:
    """A random night after this many steps."""
    *_, (night, _step) = _steps(played, seed, steps, prepare)
    return night


def nights(played: Moves, seed: str, *, steps: int) -> Iterator[JournalledNight]:
    """One random night, after each step."""
    return (night for night, _step in _steps(played, seed, steps, journalled))


def _steps(
    played: Moves, seed: str, count: int, prepare: Callable[[Night], AnyNight]
) -> Iterator[tuple[AnyNight, str]]:
    """Play one random night and yield it after each step, with the name of the step."""

    dice = Random(seed)

    class WalkedNight(NightMachine):
        moves = played

        def prepare_night(self, night: Night) -> Night:
            return prepare(with_bands(night, dice))

    machine: Any = WalkedNight()
    machine.plan(pick=8 * dice.randrange(1000) + 1, seed=dice.randrange(1000))
    for _ in range(count):
        open_steps = [step for step in machine.rules if all(holds(machine) for holds in step.preconditions)]
        weights = [WEIGHTS.get(step.function.__name__, 1) for step in open_steps]
        (step,) = dice.choices(open_steps, weights)
        drawn = {"pick": dice.randrange(2**16), "points": dice.randint(-2, 3), "actions": dice.randint(1, 3)}
        step.function(machine, **{name: drawn[name] for name in step.arguments})
        yield machine.night, step.function.__name__
        if dice.random() < TIES_SHARE and separate_tied(machine, dice):
            yield machine.night, "separate_tied"


def separate_tied(machine: Any, dice: Random) -> bool:
    """Order players who share a place by hand, open a tiebreak between them, or take an order back."""
    tournament = machine.tournament
    if tournament.status != "started":
        return False
    groups = [group for group in tiebreaks.tied_groups(tournament) if len(group) > 1]
    ordered = [entrant.player_id for entrant in tournament.entrants if entrant.tie_group]
    try:
        if ordered and dice.random() < 0.3:
            changes = tiebreaks.clear_manual_order(tournament, ordered[:1])
        elif groups and dice.random() < 0.6:
            group = dice.choice(groups)
            changes = tiebreaks.set_manual_order(tournament, dice.sample(group, len(group)))
        else:
            changes = tiebreaks.open_tiebreak(tournament, dice.choice(groups or [()]), machine.night.now)
    except Refusal:
        return False
    machine.applied_changes += machine.night.apply(changes)
    return bool(changes)


def with_bands(night: Night, dice: Random) -> Night:
    """The planned night, mostly with playoff bands where its format has them."""
    chosen = night.tournament.settings
    if not hasattr(chosen, "playoffs_cutoffs") or dice.random() < 0.3:
        return night
    ends = sorted(dice.sample(range(1, 8), dice.randint(1, 3)))
    bands = tuple(
        Band(index=index, value=end - before, cumulative=end, text="", color=dice.choice([None, "#fff000"]))
        for index, (before, end) in enumerate(itertools.pairwise([0, *ends]))
    )
    settings: Any = msgspec.structs.replace(chosen, playoffs_cutoffs=bands)
    return dataclasses.replace(night, tournament=replace(night.tournament, settings=settings))
