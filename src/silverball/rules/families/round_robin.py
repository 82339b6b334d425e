"""Round robins in play: the whole schedule is made at the start. Source: formats, sections 14.8 and 14.9."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random
from typing import TypeAlias

from msgspec import Struct

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.drawing import order, schedule
from silverball.rules.drawing.groups import Draw
from silverball.rules.families import drawn_rounds
from silverball.rules.mechanics import call_ups, lineups, results, rounds, seeding
from silverball.rules.model import settings, settings_protocols
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, GameDeleted, GameOpened, RoundDeleted, SuggestionDecided
from silverball.rules.model.outcome import GameOutcome, Outcome
from silverball.rules.model.part_index import kept_value
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import HasRoundRobinGroups, has
from silverball.rules.model.tournament import Entrant, Game, Round, Tournament


class ScheduleStands(Conflict):
    sentence = "{player} comes too late: results exist, so the schedule stands."


class ScheduledGame(Struct, frozen=True):
    """A game of the schedule: its round, its pair in the round, its number in the pair, and its players."""

    round_index: int
    set_number: int
    game_index: int
    # As the schedule lists them.
    players: tuple[int, ...]


# Number of the pair in the round, and of the game in the pair.
GameKey: TypeAlias = tuple[int | None, int | None]
GamesByKey: TypeAlias = Mapping[GameKey, ScheduledGame]
# Round index -> its games.
Schedule: TypeAlias = Mapping[int, GamesByKey]


class GroupedSettings(settings.ForecastSettings, frozen=True, kw_only=True):
    """The settings of round robins. Source: formats, section 24."""

    round_robin_group_size: settings.RoundRobinGroupSize = 0
    byes: settings.Byes = "full"
    seeding: settings.Seeding = "random"
    player_order: settings.PlayerOrder = "balanced"
    arena_assignment: settings.ArenaAssignment = "balanced"
    suggestions: settings.Suggestions = "disabled"
    playoffs_cutoffs: settings.PlayoffsCutoffs = ()


class RoundRobinRules(Struct, frozen=True):
    """The rules of a round robin; a double one plays each pairing twice in its round."""

    is_double: bool

    def setting_faults(self, settings: TournamentSettings) -> Mapping[str, str]:
        """Wire key -> sentence, for groups of one."""
        assert has(settings, HasRoundRobinGroups)
        sentence = "A group of one has no games. Choose 0 or at least 2."
        return {"roundRobinGroupSize": sentence} if settings.round_robin_group_size == 1 else {}

    def start(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """Open all rounds and games. Raises Invalid for groups of one."""
        faults = self.setting_faults(tournament.settings)
        if faults:
            raise Invalid({key: [sentence] for key, sentence in faults.items()})
        return self.open_missing_games(tournament, dice, now)

    def open_round(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """Open the missing games, for example after an import. Raises Conflict when none is missing."""
        return call_ups.require_missing_games(self.open_missing_games(tournament, dice, now))

    def settle(self, tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
        """Record or correct a result; the last one completes its round."""
        assert isinstance(outcome, GameOutcome)
        # Kept with this state, so that those that follow it look at the round of the game only.
        self.missing_games(tournament)
        changes = results.complete_game(tournament, outcome, results.score_by_points_map(tournament), now)
        return [*changes, *self._settle_rounds(apply_changes(tournament, changes), now)]

    def result_cleared(self, tournament: Tournament, _game: Game) -> list[Change]:
        """Reopen the round of the game."""
        return self._settle_rounds(tournament, None)

    def at_reopen(self, tournament: Tournament) -> list[Change]:
        """Bring back the games that closing discarded, and reopen unfinished rounds."""
        changes = self._settle_rounds(tournament, None)
        if tournament.completed_at is not None:
            after, dice = apply_changes(tournament, changes), call_ups.dice_at_reopen(tournament)
            changes += self.open_missing_games(after, dice, tournament.completed_at)
        return changes

    def roster_changed(
        self, tournament: Tournament, entrant: Entrant, dice: Random, now: datetime
    ) -> list[Change]:
        """Draw a new schedule for a late player before the first result. Raises Conflict afterwards.

        Source: formats, section 20.
        """
        if any(game.status == "completed" and not game.is_bye for game in tournament.games):
            raise ScheduleStands(player=entrant.player_id)
        gone: list[Change] = [SuggestionDecided(suggestion) for suggestion in tournament.suggestions]
        gone += [GameDeleted(game) for game in tournament.games]
        gone += [RoundDeleted(round_) for round_ in tournament.rounds]
        return [*gone, *self.open_missing_games(apply_changes(tournament, gone), dice, now)]

    def is_over(self, tournament: Tournament) -> bool:
        """Whether every game of the schedule has its result."""
        if tournament.status == "planned":
            return False
        return not tournament.open_games and not self.missing_games(tournament)

    def missing_games(self, tournament: Tournament) -> list[ScheduledGame]:
        """The scheduled games that do not exist; none for a schedule that was made elsewhere."""
        schedule = self.schedule(tournament)
        rounds_ = {round_.round_index: round_.round_id for round_ in tournament.rounds}
        missing: list[ScheduledGame] = []
        for index in sorted({*schedule, *rounds_}):
            in_round = _missing_in_round(tournament, schedule.get(index, {}), rounds_.get(index))
            if in_round is None:
                return []
            missing += in_round
        return missing

    def schedule(self, tournament: Tournament) -> Schedule:
        """The games of each round, whether they exist or not; kept until other players or settings come."""
        return kept_value(
            tournament,
            "schedule",
            (tournament.entrants, tournament.settings),
            lambda: {
                index: _games_of_draw(index, draw) for index, draw in enumerate(self.round_draws(tournament))
            },
        )

    def round_draws(self, tournament: Tournament) -> list[Draw]:
        """The draw of each round; with several groups, all games of a group and no byes."""
        seeds = seeding.ids_by_seed(tournament)
        size = _group_size(tournament)
        groups = schedule.groups_by_seed(seeds, size)
        if len(groups) < 2:
            return schedule.all_rounds(seeds, is_double=self.is_double)
        played = [schedule.all_rounds(group, is_double=self.is_double) for group in groups]
        return [Draw(tuple(pair for draw in rounds_ for pair in draw.groups)) for rounds_ in played]

    def open_missing_games(self, tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
        """Open the rounds, games and byes of the schedule that do not exist yet."""
        missing = self.missing_games(tournament)
        if not missing:
            return self._settle_rounds(tournament, now)
        draws = self.round_draws(tournament)
        changes: list[Change] = list(call_ups.open_missing_rounds(tournament, range(len(draws)), now))
        seen = apply_changes(tournament, changes)
        made: list[Game] = []
        for index in range(len(draws)):
            places = [missing_item for missing_item in missing if missing_item.round_index == index]
            made += _create_games(seen, places, dice, now) if places else []
            # Not `apply_changes` for each game: a large schedule has thousands.
            seen = replace(seen, games=(*tournament.games, *made))
        made += self._missing_byes(seen, draws)
        changes += [GameOpened(game) for game in made]
        return [*changes, *self._settle_rounds(replace(seen, games=(*tournament.games, *made)), now)]

    def _missing_byes(self, tournament: Tournament, draws: Sequence[Draw]) -> list[Game]:
        worth = drawn_rounds.bye_points(tournament, 2 if self.is_double else 1)
        there = {(game.round_id, game.player_ids[0]) for game in tournament.games if game.is_bye}
        ids = {round_.round_index: round_.round_id for round_ in tournament.rounds}
        missing = [
            (ids[index], player_id)
            for index, draw in enumerate(draws)
            for player_id in draw.byes
            if (ids[index], player_id) not in there
        ]
        first = call_ups.next_game_id(tournament)
        return [
            rounds.bye_game(first - at, player_id, round_id, worth)
            for at, (round_id, player_id) in enumerate(missing)
        ]

    def _settle_rounds(self, tournament: Tournament, now: datetime | None) -> list[Change]:
        unfinished = {game.round_index for game in self.missing_games(tournament)}

        def is_settled(within: Tournament, round_: Round) -> bool:
            return round_.round_index not in unfinished and rounds.is_round_played(within, round_)

        return rounds.settle_rounds(tournament, is_settled, now)


def _group_size(tournament: Tournament) -> int:
    """Players in a group; 0 puts all players in one."""
    assert has(tournament.settings, HasRoundRobinGroups)
    return tournament.settings.round_robin_group_size


def _games_of_draw(index: int, draw: Draw) -> GamesByKey:
    """The games of a round of the schedule, in its order."""
    numbers: dict[frozenset[int], int] = {}
    turns: dict[frozenset[int], int] = {}
    planned: dict[GameKey, ScheduledGame] = {}
    for pair in draw.groups:
        players = frozenset(pair)
        set_number = numbers.setdefault(players, len(numbers))
        turn = turns[players] = turns.get(players, -1) + 1
        planned[set_number, turn] = ScheduledGame(index, set_number, turn, pair)
    return planned


def _missing_in_round(
    tournament: Tournament, planned: GamesByKey, round_id: int | None
) -> Sequence[ScheduledGame] | None:
    """The games of a round that do not exist; None when it has others. Looked for again where it changes."""
    if round_id is None:
        return list(planned.values())
    games = tournament.games_by_round.get(round_id, ())

    def compute() -> Sequence[ScheduledGame] | None:
        there = {
            (game.set_number, game.game_index): game.player_ids
            for game in games
            if not game.is_bye and not game.is_tiebreak
        }
        for key, player_ids in there.items():
            if key not in planned or set(planned[key].players) != set(player_ids):
                return None
        return [game for key, game in planned.items() if key not in there]

    return kept_value(tournament, ("missing games", round_id), (games, planned), compute)


def _create_games(
    tournament: Tournament, places: Sequence[ScheduledGame], dice: Random, now: datetime
) -> list[Game]:
    """Games of a round, every arena at most once in it."""
    ids = {round_.round_index: round_.round_id for round_ in tournament.rounds}
    round_id = ids[places[0].round_index]
    in_round = [
        game
        for game in tournament.games_by_round.get(round_id, ())
        if not game.is_bye and not game.is_tiebreak
    ]
    taken = {game.arena_id for game in in_round if game.arena_id is not None}
    lineup = tuple(
        replace(lineup_arena, is_active=lineup_arena.is_active and lineup_arena.arena_id not in taken)
        for lineup_arena in tournament.lineup
    )
    view = replace(tournament, lineup=lineup)
    seats = lineups.assign_groups(view, [place.players for place in places], games=1, positions={}, dice=dice)
    first = call_ups.next_game_id(tournament)
    made: list[Game] = []
    for place, seat in zip(places, seats, strict=True):
        players = _playing_order(view, place, [*in_round, *made], seat.playing_orders[0])
        game = rounds.new_game(
            first - len(made), players, now=now, arena_id=seat.arena_ids[0], has_advantage=True
        )
        made.append(
            replace(
                game,
                round_id=round_id,
                set_number=place.set_number,
                game_index=place.game_index,
                bank_id=seat.bank_id,
            )
        )
    return made


def _playing_order(
    tournament: Tournament, place: ScheduledGame, in_round: Sequence[Game], drawn: tuple[int, ...]
) -> tuple[int, ...]:
    """The playing order: a second game of a pair reverses the first.

    The schedule itself is balanced: each player starts half of their games. Source: formats, 14.8 and 14.9.
    """
    for game in in_round:
        if game.set_number == place.set_number and game.game_index != place.game_index:
            return game.player_ids[::-1]
    player_order = settings_protocols.player_order(tournament.settings, default="balanced")
    return place.players if player_order in {order.BALANCED, order.LOSER} else drawn
