# mypy: disable-error-code="import-not-found"
"""Play a night with the client that openapi-python-client has generated: URL and token are arguments."""

import sys
from typing import Any

from generated import AuthenticatedClient
from generated.api.arenas import add_arena
from generated.api.games import list_games_of_tournament, record_result
from generated.api.lineup import add_arenas_to_tournament
from generated.api.roster import add_players_to_tournament
from generated.api.rounds import open_round
from generated.api.single_player_games import add_single_player_game
from generated.api.standings import list_standings
from generated.api.tournaments import complete_tournament, create_tournament, start_tournament
from generated.models import (
    ArenaInput,
    EnteredResult,
    EntrantsInput,
    LineupArenasInput,
    RoundInput,
    SinglePlayerGameInput,
    TournamentInput,
    TournamentInputType,
)

ROUNDS = 2
# More than 32 bits hold.
SCORE = 98_765_432_101
client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], raise_on_unexpected_status=True)


def result_of(operation: Any, *ids: int, **given: Any) -> Any:
    """The parsed answer of an operation that succeeds."""
    answer = operation.sync_detailed(*ids, client=client, **given)
    assert answer.status_code in (200, 201), (operation.__name__, answer.status_code, answer.content)
    return answer.parsed


night = TournamentInput(name="Generated night", type_=TournamentInputType.MATCHPLAY)
tournament = result_of(create_tournament, body=night).data
for name in ("Ada", "Bo", "Cleo", "Dov"):
    result_of(add_players_to_tournament, tournament.tournament_id, body=EntrantsInput(name=name))
for name in ("Attack", "Firepower"):
    arena = result_of(add_arena, body=ArenaInput(name=name)).data
    lineup = LineupArenasInput(arena_id=arena.arena_id)
    result_of(add_arenas_to_tournament, tournament.tournament_id, body=lineup)
result_of(start_tournament, tournament.tournament_id)
for _ in range(ROUNDS):
    result_of(open_round, tournament.tournament_id, body=RoundInput())
    for game in result_of(list_games_of_tournament, tournament.tournament_id).data:
        if game.status == "started":
            result = EnteredResult(result_positions=game.player_ids)
            result_of(record_result, tournament.tournament_id, game.game_id, body=result)
completed = result_of(complete_tournament, tournament.tournament_id).data
standings = result_of(list_standings, tournament.tournament_id)
assert [row.games_played for row in standings] == [ROUNDS] * 4
scores = TournamentInput(name="Scores", type_=TournamentInputType.BEST_GAME)
scores_id = result_of(create_tournament, body=scores).data.tournament_id
player = result_of(add_players_to_tournament, scores_id, body=EntrantsInput(name="Ada")).data
result_of(add_players_to_tournament, scores_id, body=EntrantsInput(name="Bo"))
result_of(add_arenas_to_tournament, scores_id, body=LineupArenasInput(arena_id=arena.arena_id))
result_of(start_tournament, scores_id)
attempt = SinglePlayerGameInput(player_id=player.player_id, arena_id=arena.arena_id, score=SCORE)
assert result_of(add_single_player_game, scores_id, body=attempt).data.score == SCORE
sys.stdout.write(f"{completed.status.value}\n")
