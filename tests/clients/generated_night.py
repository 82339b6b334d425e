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
from generated.api.standings import list_standings
from generated.api.tournaments import complete_tournament, create_tournament, start_tournament
from generated.models import (
    EnteredResult,
    NewArena,
    NewEntrants,
    NewLineupArenas,
    NewRound,
    NewTournament,
    NewTournamentType,
)

ROUNDS = 2
client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2], raise_on_unexpected_status=True)


def result_of(operation: Any, *ids: int, **given: Any) -> Any:
    """The parsed answer of an operation that succeeds."""
    answer = operation.sync_detailed(*ids, client=client, **given)
    assert answer.status_code in (200, 201), (operation.__name__, answer.status_code, answer.content)
    return answer.parsed


night = NewTournament(name="Generated night", type_=NewTournamentType.MATCHPLAY)
tournament = result_of(create_tournament, body=night).data
for name in ("Ada", "Bo", "Cleo", "Dov"):
    result_of(add_players_to_tournament, tournament.tournament_id, body=NewEntrants(name=name))
for name in ("Attack", "Firepower"):
    arena = result_of(add_arena, body=NewArena(name=name)).data
    lineup = NewLineupArenas(arena_id=arena.arena_id)
    result_of(add_arenas_to_tournament, tournament.tournament_id, body=lineup)
result_of(start_tournament, tournament.tournament_id)
for _ in range(ROUNDS):
    result_of(open_round, tournament.tournament_id, body=NewRound())
    for game in result_of(list_games_of_tournament, tournament.tournament_id).data:
        if game.status == "started":
            result = EnteredResult(result_positions=game.player_ids)
            result_of(record_result, tournament.tournament_id, game.game_id, body=result)
completed = result_of(complete_tournament, tournament.tournament_id).data
standings = result_of(list_standings, tournament.tournament_id)
assert [row.games_played for row in standings] == [ROUNDS] * 4
sys.stdout.write(f"{completed.status.value}\n")
