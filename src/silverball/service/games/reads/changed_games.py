"""Games as a change has just left them, for its events and for the answer to who made it.

Where the change wrote all that a game shows, the game is what was written; any other game is read again.
"""

from collections.abc import Sequence
from operator import eq

from sqlalchemy import Connection

from silverball.rules.model import tournament as rules
from silverball.rules.model.part_index import find_by_id
from silverball.service.games.reads import games
from silverball.store import writers
from silverball.store.loaded import LoadedTournament
from silverball_wire.games import Game


def games_after_changes(
    db: Connection, before: LoadedTournament, after: rules.Tournament, game_ids: Sequence[int]
) -> dict[int, Game]:
    """Game id -> the game with its arena, for those of these games that exist after the changes."""
    known: list[Game] = []
    others: list[int] = []
    for game_id in game_ids:
        game = find_by_id(after.games, "game_id", game_id)
        if game is None:
            continue
        if _is_all_written(before, after, game):
            users = writers.claiming_users(before.tournament, game)
            known.append(games.shape_game(after.tournament_id, game, users))
        else:
            others.append(game_id)
    if others:
        known += games.selected_games(db, after.tournament_id, others)
    return games.with_arenas(db, known)


def _is_all_written(before: LoadedTournament, after: rules.Tournament, game: rules.Game) -> bool:
    """Whether the rows of the game have nothing that was there before.

    A seat that keeps its result keeps the account that had claimed its player then.
    """
    if after.suggestions or game.game_id in before.imported_fact_ids:
        return False
    old = find_by_id(before.tournament.games, "game_id", game.game_id)
    if old is None or old.player_ids != game.player_ids:
        return True
    return not any(map(eq, writers.seat_results(old), writers.seat_results(game)))
