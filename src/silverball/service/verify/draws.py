"""Verification of draws: the seed is the one that was committed to, and gives what was drawn."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from silverball.rules.commands import draws, draws_again
from silverball.rules.commands.draws_again import DrawnAction
from silverball.rules.registry import FORMATS
from silverball.store import journal, snapshot
from silverball.store.engine import Db
from silverball.store.journal import Action

BEFORE_COMMITMENTS = "drawn before commitments"


class DrawsReport(Struct, frozen=True):
    """The outcome of making the draws of a tournament again."""

    tournament_id: int
    faults: Sequence[str]
    # Names of the draws that gave the same again, and of those that cannot be made again from the journal.
    same: Sequence[str] = ()
    not_remade: Sequence[str] = ()
    # Why nothing was compared; None where it was.
    reason: str | None = None


def verify_draws(db: Db, tournament_id: int) -> DrawsReport:
    """Make the draws of a tournament again, and compare its seeds with their commitments."""
    actions = journal.all_actions(db, tournament_id)
    begins = [
        number
        for number, action in enumerate(actions)
        if {journal.TOURNAMENT_IMPORTED, journal.MATCHES_MERGED} & {name for name, _ in action.entries}
    ]
    begin = begins[-1] + 1 if begins else 0
    type_ = snapshot.stored_type(db, tournament_id)
    if type_ not in FORMATS or not commitments(actions):
        return DrawsReport(tournament_id, (), reason=BEFORE_COMMITMENTS)
    stored = snapshot.load(db, tournament_id)
    remade = draws_again.make_draws_again(
        stored, [_drawn_action(action, stored.type) for action in actions[begin:]]
    )
    faults = [*_commitment_faults(actions), *remade.faults]
    return DrawsReport(tournament_id, faults, remade.same, remade.not_remade)


def commitments(actions: Sequence[Action]) -> list[tuple[Action, str]]:
    """The commitments to seeds in these actions, with the action of each; first to last."""
    return [
        (action, data["commitment"])
        for action in actions
        for name, data in action.entries
        if name == journal.SEED_COMMITTED
    ]


def _commitment_faults(actions: Sequence[Action]) -> list[str]:
    return [
        f"Action {action.action_id} committed to another seed than the one that it set."
        for action, committed in commitments(actions)
        if draws.commitment(action.new_seed or "") != committed
    ]


def _drawn_action(action: Action, type_: str) -> DrawnAction:
    facts: Any = next((data for name, data in action.entries if name == journal.DRAW_FACTS), {})
    return DrawnAction(
        action_id=action.action_id,
        at=action.at,
        changes=action.decode_changes(type_),
        dice_seed=action.dice_seed,
        draw_version=action.draw_version,
        is_undo=action.undone_action_id is not None,
        facts=facts,
    )
