"""Every end that a small night can come to, from how it stands: the places that each player can still take.

Nights of points are counted as sums: each order of each open game, and each way to draw and play the rounds
that are left. All others are played by the engine, result by result. Equal states are played on once.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rules.night import Night
from silverball.kit.errors import Refusal
from silverball.rules.commands import clocks
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.drawing.groups import group_sizes
from silverball.rules.model import settings_protocols
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, Outcome
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.outlook.forecast import Claim
from silverball.rules.planning.nights import CertainBy
from silverball.rules.registry import FORMATS

OUTCOMES_MAX = 200_000
# States that the engine plays on from; a night with more of them is looked at later.
STATES_MAX = 150
Sums = NDArray[np.int64]


@dataclass(frozen=True)
class Ends:
    """The best and the worst place of each player over all ends; who is level may be put either way."""

    best: dict[int, int]
    worst: dict[int, int]
    outcomes: int

    def contradicts(self, claim: Claim, places: int) -> bool:
        """Whether an end makes the claim wrong."""
        if claim.fact == "out":
            return self.best.get(claim.player_id, places + 1) <= places
        return self.worst.get(claim.player_id, places + 1) > places


def all_ends(tournament: Tournament, claim: Claim | None = None) -> Ends | None:
    """All ends, or those in which a claimed place is taken; None when there are too many."""
    form = FORMATS[tournament.type]
    own = claim if claim is not None and claim.fact == "place" else None
    if form.planning.certain_by in {CertainBy.ROUNDS, CertainBy.GAMES}:
        return _ends_of_points(tournament, own)
    engine = _Engine(own)
    return engine.ends(tournament)


def _has_place(order: Sequence[int], claim: Claim | None) -> bool:
    return claim is None or order.index(claim.player_id) < (claim.place or 0)


# Points


def _ends_of_points(tournament: Tournament, own: Claim | None) -> Ends | None:
    points = {row.player_id: _hundredths(row.points) for row in FORMATS[tournament.type].rank(tournament)}
    # Who has left before their first result is listed once the open game is over.
    for entrant in tournament.entrants:
        if any(entrant.player_id in game.player_ids for game in _open_games(tournament)):
            given = entrant.points_adjustment + entrant.score_adjustment
            points.setdefault(entrant.player_id, _hundredths(given))
    ids = list(points)
    sums: Sums = np.array([list(points.values())])
    outcomes = 1
    for added in _what_is_added(tournament, ids, own):
        outcomes *= len(added)
        if outcomes > OUTCOMES_MAX:
            return None
        sums = np.unique((sums[:, None, :] + added[None, :, :]).reshape(-1, len(ids)), axis=0)
    ahead = (sums[:, None, :] > sums[:, :, None]).sum(axis=2)
    level = (sums[:, None, :] == sums[:, :, None]).sum(axis=2)
    best = dict(zip(ids, (1 + ahead.min(axis=0)).tolist(), strict=True))
    worst = dict(zip(ids, (ahead + level).max(axis=0).tolist(), strict=True))
    return Ends(best, worst, outcomes)


def _hundredths(points: Any) -> int:
    return int(Decimal(str(points)) * 100)


def _what_is_added(tournament: Tournament, ids: Sequence[int], own: Claim | None) -> Iterator[Sums]:
    """For each open game and each later round: the points of all ways that it can go."""
    for game in tournament.games:
        if game.status == "started" and not game.is_tiebreak:
            asked = own if own is not None and own.game_id == game.game_id else None
            yield np.array(list(_ways_of_game(tournament, game.player_ids, ids, asked)))
    if FORMATS[tournament.type].planning.certain_by is CertainBy.ROUNDS:
        rounds = settings_protocols.rounds_planned(tournament.settings) - len(tournament.rounds)
        later = np.array(list(_ways_of_round(tournament, ids))) if rounds else np.zeros((1, len(ids)))
        yield from [later.astype(np.int64)] * rounds


def _ways_of_game(
    tournament: Tournament, players: Sequence[int], ids: Sequence[int], own: Claim | None = None
) -> Iterator[list[int]]:
    assert tournament.points_map is not None
    awards = [_hundredths(points) for points in tournament.points_map[len(players) - 1]][: len(players)]
    for order in itertools.permutations(players):
        if _has_place(order, own):
            given = dict(zip(order, awards, strict=True))
            yield [given.get(each, 0) for each in ids]


def _ways_of_round(tournament: Tournament, ids: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """Each draw of those who play on, with each result of its games; equal ones once."""
    playing = tournament.active_ids
    in_pairs = FORMATS[tournament.type].players_per_game == 2
    sizes = (2,) * (len(playing) // 2) if in_pairs else group_sizes(len(playing))
    games = settings_protocols.games_per_round(tournament.settings)
    found: set[tuple[int, ...]] = set()
    for groups in _draws(tuple(playing), sizes):
        bye = set(playing) - set(itertools.chain(*groups))
        start = [_bye_points(tournament, games) if each in bye else 0 for each in ids]
        ways = [list(_ways_of_game(tournament, group, ids)) for group in groups for _ in range(games)]
        for chosen in itertools.product(*ways):
            found.add(tuple(np.sum([start, *chosen], axis=0).tolist()))
    return sorted(found)


def _draws(players: tuple[int, ...], sizes: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    if not sizes:
        yield []
        return
    for group in itertools.combinations(players, sizes[0]):
        rest = tuple(each for each in players if each not in group)
        for others in _draws(rest, sizes[1:]):
            yield [group, *others]


def _bye_points(tournament: Tournament, games: int) -> int:
    share = {"full": 100, "half": 50, "zero": 0}[getattr(tournament.settings, "byes", "full")]
    return share * games


# The engine


class _Engine:
    """Plays a night on in every way."""

    def __init__(self, own: Claim | None) -> None:
        self._own = own
        self._known: dict[Any, Ends | None] = {}
        self._states = 0

    def ends(self, tournament: Tournament) -> Ends | None:
        """All ends from here; None when there are too many, or the night cannot go on."""
        key = _state_key(tournament)
        if key not in self._known:
            self._states += 1
            self._known[key] = None if self._states > STATES_MAX else self._play(tournament)
        return self._known[key]

    def _play(self, tournament: Tournament) -> Ends | None:
        form = FORMATS[tournament.type]
        if form.is_over(tournament) and not _open_games(tournament):
            return _end(tournament)
        found: list[Ends] = []
        for after in self._next_states(tournament):
            ends = self.ends(after)
            if ends is None:
                return None
            found.append(ends)
        outcomes = sum(ends.outcomes for ends in found)
        if not found or outcomes > OUTCOMES_MAX:
            return None
        ids = found[0].best
        return Ends(
            {each: min(ends.best.get(each, 1) for ends in found) for each in ids},
            {each: max(ends.worst.get(each, len(ids)) for ends in found) for each in ids},
            outcomes,
        )

    def _next_states(self, tournament: Tournament) -> list[Tournament]:
        """The states after each result of the first open game, or after the step that follows the games."""
        after: list[Tournament] = []
        for outcome in self._outcomes(tournament):
            night = _night_from(tournament)
            if isinstance(outcome, AttemptOutcome):
                dice = Random("attempt")
                night.apply(single_player_commands.record_attempt(tournament, outcome, dice, night.now))
            else:
                night.record(outcome)
            after.append(night.tournament)
        return after or [_went_on(tournament)]

    def _outcomes(self, tournament: Tournament) -> list[Outcome]:
        games = _open_games(tournament)
        if games:
            game = games[0]
            own = self._own if self._own is not None and self._own.game_id == game.game_id else None
            return [
                GameOutcome(game_id=game.game_id, finishing_order=order)
                for order in itertools.permutations(game.player_ids)
                # Who gave up comes last.
                if _has_place(order, own)
                and not set(order[: len(order) - len(game.gave_up)]) & {*game.gave_up}
            ]
        return attempt_outcomes(tournament)


def attempt_outcomes(tournament: Tournament) -> list[Outcome]:
    """The results of the first open turn of a single player: each value that nobody has in the round yet."""
    waiting = [each for each in tournament.single_player_games if each.status != "completed"]
    waiting = [each for each in waiting if not each.is_voided]
    if not waiting:
        return []
    turn = waiting[0]
    mates = [
        each
        for each in tournament.single_player_games
        if each.round_id == turn.round_id and each.game_index == turn.game_index
    ]
    is_race = tournament.type == "amazingrace"
    taken = {each.score if is_race else int(each.points or 0) for each in mates if each.status == "completed"}
    free = [value for value in range(1, len(mates) + 1) if value not in taken]
    return [
        AttemptOutcome(
            single_player_game_id=turn.single_player_game_id,
            score=value if is_race else None,
            strokes=None if is_race else value,
        )
        for value in free
    ]


def _open_games(tournament: Tournament) -> list[Game]:
    return [game for game in tournament.games if game.status == "started"]


def _night_from(tournament: Tournament) -> Night:
    """The night in memory, with ids that nothing in it has."""
    taken = [game.game_id for game in tournament.games]
    taken += [each.single_player_game_id for each in tournament.single_player_games]
    taken += [round_.round_id for round_ in tournament.rounds]
    return Night(tournament, _ids=itertools.count(max(taken, default=0) + 100_000))


def _went_on(tournament: Tournament) -> Tournament:
    """The state after the round is completed, or the next one is drawn."""
    night = _night_from(tournament)
    take_next_step(night)
    return night.tournament


def take_next_step(night: Night) -> None:
    """Complete the open round, open the next one, or open the games of those who are free."""
    newest = night.tournament.newest_round
    if night.tournament.type == "max_matchplay":
        night.apply(clocks.create_matches(night.tournament, night.dice(), night.now))
    elif newest is not None and newest.status == "started":
        try:
            night.complete_round()
        except Refusal:
            night.open_round()
    else:
        night.open_round()


def _end(tournament: Tournament) -> Ends:
    rows = {row.player_id: row.position for row in FORMATS[tournament.type].rank(tournament)}
    places = list(rows.values())
    worst = {each: place + places.count(place) - 1 for each, place in rows.items()}
    return Ends(rows, worst, 1)


def _state_key(tournament: Tournament) -> Any:
    """Equal for states that go on alike: standings, open games and turns, and who has met whom."""
    rows = tuple(
        (row.player_id, row.position, str(row.points), row.strike_count)
        for row in FORMATS[tournament.type].rank(tournament)
    )
    met = sorted(tuple(sorted(game.player_ids)) for game in tournament.games if game.status == "completed")
    turns = tuple(
        (each.round_id, each.player_id, each.status, str(each.points), each.score)
        for each in tournament.single_player_games
    )
    rounds = tuple((each.round_index, each.status) for each in tournament.rounds_in_order)
    games = tuple(game.player_ids for game in _open_games(tournament))
    return rows, tuple(met), turns, rounds, games, tournament.active_ids
