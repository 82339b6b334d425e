"""Commands on entrants, one by one or many at once, and on banks, scorekeepers and directors.

Each function returns changes or refuses. Source: formats, sections 2, 7, 10 and 20.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

from silverball.kit.errors import Conflict, Invalid, NotFound, Sentence
from silverball.kit.values import replace
from silverball.rules.commands import absences, adjustments
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import lineup as lineup_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.format import CountedIn
from silverball.rules.mechanics import entries
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    BankAdded,
    BankRemoved,
    Change,
    DirectorAdded,
    DirectorRemoved,
    EntrantChanged,
    ScorekeeperAdded,
    ScorekeeperRemoved,
    changes_between,
)
from silverball.rules.model.refusals import TournamentIsCompleted
from silverball.rules.model.scorekeepers import Scorekeeper
from silverball.rules.model.tournament import Bank, Entrant, LineupArena, Tournament

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
    changes += entries.give_entries(joined, player_ids, entries.automatic_entries(joined), now)
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
        changes += adjustments.adjust_entrant(apply_changes(tournament, changes), player_id, **adjusted)
    how = wanted.get("open_game", absences.STAYS_IN)
    left = absences.leave_open_games(apply_changes(tournament, changes), player_id, how, dice, now)
    changes += left
    if "away_rounds" in wanted:
        current, rounds = apply_changes(tournament, changes), wanted["away_rounds"]
        is_in_round = how == absences.GOES_ON and bool(left)
        changes += absences.send_away(current, player_id, rounds, dice, now, is_in_round=is_in_round)
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
    _require_not_completed(tournament, "banks")
    if any(each.bank_id == bank.bank_id for each in tournament.banks):
        return []
    _require_fewer_than(BANKS_MAX, tournament.banks, "banks")
    known = {lineup_arena.arena_id for lineup_arena in tournament.lineup}
    missing = [arena for arena in arenas if arena.arena_id not in known]
    place = max((bank.place for bank in tournament.banks), default=-1) + 1
    return [
        *lineup_commands.add_arenas(tournament, missing, dice, now),
        BankAdded(replace(bank, place=place)),
    ]


def _require_fewer_than(most: int, there: Sequence[object], what: str) -> None:
    if len(there) >= most:
        raise TooManyInTournament(most=most, things=what)


def remove_bank(tournament: Tournament, bank_id: int) -> list[Change]:
    """Remove a bank; its arenas stay. Raises Conflict while a game is played on it."""
    _require_not_completed(tournament, "banks")
    bank = next((each for each in tournament.banks if each.bank_id == bank_id), None)
    if bank is None:
        raise NotFound("Bank", bank_id)
    for game in tournament.games:
        if game.bank_id == bank_id and game.status == "started":
            raise BankIsPlayed(game=game.game_id, bank=bank_id)
    return [BankRemoved(bank)]


def add_scorekeeper(tournament: Tournament, user_id: int) -> list[Change]:
    """Allow an account to record results; no change when it may already. Raises Conflict as for banks."""
    _require_not_completed(tournament, "scorekeepers")
    if any(scorekeeper.user_id == user_id for scorekeeper in tournament.scorekeepers):
        return []
    _require_fewer_than(SCOREKEEPERS_MAX, tournament.scorekeepers, "scorekeepers")
    place = max((scorekeeper.place for scorekeeper in tournament.scorekeepers), default=-1) + 1
    return [ScorekeeperAdded(Scorekeeper(user_id=user_id, place=place))]


def remove_scorekeeper(tournament: Tournament, user_id: int) -> list[Change]:
    """Forbid an account to record results. Raises NotFound for an account that is no scorekeeper."""
    _require_not_completed(tournament, "scorekeepers")
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


def _require_not_completed(tournament: Tournament, what: str) -> None:
    if tournament.status == "completed":
        raise TournamentIsCompleted(action=f"change its {what}")
