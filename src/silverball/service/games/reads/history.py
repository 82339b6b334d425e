"""Standings, rounds and games of a tournament as they stood after an earlier action of its journal.

The present state is loaded, and what came after the action is reverted. Claims of players, arenas of
banks and what an import brought beside the results are today's.
"""

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace
from sqlalchemy import Connection, select

from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.http.query import Query
from silverball.rules.model import tournament as rules
from silverball.rules.registry import FORMATS
from silverball.service.games.reads import games as games_now
from silverball.service.games.reads.games import ACTIVE_OR_LATEST, LATEST, TournamentGamesQuery, round_ids
from silverball.service.rounds import reads as rounds_now
from silverball.service.rounds.reads import wire_round
from silverball.service.standings.reads import standings
from silverball.store import tables
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament import journal
from silverball.store.tournament.journal import ACTIONS_MAX, JournalSpan
from silverball_wire.base import Id
from silverball_wire.games import Game
from silverball_wire.rounds import Round
from silverball_wire.standings import Standing


def matching_games(tournament: rules.Tournament, query: TournamentGamesQuery) -> list[rules.Game]:
    """The games that pass the filters, by id. Raises Invalid for rounds that are none."""
    rounds = None if query.round is None else _chosen_rounds(tournament.rounds, query.round)
    return [
        game
        for game in tournament.games
        if (rounds is None or game.round_id in rounds)
        and (query.player is None or query.player in game.player_ids)
        and query.arena in (None, game.arena_id)
        and query.bank in (None, game.bank_id)
        and query.status in (None, game.status)
    ]


def _chosen_rounds(rounds: Collection[rules.Round], text: str) -> set[int]:
    """Ids of the rounds that the `round` parameter names."""
    if text not in (LATEST, ACTIVE_OR_LATEST):
        return set(round_ids(text))
    active = {round_.round_id for round_ in rounds if round_.status == "started"}
    if text == ACTIVE_OR_LATEST and active:
        return active
    newest = max(rounds, key=lambda each: (each.round_index, each.round_id), default=None)
    return set() if newest is None else {newest.round_id}


_TOURNAMENT = tables.tournament.c


class PastQuery(Query, frozen=True, kw_only=True):
    """Parameters of what can be shown as it stood earlier."""

    at: Id | None = None
    """Id of an action of the journal: the answer is what held after it. Without it, what holds now."""


class JournalDoesNotLeadHere(Conflict):
    """The stored tournament is not what its journal says, so that nothing earlier follows from it."""

    sentence = (
        "The journal does not lead from action {action} to the tournament as it is now, so it cannot be"
        " shown as it stood then. `silverball verify` names the difference."
    )


def tournament_after(db: Connection, tournament_id: int, action_id: int) -> rules.Tournament | None:
    """The tournament as it stood after this action; None for the newest one: then it is as it is now.

    Raises NotFound, Invalid for an action that the journal does not tell of, and JournalDoesNotLeadHere.
    """
    columns = select(_TOURNAMENT.revision, _TOURNAMENT.stamp, _TOURNAMENT.type).where(
        _TOURNAMENT.tournament_id == tournament_id
    )
    row = db.execute(columns).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    span = journal.journal_span(db, tournament_id)
    if span is None:
        raise Invalid({"at": ["This tournament has no journal, so it can be shown only as it is now."]})
    if action_id == span.newest_action_id:
        return None
    fault = _fault(span, row.type, action_id)
    if fault is not None:
        raise Invalid({"at": [fault]})
    revision = Revision(row.revision, row.stamp)
    try:
        return journal.load_after_action(db, tournament_id, revision, span, action_id)
    except journal.JournalDoesNotFit as error:
        raise JournalDoesNotLeadHere(action=action_id) from error


def _fault(span: JournalSpan, type_: str, action_id: int) -> str | None:
    """The reason why the tournament cannot be shown as it stood after this action, as a sentence."""
    if action_id > span.newest_action_id:
        return f"The journal of this tournament ends with action {span.newest_action_id}."
    if action_id < span.first_action_id:
        return f"The journal tells of this tournament from action {span.first_action_id} on."
    if type_ not in FORMATS:
        return f"Tournaments of the type {type_} can be shown only as they are now."
    if span.newest_action_id - action_id > ACTIONS_MAX:
        return f"Only the newest {ACTIONS_MAX} actions of a tournament can be looked back on."
    return None


def standings_of(tournament: rules.Tournament) -> tuple[Standing, ...]:
    """The standings of a snapshot by place; none before the start."""
    return standings.ranked_rows(tournament)


def rounds_of(db: Connection, tournament: rules.Tournament) -> tuple[Round, ...]:
    """The rounds of a snapshot, newest first."""
    tournament_id = tournament.tournament_id
    known = {round_.round_id: round_ for round_ in rounds_now.rounds_in_tournament(db, tournament_id)}
    rounds = sorted(tournament.rounds, key=lambda each: (each.round_index, each.round_id), reverse=True)
    return tuple(_with_imported_text(wire_round(tournament_id, each), known) for each in rounds)


def _with_imported_text(round_: Round, known: Mapping[int, Round]) -> Round:
    now = known.get(round_.round_id)
    return round_ if now is None else replace(round_, description=now.description)


def games_of(db: Connection, tournament: rules.Tournament, query: TournamentGamesQuery) -> tuple[Game, ...]:
    """The games of a snapshot that pass the filters, by id. Raises Invalid for a faulty filter."""
    tournament_id = tournament.tournament_id
    known = {
        game.game_id: game
        for game in games_now.games_in_tournament(db, tournament_id, TournamentGamesQuery())
    }
    users = _claims(db, tournament.games)
    suggestions: dict[int, list[rules.Suggestion]] = {}
    for suggestion in tournament.suggestions:
        suggestions.setdefault(suggestion.game_id, []).append(suggestion)
    games = []
    for game in matching_games(tournament, query):
        shaped = games_now.shape_game(tournament_id, game, users, suggestions.get(game.game_id, ()))
        games.append(_with_imported_facts(shaped, known))
    return tuple(games)


def _with_imported_facts(game: Game, known: Mapping[int, Game]) -> Game:
    """The game with what the journal does not hold of it, as far as the game still exists."""
    now = known.get(game.game_id)
    if now is None:
        return game
    return replace(
        game,
        challenge_id=now.challenge_id,
        scorbit_id=now.scorbit_id,
        scorbit_log=now.scorbit_log,
        scorbit_verified=now.scorbit_verified,
    )


def _claims(db: Connection, games: Sequence[rules.Game]) -> dict[int, int | None]:
    """Player id -> the account that has claimed the player, for the players of these games."""
    player = tables.player.c
    ids = sorted({player_id for game in games for player_id in game.player_ids})
    rows = db.execute(select(player.player_id, player.claimed_by).where(player.player_id.in_(ids)))
    return {player_id: user_id for player_id, user_id in rows}  # noqa: C416  # rows are no pairs to mypy
