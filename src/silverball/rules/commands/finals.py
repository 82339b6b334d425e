"""Finals: who goes on to each, what follows from their number, and how a final follows its source.

Source: formats, sections 4 and 26.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import UNSET, Struct

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.format import Format
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    CardDeleted,
    Change,
    DrawRemembered,
    EntrantAdded,
    EntrantChanged,
    EntrantRemoved,
    FinalsPlanned,
    GameDeleted,
    QueueLeft,
    RoundDeleted,
    SinglePlayerGameDeleted,
    SuggestionDecided,
    TournamentUnstarted,
    tournament_changes,
)
from silverball.rules.model.finals import FinalSource, FinalStep
from silverball.rules.model.refusals import TournamentIsCompleted
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.planning.nights import DoesNotFit, SetRounds
from silverball.rules.ranking.standing import Standing
from silverball.rules.registry import FORMATS

STEPS_MAX = 8


class NoSourceToFollow(Conflict):
    sentence = "This tournament was not made as a final: it follows nothing."


class FinalIsPlayed(Conflict):
    sentence = "The final has a result, so its players stay. Undo the result, or correct it by hand."


class FinalFollowsAlready(Conflict):
    sentence = "The final has the players of its source already."


class TiedInSource(Conflict):
    sentence = "{players} are tied in qualifying, across the cut or a line of byes. Settle that first."


class Cut(Struct, frozen=True, kw_only=True):
    """The places of a source that go on to a final."""

    # The rows before the first that goes on, and before the first that does not.
    first: int
    last: int
    rows: Sequence[Standing]
    # Players who share a place across the upper or the lower line of the cut.
    tied: tuple[int, ...] = ()

    @property
    def player_ids(self) -> tuple[int, ...]:
        """Those who go on, by place; equals in the order of their ids."""
        return tuple(row.player_id for row in self.rows[self.first : self.last])


def plan_finals(tournament: Tournament, steps: Sequence[FinalStep]) -> list[Change]:
    """Set the finals of a night. Raises Invalid for a step that says nothing, or too much."""
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change its finals")
    for number, step in enumerate(steps):
        check_step(step, f"steps.{number}")
    return tournament_changes(
        FinalsPlanned, tournament, state=replace(tournament.state, finals=tuple(steps) or UNSET)
    )


def check_step(step: FinalStep, path: str) -> None:
    """Raise Invalid unless exactly one of the three says how many go on, and the format takes them."""
    ways = (step.players is not None) + step.half + (step.within is not None)
    if ways != 1:
        raise Invalid({f"{path}.players": ["Say players, half or within: one of them."]})
    if step.players is not None:
        check_number(FORMATS[step.type], step.players, f"{path}.players")
    if step.within is not None and (not step.within.is_finite() or step.within < 0):
        raise Invalid({f"{path}.within".removeprefix("."): ["Give a number of points, 0 or more."]})


def check_number(form: Format, count: int, field_name: str) -> None:
    """Raise Invalid for a number of players with which the format cannot start."""
    most = form.players_max
    if count < form.players_min:
        raise Invalid({field_name: [f"This format needs {form.players_min} players, not {count}."]})
    if most is not None and count > most:
        raise Invalid({field_name: [f"This format takes at most {most} players, not {count}."]})


def cut_of(rows: Sequence[Standing], steps: Sequence[FinalStep]) -> Cut:
    """The places that go on to the last of these steps. Takes the rows of those who can, by position."""
    first, last = 0, 0
    for step in steps:
        first = last
        last = _end_of_step(rows, first, step)
    tied = [each for line in (first, last) for each in tournament_commands.players_tied_across(rows, line)]
    return Cut(first=first, last=last, rows=rows, tied=tuple(dict.fromkeys(tied)))


def _end_of_step(rows: Sequence[Standing], first: int, step: FinalStep) -> int:
    if step.players is not None:
        return min(first + step.players, len(rows))
    if step.half:
        return first + (len(rows) - first) // 2
    assert step.within is not None
    values = _values(rows)
    near = [value for value in values if abs(value - values[0]) <= step.within]
    return max(first, len(near))


def _values(rows: Sequence[Standing]) -> list[Decimal]:
    """The numbers that the standings go by: strikes where there are any, else points."""
    if any(row.strike_count for row in rows):
        return [Decimal(row.strike_count or 0) for row in rows]
    return [Decimal(str(row.points or 0)) for row in rows]


def byes_and_rounds(
    form: Format, settings: TournamentSettings, players: int
) -> tuple[tuple[int, ...], int | None]:
    """How many of the best seeds wait, at each line, and the number of rounds where it is known."""
    try:
        shape = form.planning.shape(settings, players)
    except DoesNotFit:
        return (), None
    rounds = len(shape.rounds) if isinstance(shape, SetRounds) else None
    return form.bye_lines(settings, players), rounds


# A final that follows its source


class Difference(Struct, frozen=True, kw_only=True):
    """The changes that would make a final what its source gives now."""

    entering: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    # Players who would have another seed, and that seed.
    reseeded: tuple[tuple[int, int], ...] = ()
    # Put in, taken out or seeded by hand: they stay as they are. The source says otherwise of these.
    kept_by_hand: tuple[int, ...] = ()
    # The players as they would be, best seed first.
    order: tuple[int, ...] = ()
    # The players whom the source gives, whatever was done by hand.
    wanted: tuple[int, ...] = ()
    # Players who share a place across the cut, or a line of byes: nobody moves before that is settled.
    tied: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the final is as its source has it."""
        return not (self.entering or self.leaving or self.reseeded)


def difference(final: Tournament, source: FinalSource, rows: Sequence[Standing]) -> Difference:
    """Compare a final with what its source would give. Takes the rows of those who can go on."""
    current = _seeds_by_player(final)
    given = {player_id: seed for seed, player_id in enumerate(source.given, start=1)}
    seeded = {player_id: seed for seed, player_id in enumerate(source.seeded, start=1)}
    taken_out = given.keys() - current.keys()
    offered = [row for row in rows if not (source.fills_up and row.player_id in taken_out)]
    cut = cut_of(offered, source.steps)
    wanted = _in_given_order(cut, source.given)
    moved = {each for each, seed in current.items() if each in seeded and seed != seeded[each]}
    order = [player_id for player_id in wanted if player_id not in taken_out]
    order += [player_id for player_id in current if player_id not in given and player_id not in order]
    # Who was seeded by hand keeps that seed.
    for player_id in sorted(moved & set(order), key=lambda each: current[each] or 0):
        order.remove(player_id)
        order.insert(min((current[player_id] or 1) - 1, len(order)), player_id)
    stay = [player_id for player_id in current if player_id in order]
    reordered = [player_id for player_id in order if player_id in current]
    reseeded = [new for old, new in zip(stay, reordered, strict=True) if old != new]
    found = Difference(
        entering=tuple(player_id for player_id in order if player_id not in current),
        leaving=tuple(player_id for player_id in current if player_id not in order),
        reseeded=tuple((player_id, order.index(player_id) + 1) for player_id in reseeded),
        kept_by_hand=tuple(sorted(each for each in moved if _is_reseeded(each, given, wanted))),
        order=tuple(order),
        wanted=tuple(wanted),
    )
    if found.is_empty:
        return found
    form = tournament_commands.format_of(final)
    lines = form.bye_lines(final.settings, len(order)) if len(order) >= form.players_min else ()
    at_byes = [
        player_id
        for line in lines
        for player_id in tournament_commands.players_tied_across(cut.rows[cut.first : cut.last], line)
    ]
    return replace(found, tied=(*cut.tied, *at_byes))


def _seeds_by_player(final: Tournament) -> dict[int, int | None]:
    """Id of each active player -> seed, best seed first."""
    ordered = sorted(
        (entrant for entrant in final.entrants if entrant.is_active),
        key=lambda entrant: (entrant.seed_value is None, entrant.seed_value or 0, entrant.place),
    )
    return {entrant.player_id: entrant.seed_value for entrant in ordered}


def _is_reseeded(player_id: int, given: Mapping[int, int], wanted: Sequence[int]) -> bool:
    """Whether the source gives the player another seed than it gave before."""
    return player_id in wanted and wanted.index(player_id) + 1 != given.get(player_id)


def _in_given_order(cut: Cut, given: Sequence[int]) -> list[int]:
    """Those who go on, by place; equals stay in the order that was drawn for them."""
    known = {player_id: at for at, player_id in enumerate(given)}
    rows = list(cut.rows[cut.first : cut.last])
    ordered = sorted(rows, key=lambda row: (row.position, known.get(row.player_id, len(known))))
    return [row.player_id for row in ordered]


def with_filling(source: FinalSource, *, fills_up: bool) -> FinalSource:
    """The source with or without the next in line for those who were taken out."""
    return replace(source, fills_up=fills_up)


def has_results(tournament: Tournament) -> bool:
    """Whether anything was played: byes are no results."""
    played = any(game.status == "completed" and not game.is_bye for game in tournament.games)
    return played or any(attempt.status == "completed" for attempt in tournament.single_player_games)


def follow_source(
    final: Tournament, found: Difference, new: Sequence[Entrant], *, fills_up: bool
) -> list[Change]:
    """Take over what the source gives now; a start without results is taken back by the same action.

    `new` are the entrants to add. Raises Conflict for a final with results, and when nothing differs.
    """
    source = final.state.final_source
    if not isinstance(source, FinalSource):
        raise NoSourceToFollow
    if has_results(final) or final.status == "completed":
        raise FinalIsPlayed
    if found.is_empty:
        raise FinalFollowsAlready
    if found.tied:
        raise TiedInSource(players=found.tied)
    changes = _take_start_back(final) if final.status == "started" else []
    current = apply_changes(final, changes)
    for player_id in found.leaving:
        changes.append(EntrantRemoved(current.entrant_by_id[player_id]))
    place = max((entrant.place for entrant in final.entrants), default=-1) + 1
    seeds = {player_id: seed for seed, player_id in enumerate(found.order, start=1)}
    for at, entrant in enumerate(new):
        changes.append(EntrantAdded(replace(entrant, place=place + at, seed_value=seeds[entrant.player_id])))
    current = apply_changes(final, changes)
    for entrant in current.entrants:
        if entrant.player_id in seeds and entrant.seed_value != seeds[entrant.player_id]:
            changes.append(EntrantChanged(entrant, replace(entrant, seed_value=seeds[entrant.player_id])))
    # Who was taken out by hand stays known as that.
    kept_out = [each for each in source.given if each not in found.wanted and each not in final.entrant_by_id]
    after = replace(source, given=(*found.wanted, *kept_out), seeded=found.order, fills_up=fills_up)
    current = apply_changes(final, changes)
    changes += tournament_changes(FinalsPlanned, current, state=replace(current.state, final_source=after))
    form = tournament_commands.format_of(final)
    return [*changes, *form.fit_to_players(apply_changes(final, changes))]


def _take_start_back(final: Tournament) -> list[Change]:
    """Take back a start from which nothing was played."""
    changes: list[Change] = [SuggestionDecided(suggestion) for suggestion in final.suggestions]
    changes += [QueueLeft(spot) for spot in final.queue]
    changes += [SinglePlayerGameDeleted(attempt) for attempt in final.single_player_games]
    changes += [CardDeleted(card) for card in final.cards]
    changes += [GameDeleted(game) for game in final.games]
    changes += [RoundDeleted(round_) for round_ in reversed(final.rounds_in_order)]
    changes += tournament_changes(TournamentUnstarted, final, status="planned")
    changes += [
        EntrantChanged(entrant, replace(entrant, seed_rank=None))
        for entrant in final.entrants
        if entrant.seed_rank is not None
    ]
    state = replace(final.state, clock_ends_at=None, schedule=(), left_ids=UNSET)
    return [*changes, *tournament_changes(DrawRemembered, final, state=state)]
