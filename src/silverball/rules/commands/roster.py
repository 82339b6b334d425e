"""Commands on entrants, one by one or many at once, and on banks, scorekeepers and directors.

Each function returns changes or refuses. Source: formats, sections 2, 7, 10 and 20.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

from msgspec import UNSET, UnsetType

from silverball.kit.errors import Conflict, Invalid, NotFound, Sentence
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tiebreaks
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.drawing import apart
from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.format import CountedIn, PlayKind
from silverball.rules.mechanics import attempts, queues, results
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    ArenaAdded,
    ArenaChanged,
    ArenaRemoved,
    BankAdded,
    BankRemoved,
    Change,
    DirectorAdded,
    DirectorRemoved,
    EntrantChanged,
    GameChanged,
    PairsApartSet,
    QueueLeft,
    ScorekeeperAdded,
    ScorekeeperRemoved,
    changes_between,
    tournament_changes,
)
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.refusals import TournamentIsCompleted
from silverball.rules.model.settings import DrawnRoundSettings
from silverball.rules.model.settings_protocols import HasPairing, has
from silverball.rules.model.tournament import Bank, Entrant, Game, LineupArena, Scorekeeper, Tournament

# Adjustments of points and strikes by hand. Source: formats, sections 12 and 13.5.


ADJUSTMENT_MAX = 10**9


class AdjustmentsNotAllowed(Conflict):
    sentence = "Places of this tournament follow from its games: correct a result instead."


def require_adjustable(tournament: Tournament, **wanted: Decimal | None) -> None:
    """Refuse an adjustment. Raises Conflict by format, Invalid for a value that cannot be stored."""
    if not tournament_commands.format_of(tournament).can_adjust:
        raise AdjustmentsNotAllowed
    for name, value in wanted.items():
        if value is None:
            continue
        if not value.is_finite() or abs(value) > ADJUSTMENT_MAX:
            raise Invalid({name: [f"Adjust by at most {ADJUSTMENT_MAX}, up or down."]})
        if value != round(value, 2):
            raise Invalid({name: [f"{value} has more than two decimals."]})


def adjust_entrant(
    tournament: Tournament,
    player_id: int,
    *,
    points: Decimal | None = None,
    score: Decimal | None = None,
) -> list[Change]:
    """Adjust strikes in knockouts, points elsewhere; this may bring a player back at once.

    Source: formats, sections 12 and 13.5.
    """
    entrant = tournament_commands.find_entrant(tournament, player_id)
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="adjust anything")
    require_adjustable(tournament, pointsAdjustment=points, scoreAdjustment=score)
    after = replace(
        entrant,
        points_adjustment=entrant.points_adjustment if points is None else points,
        score_adjustment=entrant.score_adjustment if score is None else score,
    )
    if after.points_adjustment != entrant.points_adjustment:
        after = replace(after, adjusted_after=tournament.rounds_completed)
    return changes_between(EntrantChanged, entrant, _with_byes_credited(tournament, entrant, after))


def _with_byes_credited(tournament: Tournament, before: Entrant, after: Entrant) -> Entrant:
    """The entrant with byes credited when an adjustment brings them back into a running tournament."""
    playing = tournament_commands.format_of(tournament).playing_ids
    if tournament.status != "started" or before.player_id in playing(tournament):
        return after
    then = apply_changes(tournament, changes_between(EntrantChanged, before, after))
    if before.player_id not in playing(then):
        return after
    return replace(after, byes_credited=tournament_commands.byes_to_credit(tournament, before))


# Commands on players who come late, sit out rounds or leave a game that is being played.
# Source: formats, section 20.


# What becomes of the open games of a player who leaves.
STAYS_IN, LAST_PLACE, GOES_ON = "keep", "last", "fewer"
# A player is in as many open games at once as a round has games for each group.
GAMES_MAX = 100


class AwayInRace(Conflict):
    sentence = "Nobody sits out a round of a race: who leaves is out, and who is late lets others go first."


class AwayNeedsRounds(Conflict):
    sentence = (
        "Only in a tournament whose rounds are drawn one by one can a player sit out rounds. "
        "Drop the player, and bring them back later."
    )


class LastPlacesOnly(Conflict):
    sentence = "{game} is a match of several games: record a forfeit instead."


def late_points(tournament: Tournament, *, is_seated: bool) -> Decimal:
    """Points, or strikes, of a late player for the rounds they missed; 0 where the settings give none.

    Each round that has been drawn is missed, but the open one by players who join a game of it.
    """
    settings = tournament.settings
    if tournament.status != "started" or not isinstance(settings, DrawnRoundSettings):
        return Decimal(0)
    points = settings.late_points
    missed = len(tournament.rounds) - (1 if is_seated else 0)
    return Decimal(0) if isinstance(points, UnsetType) else Decimal(points * max(missed, 0))


def send_away(
    tournament: Tournament,
    player_id: int,
    rounds: int,
    dice: Random,
    now: datetime,
    *,
    is_in_round: bool,
) -> list[Change]:
    """Let a player sit out so many rounds; with 0 they are drawn again. They come back by themselves.

    `is_in_round` counts the open round, whose game they have just left, as the first. Raises Conflict
    where no rounds are opened or nobody can leave.
    """
    tournament_commands.require_started(tournament)
    entrant = tournament_commands.find_entrant(tournament, player_id)
    if rounds == 0:
        return tournament_commands.set_active(tournament, player_id, is_active=True, dice=dice, now=now)
    form = tournament_commands.format_of(tournament)
    if form.play is PlayKind.RACE:
        raise AwayInRace
    if not (form.can_open_rounds and form.can_leave):
        raise AwayNeedsRounds
    left = rounds - 1 if is_in_round else rounds
    after = replace(entrant, is_active=left == 0, away_rounds=left)
    changes = changes_between(EntrantChanged, entrant, after)
    if entrant.is_active and not after.is_active:
        changes += form.roster_changed(apply_changes(tournament, changes), after, dice, now)
    return changes


def leave_open_games(
    tournament: Tournament, player_id: int, how: str, dice: Random, now: datetime
) -> list[Change]:
    """Take a player out of the games they are in, or give them the last place; no change without games."""
    if how == STAYS_IN or tournament.status != "started":
        return []
    changes: list[Change] = []
    current = tournament
    for _ in range(GAMES_MAX):
        game = next((game for game in current.open_games if _is_to_leave(game, player_id, how)), None)
        if game is None:
            break
        step = (
            give_last_place(current, game, player_id, dice, now)
            if how == LAST_PLACE
            else game_commands.remove_player(current, game.game_id, player_id)
        )
        current = apply_changes(current, step)
        changes += step
    return changes


def _is_to_leave(game: Game, player_id: int, how: str) -> bool:
    if player_id not in game.player_ids or game.is_tiebreak:
        return False
    return how != LAST_PLACE or player_id not in game.result_positions


def give_last_place(
    tournament: Tournament, game: Game, player_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Give the last free place; the game is complete when one player is left for the first.

    The others play on, and the places of those who left stay in the game until it is recorded.
    """
    if tournament.settings.has_matches:
        raise LastPlacesOnly(game=game.game_id)
    gone = [player_id, *last_places(game)]
    others = [seat for seat in game.player_ids if seat not in gone]
    if len(others) < PAIR_SIZE:
        outcome = GameOutcome(game_id=game.game_id, finishing_order=(*others, *gone))
        return tournament_commands.record_result(tournament, outcome, dice, now)
    positions: Sequence[int | None] = [*(None for _ in others), *gone]
    return [GameChanged(game, replace(game, result_positions=tuple(positions)))]


def last_places(game: Game) -> list[int]:
    """The players of an open game who left it and have its last places, in their order."""
    if game.status == "completed":
        return []
    return [player_id for player_id in game.result_positions if player_id is not None]


# Commands on the arenas of a tournament: add, put out of service, bring back, remove.
#
# Each function returns changes, with the consequences in the format, or refuses: a frenzy moves the game
# that was on the arena. Source: formats, sections 2, 7 and 14.14.


PAIRS_APART_MAX = 200


class PairsNotKeptApart(Conflict):
    sentence = "Nobody can be kept apart here: who meets whom follows from the format, not from a draw."


def set_pairs_apart(tournament: Tournament, pairs: Sequence[tuple[int, int]]) -> list[Change]:
    """Set the pairs whom draws from now on keep apart, in place of those before.

    Raises Conflict in formats whose rounds are not drawn, Invalid for a player who is not in the
    tournament, a player with themselves, and too many pairs.
    """
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change its draws")
    if not has(tournament.settings, HasPairing):
        raise PairsNotKeptApart
    for pair in pairs:
        if pair[0] == pair[1]:
            raise Invalid({"pairs": [Sentence("{player} is paired with themselves.", player=pair[0])]})
        for player_id in pair:
            if player_id not in tournament.entrant_by_id:
                raise Invalid({"pairs": [Sentence("{player} is not in this tournament.", player=player_id)]})
    kept = tuple(sorted({apart.sorted_pair(*pair) for pair in pairs}))
    if len(kept) > PAIRS_APART_MAX:
        raise Invalid({"pairs": [f"At most {PAIRS_APART_MAX} pairs can be kept apart."]})
    state = replace(tournament.state, pairs_apart=kept or UNSET)
    return tournament_changes(PairsApartSet, tournament, state=state)


class ArenaAlreadyInLineup(Conflict):
    sentence = "{arena} is in the tournament already."


class ArenaInUse(Conflict):
    sentence = "{arena} is in use here. Set it inactive instead."


def find_lineup_arena(tournament: Tournament, arena_id: int) -> LineupArena:
    """An arena of the tournament. Raises NotFound."""
    for lineup_arena in tournament.lineup:
        if lineup_arena.arena_id == arena_id:
            return lineup_arena
    raise NotFound("Arena", arena_id)


def add_arenas(
    tournament: Tournament, new: Sequence[LineupArena], dice: Random, now: datetime
) -> list[Change]:
    """Add arenas, before the start or later. Raises Conflict for one already in the lineup."""
    _require_not_completed(tournament)
    changes: list[Change] = []
    current = tournament
    for lineup_arena in new:
        if any(each.arena_id == lineup_arena.arena_id for each in current.lineup):
            raise ArenaAlreadyInLineup(arena=lineup_arena.arena_id)
        place = max((other.place for other in current.lineup), default=-1) + 1
        placed = replace(lineup_arena, place=place)
        step: list[Change] = [ArenaAdded(placed)]
        step += _lineup_consequences(apply_changes(current, step), placed, dice, now)
        current = apply_changes(current, step)
        changes += step
    return changes


def change_arena(
    tournament: Tournament, arena_id: int, dice: Random, now: datetime, **after: Any
) -> list[Change]:
    """Change fields of a lineup arena (`is_active`, `is_preferred`, ...), with the consequences.

    Open games on an arena out of service keep it, unless the format moves them: the organizer rules
    what becomes of them. Those that wait go on when it is back. Raises NotFound.
    """
    _require_not_completed(tournament)
    lineup_arena = find_lineup_arena(tournament, arena_id)
    changed = replace(lineup_arena, **after)
    changes = changes_between(ArenaChanged, lineup_arena, changed)
    if changed.is_active == lineup_arena.is_active:
        return changes
    if changed.is_active:
        waiting = [game for game in tournament.open_games if game.arena_id == arena_id]
        changes += [change for game in waiting for change in tiebreaks.resume_clock(game, now)]
    return [*changes, *_lineup_consequences(apply_changes(tournament, changes), changed, dice, now)]


def mark_out_of_order(
    tournament: Tournament, arena_id: int, dice: Random, now: datetime, **after: Any
) -> list[Change]:
    """Put an arena out of service and move every open game on it to another one.

    Raises Conflict when no other arena is free for a game.
    """
    changes = change_arena(tournament, arena_id, dice, now, is_active=False, **after)
    current = apply_changes(tournament, changes)
    for game in tournament.games:
        stays = next((each for each in current.games if each.game_id == game.game_id), None)
        if stays is not None and stays.status == "started" and stays.arena_id == arena_id:
            step = game_commands.redraw_arena(current, stays.game_id, dice)
            current = apply_changes(current, step)
            changes += step
    return changes


def dissolve_queue(tournament: Tournament, arena_id: int) -> list[Change]:
    """Take everybody out of the queue of an arena; without it they wait until it is back in play."""
    return [QueueLeft(spot) for spot in queues.waiting_spots(tournament, arena_id=arena_id)]


def remove_arena(tournament: Tournament, arena_id: int) -> list[Change]:
    """Remove an arena that was never played. Raises Conflict for any other: set it inactive instead."""
    _require_not_completed(tournament)
    lineup_arena = find_lineup_arena(tournament, arena_id)
    played = any(
        arena_id in {game.arena_id, *(leg.arena_id for leg in game.legs)} for game in tournament.games
    )
    attempted = any(game.arena_id == arena_id for game in tournament.single_player_games)
    holes = any(hole.arena_id == arena_id for hole in tournament.rounds)
    waited = any(spot.arena_id == arena_id and not spot.is_done for spot in tournament.queue)
    if played or attempted or holes or waited:
        raise ArenaInUse(arena=arena_id)
    return [ArenaRemoved(lineup_arena)]


def _lineup_consequences(
    tournament: Tournament, lineup_arena: LineupArena, dice: Random, now: datetime
) -> list[Change]:
    if tournament.status != "started":
        return []
    return tournament_commands.format_of(tournament).lineup_changed(tournament, lineup_arena, dice, now)


def _require_not_completed(tournament: Tournament) -> None:
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change its arenas")


NO_SEATS: Mapping[int, int] = {}
LABEL_FIELDS = ("labels", "label_color")

# All of them are announced with the tournament and have to fit into one feed event.
BANKS_MAX = 25
SCOREKEEPERS_MAX = 25


class OrganizerIsNoDirector(Conflict):
    sentence = "The organizer of the tournament directs it already."


class SeedsAreFrozen(Conflict):
    sentence = "Seeds are frozen when the tournament starts. Add the player without one."


class SeedsCannotChange(Conflict):
    sentence = "Seeds are frozen when the tournament starts: they cannot be changed any more."


class TooManyInTournament(Conflict):
    sentence = "A tournament has {most} {things} at most. Take one out first."


class BankIsPlayed(Conflict):
    sentence = "{game} is played on bank {bank}. Record its result first."


def require_strikes(tournament: Tournament) -> None:
    """Refuse a format that counts no strikes. Raises Invalid."""
    if tournament_commands.format_of(tournament).counted_in is not CountedIn.STRIKES:
        sentence = "This tournament counts no strikes. Add the player, then give a pointsAdjustment."
        raise Invalid({"strikes": [sentence]})


def add_entrants(
    tournament: Tournament,
    new: Sequence[Entrant],
    dice: Random,
    now: datetime,
    *,
    seats: Mapping[int, int] = NO_SEATS,
) -> list[Change]:
    """Add players as `commands.tournament.add_entrants` does; with seeds only before the start.

    Late players get the automatic entries that the others got at the start. `seats` takes player id ->
    game of the open round that a late player joins at once.
    """
    if tournament.status != "planned" and any(entrant.seed_value for entrant in new):
        raise SeedsAreFrozen
    changes = tournament_commands.add_entrants(tournament, new, dice, now)
    if tournament.status == "planned":
        return changes
    joined = apply_changes(tournament, changes)
    player_ids = [entrant.player_id for entrant in new]
    changes += attempts.give_entries(joined, player_ids, attempts.automatic_entries(joined), now)
    current = apply_changes(tournament, changes)
    for player_id, game_id in seats.items():
        step = game_commands.add_player(current, game_id, player_id, dice, now)
        current = apply_changes(current, step)
        changes += step
    return changes


def change_entrants(
    tournament: Tournament, wanted: Sequence[tuple[int, Mapping[str, Any]]], dice: Random, now: datetime
) -> list[Change]:
    """Change several entrants as one action. Raises Invalid for a player who is named twice."""
    changes: list[Change] = []
    current = tournament
    named: set[int] = set()
    for player_id, fields in wanted:
        if player_id in named:
            raise Invalid({"players": [Sentence("{player} is named twice.", player=player_id)]})
        named.add(player_id)
        step = change_entrant(current, player_id, fields, dice, now)
        current = apply_changes(current, step)
        changes += step
    return changes


def change_entrant(
    tournament: Tournament, player_id: int, wanted: Mapping[str, Any], dice: Random, now: datetime
) -> list[Change]:
    """Change any of `seed`, `labels`, `label_color`, `points`, `score`, `is_active` and `away_rounds`.

    With `open_game` they also leave the games that they are in. Raises NotFound, and Conflict where the
    state or the format forbids it.
    """
    entrant = tournament_commands.find_entrant(tournament, player_id)
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change its players")
    after = replace(entrant, **{name: wanted[name] for name in LABEL_FIELDS if name in wanted})
    if "seed" in wanted and wanted["seed"] != entrant.seed_value:
        if tournament.status != "planned":
            raise SeedsCannotChange
        after = replace(after, seed_value=wanted["seed"])
    changes = changes_between(EntrantChanged, entrant, after)
    if "points" in wanted or "score" in wanted:
        adjusted = {name: wanted[name] for name in ("points", "score") if name in wanted}
        changes += adjust_entrant(apply_changes(tournament, changes), player_id, **adjusted)
    how = wanted.get("open_game", STAYS_IN)
    left = leave_open_games(apply_changes(tournament, changes), player_id, how, dice, now)
    changes += left
    if "away_rounds" in wanted:
        current, rounds = apply_changes(tournament, changes), wanted["away_rounds"]
        is_in_round = how == GOES_ON and bool(left)
        changes += send_away(current, player_id, rounds, dice, now, is_in_round=is_in_round)
    if "is_active" in wanted:
        current = apply_changes(tournament, changes)
        changes += tournament_commands.set_active(
            current, player_id, is_active=wanted["is_active"], dice=dice, now=now
        )
    return changes


def add_bank(
    tournament: Tournament, bank: Bank, arenas: Sequence[LineupArena], dice: Random, now: datetime
) -> list[Change]:
    """Add a bank and those of its arenas that are not in the lineup yet; no change when it is in already.

    Raises Conflict when there are too many: all of them are announced with the tournament.
    """
    _require_open_roster(tournament, "banks")
    if any(each.bank_id == bank.bank_id for each in tournament.banks):
        return []
    _require_fewer_than(BANKS_MAX, tournament.banks, "banks")
    known = {lineup_arena.arena_id for lineup_arena in tournament.lineup}
    missing = [arena for arena in arenas if arena.arena_id not in known]
    place = max((bank.place for bank in tournament.banks), default=-1) + 1
    return [
        *add_arenas(tournament, missing, dice, now),
        BankAdded(replace(bank, place=place)),
    ]


def _require_fewer_than(most: int, there: Sequence[object], what: str) -> None:
    if len(there) >= most:
        raise TooManyInTournament(most=most, things=what)


def remove_bank(tournament: Tournament, bank_id: int) -> list[Change]:
    """Remove a bank; its arenas stay. Raises Conflict while a game is played on it."""
    _require_open_roster(tournament, "banks")
    bank = next((each for each in tournament.banks if each.bank_id == bank_id), None)
    if bank is None:
        raise NotFound("Bank", bank_id)
    for game in tournament.games:
        if game.bank_id == bank_id and game.status == "started":
            raise BankIsPlayed(game=game.game_id, bank=bank_id)
    return [BankRemoved(bank)]


def add_scorekeeper(tournament: Tournament, user_id: int) -> list[Change]:
    """Allow an account to record results; no change when it may already. Raises Conflict as for banks."""
    _require_open_roster(tournament, "scorekeepers")
    if any(scorekeeper.user_id == user_id for scorekeeper in tournament.scorekeepers):
        return []
    _require_fewer_than(SCOREKEEPERS_MAX, tournament.scorekeepers, "scorekeepers")
    place = max((scorekeeper.place for scorekeeper in tournament.scorekeepers), default=-1) + 1
    return [ScorekeeperAdded(Scorekeeper(user_id=user_id, place=place))]


def remove_scorekeeper(tournament: Tournament, user_id: int) -> list[Change]:
    """Forbid an account to record results. Raises NotFound for an account that is no scorekeeper."""
    _require_open_roster(tournament, "scorekeepers")
    for scorekeeper in tournament.scorekeepers:
        if scorekeeper.user_id == user_id and not scorekeeper.is_director:
            return [ScorekeeperRemoved(scorekeeper)]
    raise NotFound("User", user_id)


def add_director(tournament: Tournament, user_id: int) -> list[Change]:
    """Give an account the organizer's rights but deletion; no change when it has them.

    A scorekeeper is one no longer. Raises Conflict for too many, and for the organizer.
    """
    if tournament.details["organizer_id"] == user_id:
        raise OrganizerIsNoDirector
    known = next((each for each in tournament.scorekeepers if each.user_id == user_id), None)
    if known is not None:
        return (
            []
            if known.is_director
            else [ScorekeeperRemoved(known), DirectorAdded(replace(known, is_director=True))]
        )
    _require_fewer_than(SCOREKEEPERS_MAX, tournament.scorekeepers, "scorekeepers")
    place = max((each.place for each in tournament.scorekeepers), default=-1) + 1
    return [DirectorAdded(Scorekeeper(user_id=user_id, place=place, is_director=True))]


def remove_director(tournament: Tournament, user_id: int) -> list[Change]:
    """Take a director's rights. Raises NotFound for an account that is no director."""
    for each in tournament.scorekeepers:
        if each.user_id == user_id and each.is_director:
            return [DirectorRemoved(each)]
    raise NotFound("User", user_id)


def _require_open_roster(tournament: Tournament, what: str) -> None:
    if tournament.status == "completed":
        raise TournamentIsCompleted(action=f"change its {what}")


# Commands on players who lose a game, or leave, by a ruling of a director.
# Source: pages, section 2, "Directors".


def lose_game(
    tournament: Tournament, game_id: int, player_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Give a player the last place of an open game; no change in one that is over, or that counts games."""
    game = results.find_game(tournament, game_id)
    is_placed = player_id in game.result_positions
    if game.status == "completed" or tournament.settings.has_matches or is_placed:
        return []
    return give_last_place(tournament, game, player_id, dice, now)


def disqualify(tournament: Tournament, player_id: int, dice: Random, now: datetime) -> list[Change]:
    """Give a player the last place of each open game, and let them leave the tournament.

    Raises Conflict in a bracket, where a forfeit ends their match, and where nobody can leave.
    """
    leaving = {"open_game": LAST_PLACE, "is_active": False}
    return change_entrant(tournament, player_id, leaving, dice, now)
