"""The rows of one tournament of the big database, in the order in which they are written."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from sqlalchemy import Table

ENTRANTS, ARENAS, GAMES, JOURNAL_LINES = 20, 10, 105, 10
PLACES = {2: (100, 0), 4: (700, 500, 300, 100)}
STANDING = (
    '{{"playerId":{player},"position":{place},"points":"{points}.00","pointsWithTiebreaker":null,"gamesPlayed":10,'
    '"entriesPlayed":0,"entriesAvailable":0,"strikeCount":0,"cardsCounted":null,"adjustment":0,"frenzyWins":null,'
    '"frenzyLosses":null,"pointsList":null,"tiebreakers":["{points}.00"],"activeGames":[],"activeGameColor":null,'
    '"onPaceBubble":null,"onCutoffBubble":null,"cutoffBubbleColor":null,"onCutoffBubble2":null,'
    '"manualTiebreakerGroup":null}}'
)


@dataclass(frozen=True)
class Rows:
    """Rows of one table, with values as the driver takes them."""

    table: str
    columns: tuple[str, ...]
    values: Sequence[tuple[Any, ...]]

    @classmethod
    def of(cls, table: Table, rows: Sequence[Mapping[str, Any]]) -> "Rows":
        """Rows that are given by name and all name the same columns."""
        columns = tuple(rows[0])
        return cls(table.name, columns, [tuple(row.values()) for row in rows])


COLUMNS = {
    "entrant": ("tournament_id player_id place status seed points_adjustment score_adjustment labels"),
    "lineup_arena": "tournament_id arena_id place status labels",
    "round": "round_id tournament_id round_index name status created_at completed_at",
    "game": (
        "game_id tournament_id round_id arena_id set_number game_index status started_at duration_seconds bye"
        " scorekeeper_id scorbit_verified result_count_mismatch"
    ),
    "game_player": "game_id slot tournament_id player_id result_position points",
    "single_player_game": (
        "tournament_id arena_id player_id status points score best_game voided created_at updated_at"
        " scorbit_verified"
    ),
    "standing": "tournament_id player_id position points row",
    "arena_summary": "tournament_id arena_id games single_player_games opdb_id",
    "player_arena_summary": (
        "tournament_id arena_id player_id games single_player_games wins losses opdb_id"
    ),
    "match_summary": "tournament_id arena_id player_id opponent_id games wins losses opdb_id",
    "journal": "tournament_id action_id change data actor_id source at",
}


class TournamentRows:
    """Rows of several tournaments, collected by table."""

    def __init__(
        self, books: int, arenas_of_book: int, players_of_book: int, machine_id: Callable[[int], str]
    ) -> None:
        self._books = books
        self._arenas_of_book = arenas_of_book
        self._players_of_book = players_of_book
        self._machine_id = machine_id
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}

    def parts(self) -> Iterator[Rows]:
        """What was collected, referred-to rows first."""
        for name, columns in COLUMNS.items():
            yield Rows(name, tuple(columns.split()), self._rows[name])

    def add_tournament(self, own: Mapping[str, Any]) -> None:
        """Add everything below this tournament."""
        number, organizer = own["tournament_id"], own["organizer_id"]
        dice = Random(number)
        first_player = (organizer - 1) * self._players_of_book + 1
        # The first player of each book is the regular, who plays every fifth tournament.
        chosen = dice.sample(range(first_player + 1, first_player + self._players_of_book), ENTRANTS)
        if number % 5 == 0:
            chosen[0] = first_player
        first_arena = (organizer - 1) * self._arenas_of_book + 1
        arenas = dice.sample(range(first_arena, first_arena + self._arenas_of_book), ARENAS)
        rows = self._rows
        rows["entrant"] += [(number, each, n, "active", n + 1, 0, 0, "[]") for n, each in enumerate(chosen)]
        rows["lineup_arena"] += [(number, each, n, "active", "[]") for n, each in enumerate(arenas)]
        rows["journal"] += [
            (number, n + 1, "TournamentStarted", "{}", organizer, "web", own["start_utc"])
            for n in range(JOURNAL_LINES)
        ]
        if own["status"] == "planned":
            return
        if own["type"] == "best_game":
            self._add_attempts(own, dice, chosen, arenas)
        else:
            self._add_games(own, dice, chosen, arenas)
        totals = sorted((dice.randrange(20, 90) for _ in chosen), reverse=True)
        rows["standing"] += [
            (number, player, n + 1, total * 100, STANDING.format(player=player, place=n + 1, points=total))
            for n, (player, total) in enumerate(zip(chosen, totals, strict=True))
        ]

    def _add_attempts(
        self, own: Mapping[str, Any], dice: Random, chosen: list[int], arenas: list[int]
    ) -> None:
        number, begun = own["tournament_id"], own["start_utc"]
        by_player: Counter[tuple[int, int]] = Counter()
        for player in chosen:
            for n in range(10):
                arena = arenas[n % len(arenas)]
                by_player[arena, player] += 1
                played = (number, arena, player, "completed", 100 * n, dice.randrange(10**8), False, False)
                self._rows["single_player_game"].append((*played, begun, begun, False))
        self._add_summaries(own, Counter(), Counter(), Counter(), by_player)

    def _add_games(self, own: Mapping[str, Any], dice: Random, chosen: list[int], arenas: list[int]) -> None:
        number, begun = own["tournament_id"], own["start_utc"]
        size = 4 if own["type"] == "group_matchplay" else 2
        groups = ENTRANTS // size
        is_running = own["status"] == "started"
        played: Counter[tuple[int, int]] = Counter()
        wins: Counter[tuple[int, int]] = Counter()
        met: Counter[tuple[int, int, int, bool]] = Counter()
        points = PLACES[size]
        games, seats = self._rows["game"], self._rows["game_player"]
        for n in range(GAMES):
            index, group = divmod(n, groups)
            round_id, game_id = number * 100 + index, number * 1000 + n
            is_open = is_running and n >= GAMES - groups // 2
            status = "started" if is_open else "completed"
            if group == 0:
                self._add_round(own, index, is_last=n + groups >= GAMES)
                dice.shuffle(chosen)
            arena = arenas[(n * 7 + number) % len(arenas)]
            players = chosen[group * size : group * size + size]
            head = (game_id, number, round_id, arena, group, 0, status, begun)
            games.append((*head, None if is_open else 600, False, own["organizer_id"], False, False))
            finish = players if n % 2 else players[::-1]
            for slot, player in enumerate(players):
                place = finish.index(player)
                result = (None, None) if is_open else (finish[slot], points[place])
                seats.append((game_id, slot, number, player, *result))
                if is_open:
                    continue
                played[arena, player] += 1
                wins[arena, player] += size - 1 - place
                for other_place, other in enumerate(finish):
                    if other != player:
                        met[arena, player, other, place < other_place] += 1
        if own["status"] == "completed":
            self._add_summaries(own, played, wins, met, Counter())

    def _add_round(self, own: Mapping[str, Any], index: int, *, is_last: bool) -> None:
        number, begun = own["tournament_id"], own["start_utc"]
        is_open = is_last and own["status"] == "started"
        row = (number * 100 + index, number, index, f"Round {index + 1}")
        ending = ("started", begun, None) if is_open else ("completed", begun, begun)
        self._rows["round"].append((*row, *ending))

    def _add_summaries(
        self,
        own: Mapping[str, Any],
        played: Counter[tuple[int, int]],
        wins: Counter[tuple[int, int]],
        met: Counter[tuple[int, int, int, bool]],
        attempts: Counter[tuple[int, int]],
    ) -> None:
        if own["status"] != "completed":
            return
        number, rows = own["tournament_id"], self._rows
        games_of, attempts_of = Counter[int](), Counter[int]()
        for (arena, _), count in played.items():
            games_of[arena] += count
        for (arena, _), count in attempts.items():
            attempts_of[arena] += count
        for arena in sorted({*games_of, *attempts_of}):
            opdb_id = self._machine_id(arena - 1)
            rows["arena_summary"].append((number, arena, games_of[arena], attempts_of[arena], opdb_id))
        for arena, player in sorted({*played, *attempts}):
            pair = (arena, player)
            counts = (played[pair], attempts[pair], wins[pair], played[pair] - min(wins[pair], played[pair]))
            rows["player_arena_summary"].append((number, *pair, *counts, self._machine_id(arena - 1)))
        for arena, player, other in sorted({key[:3] for key in met}):
            won, lost = met[arena, player, other, True], met[arena, player, other, False]
            opdb_id = self._machine_id(arena - 1)
            rows["match_summary"].append((number, arena, player, other, won + lost, won, lost, opdb_id))
