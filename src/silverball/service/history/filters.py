"""The filters of a list of games, for the games of a snapshot."""

from collections.abc import Collection

from silverball.rules.model.tournament import Game, Round, Tournament
from silverball.service.games.reads.games import ACTIVE_OR_LATEST, LATEST, TournamentGamesQuery, round_ids


def matching_games(tournament: Tournament, query: TournamentGamesQuery) -> list[Game]:
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


def _chosen_rounds(rounds: Collection[Round], text: str) -> set[int]:
    """Ids of the rounds that the `round` parameter names."""
    if text not in (LATEST, ACTIVE_OR_LATEST):
        return set(round_ids(text))
    active = {round_.round_id for round_ in rounds if round_.status == "started"}
    if text == ACTIVE_OR_LATEST and active:
        return active
    newest = max(rounds, key=lambda each: (each.round_index, each.round_id), default=None)
    return set() if newest is None else {newest.round_id}
