"""How the rounds of a tournament were drawn, told from its journal."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from silverball.kit.errors import NotFound
from silverball.service.draws import draw_text
from silverball.service.draws.draw_text import DrawCounts
from silverball.store import draw_previews, journal
from silverball.store.journal import Action
from silverball.store.tables import tournament
from silverball_wire import times
from silverball_wire.draws import RoundDraw, SeedCommitment, TournamentDraws


def tournament_draws(db: Connection, tournament_id: int) -> TournamentDraws:
    """The commitments and the drawn rounds of a tournament. Raises NotFound."""
    columns = select(tournament.c.status, tournament.c.settings)
    row = db.execute(columns.where(tournament.c.tournament_id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    actions = journal.all_actions(db, tournament_id)
    commitments = _commitments(actions, is_revealed=row.status == "completed")
    pending = draw_previews.counts(db, tournament_id)
    return TournamentDraws(
        commitments=commitments,
        rounds=tuple(_round_draws(actions, row.settings, pending)),
        text=draw_text.seeds_text(len(commitments), is_revealed=row.status == "completed"),
    )


def _commitments(actions: Sequence[Action], *, is_revealed: bool) -> tuple[SeedCommitment, ...]:
    return tuple(
        SeedCommitment(
            action_id=action.action_id,
            committed_at=times.iso(action.at),
            commitment=data["commitment"],
            seed=action.new_seed if is_revealed else None,
        )
        for action in actions
        for name, data in action.entries
        if name == journal.SEED_COMMITTED
    )


def _round_draws(
    actions: Sequence[Action], settings: Mapping[str, Any], pending: Mapping[str, int]
) -> list[RoundDraw]:
    """The rounds that exist, each with all that was done to its draw, also before it was taken back."""
    undone = {action.undone_action_id for action in actions}
    previews, redraws, takes = Counter[str](pending), Counter[str](), Counter[str]()
    swaps: Counter[int] = Counter()
    standing: dict[str, tuple[Action, dict[str, Any]]] = {}
    for action in actions:
        if action.undone_action_id is not None:
            continue
        draw = (action.dice_seed or "").partition("/")[2].rpartition("/")[0]
        for name, data in action.entries:
            if name == journal.DRAW_PREVIEWED:
                previews[draw] += data["times"]
            elif name == "DrawRemembered" and draw.startswith("round "):
                redraws[draw] += 1
            elif name == "RoundOpened" and draw.startswith("round "):
                takes[draw] += 1
                standing[draw] = (action, data["thing"])
            elif name == "RoundDeleted":
                standing = {key: found for key, found in standing.items() if found[1] != data["thing"]}
        if action.dice_seed is None and action.action_id not in undone:
            swaps.update(_rounds_with_swaps(action))
        if action.action_id in undone:
            standing = {key: found for key, found in standing.items() if found[0] is not action}
    return [
        _round_draw(
            action,
            opened,
            settings,
            DrawCounts(
                dry_runs=previews[draw],
                redraws=redraws[draw],
                swaps=swaps[opened["round_id"]],
                takes=takes[draw] - 1,
            ),
        )
        for draw, (action, opened) in standing.items()
    ]


def _rounds_with_swaps(action: Action) -> set[int]:
    """The rounds in whose games players changed places by hand: other players, and as many as before."""
    changed = [data for name, data in action.entries if name == "GameChanged"]
    return {
        data["after"]["round_id"]
        for data in changed
        if data["after"]["round_id"] is not None
        and set(data["before"]["player_ids"]) != set(data["after"]["player_ids"])
        and len(data["before"]["player_ids"]) == len(data["after"]["player_ids"])
    }


def _round_draw(
    action: Action, round_: Mapping[str, Any], settings: Mapping[str, Any], counts: DrawCounts
) -> RoundDraw:
    games = [data["thing"] for name, data in action.entries if name == "GameOpened"]
    return RoundDraw(
        round_id=round_["round_id"],
        name=round_["name"],
        drawn_at=times.iso(action.at),
        dry_runs=counts.dry_runs,
        redraws=counts.redraws,
        swaps=counts.swaps,
        takes=counts.takes,
        text=draw_text.round_text(games, settings, counts),
    )
