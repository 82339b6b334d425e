"""Standings of single player formats: pingolf, bowling, best games. Source: formats, section 13.1."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from silverball.rules.model.settings_protocols import HasRaceByes, has, playoff_bands_of
from silverball.rules.model.tournament import Entrant, Round, SinglePlayerGame, Tournament
from silverball.rules.ranking import points as ranking
from silverball.rules.ranking import standing
from silverball.rules.ranking.standing import CountedCard, DisplayedPoints, Standing

ZERO = Decimal(0)


class PlayerTally(Struct, frozen=True, kw_only=True):
    """A player's totals; `key` is the sort key, highest first."""

    # Adjustments included.
    points: Decimal
    key: tuple[Decimal, ...]
    # The tiebreakers after the points.
    tiebreakers: tuple[DisplayedPoints, ...] = ()
    games_played: int = 0
    entries_played: int = 0
    points_list: tuple[DisplayedPoints, ...] | None = None
    cards_counted: tuple[CountedCard, ...] | None = None


def adjustment_total(entrant: Entrant) -> Decimal:
    """Both adjustments together: points, or strokes in pingolf. Source: formats, section 13.5."""
    return entrant.points_adjustment + entrant.score_adjustment


def rank(
    tournament: Tournament, tallies: Mapping[int, PlayerTally], *, lower_is_better: bool = False
) -> list[Standing]:
    """The standings of these players (player id -> tally); equals share a place.

    Tiebreak games and manual orders come after the keys. With `lower_is_better`, tiebreak points are
    subtracted from the points with tiebreaker. Source: formats, sections 13.2 to 13.4.
    """
    added = ranking.tiebreak_game_points(tournament)
    keys = {
        player_id: (
            tally.key,
            added.get(player_id, ZERO),
            -(tournament.entrant_by_id[player_id].tie_place or 0),
        )
        for player_id, tally in tallies.items()
    }
    placed = standing.positions(keys)
    bubbles = standing.bubbles(placed, playoff_bands_of(tournament.settings))
    playing = active_game_ids(tournament)
    rows = []
    for player_id, position in placed.items():
        tally, entrant = tallies[player_id], tournament.entrant_by_id[player_id]
        extra = added.get(player_id)
        rows.append(
            Standing(
                player_id=player_id,
                position=position,
                points=standing.points_text(tally.points),
                tiebreakers=(standing.points_text(tally.points), *tally.tiebreakers),
                points_with_tiebreaker=_points_with_tiebreaker(tally.points, extra, lower_is_better),
                games_played=tally.games_played,
                entries_played=tally.entries_played,
                entries_available=entries_available(tournament, entrant, tally.entries_played),
                cards_counted=tally.cards_counted,
                adjustment=adjustment_total(entrant),
                points_list=tally.points_list,
                active_games=playing.get(player_id, ()),
                bubble=bubbles[player_id],
                manual_tiebreaker_group=entrant.tie_group,
            )
        )
    return rows


def _points_with_tiebreaker(points: Decimal, extra: Decimal | None, lower_is_better: bool) -> str | None:
    if extra is None:
        return None
    return standing.points_text(points - extra if lower_is_better else points + extra)


def entries_available(tournament: Tournament, entrant: Entrant, played: int) -> int:
    """Entries bought and not played yet; 0 where entries are unlimited. Source: formats, section 19."""
    return entrant.entries_bought - played if tournament.has_entry_limits else 0


def active_game_ids(tournament: Tournament) -> dict[int, tuple[int, ...]]:
    """Player id -> ids of the player's started games, tiebreak games included, ascending."""
    ids_by_player = standing.active_game_ids(tournament.games)
    for game in tournament.single_player_games:
        if game.status == "started":
            game_ids = (*ids_by_player.get(game.player_id, ()), game.single_player_game_id)
            ids_by_player[game.player_id] = tuple(sorted(game_ids))
    return ids_by_player


def listed_entrants(tournament: Tournament) -> list[Entrant]:
    """The entrants with a row: active ones and those who have played. Source: formats, section 13.2."""
    played = {game.player_id for game in tournament.single_player_games if game.status == "completed"}
    return [entrant for entrant in tournament.entrants if entrant.is_active or entrant.player_id in played]


# Results of an amazing race: who is safe, who is out, who replays. Source: formats, section 14.21.


REPLAYS_MAX = 1000
# There is a score to beat only after two players have finished.
SCORES_FOR_A_BAR = 2
# At least two play a round.
RACERS_MIN = 2


class RaceRoundResult(Struct, frozen=True, kw_only=True):
    """The state of a round: the players who are safe, those who are out, and the replays."""

    # Players who beat another player's score, were advanced by hand, or have a bye.
    safe_ids: frozenset[int]
    # The players who are out: the lowest, or all who left; none while undecided.
    out_ids: tuple[int, ...] = ()
    # The players of each level: all at first, then the players tied for lowest in each replay.
    groups: tuple[tuple[int, ...], ...]
    # The score to beat: the lowest so far.
    bar: int | None = None
    # Whether the round was decided by players who left.
    is_left: bool = False


def round_result(tournament: Tournament, round_: Round, members: Sequence[int]) -> RaceRoundResult:
    """The result of a round for its members (ids of the players who have a game or a bye in it).

    A player is safe with a score above another player's. When all have played, the lowest is out; players
    tied for lowest replay among themselves, as often as it takes. All who leave in the same round are out
    in it. Source: formats, sections 14.21 and 26.
    """
    by_level = _games_by_level(tournament, round_.round_id)
    waiting = bye_ids(tournament, round_.round_index, round_.size or len(members))
    group, safe = tuple(each for each in members if each not in waiting), set(waiting)
    groups = [group]
    bar: int | None = None
    for level in range(REPLAYS_MAX):
        games_by_player = {
            player_id: by_level[level][player_id]
            for player_id in group
            if player_id in by_level.get(level, {})
        }
        left_ids = tuple(player_id for player_id, game in games_by_player.items() if game.is_voided)
        if left_ids:
            safe |= set(group) - set(left_ids)
            return RaceRoundResult(
                safe_ids=frozenset(safe), out_ids=left_ids, groups=tuple(groups), is_left=True
            )
        scores = _compared_scores(games_by_player)
        lowest = min(scores.values(), default=None)
        bar = lowest if _completed_count(games_by_player) >= SCORES_FOR_A_BAR else None
        safe |= {
            player_id
            for player_id, game in games_by_player.items()
            if game.status == "completed" and game.is_advanced
        }
        safe |= {player_id for player_id, score in scores.items() if lowest is not None and score > lowest}
        tied = tuple(
            player_id for player_id in group if scores.get(player_id) == lowest and lowest is not None
        )
        expected = (round_.size or len(members)) - len(waiting) if level == 0 else len(group)
        if _completed_count(games_by_player) < expected or not tied:
            break
        if len(tied) == 1:
            return RaceRoundResult(safe_ids=frozenset(safe), out_ids=tied, groups=tuple(groups), bar=bar)
        group = tied
        groups.append(group)
    return RaceRoundResult(safe_ids=frozenset(safe), groups=tuple(groups), bar=bar)


def bye_ids(tournament: Tournament, round_index: int, size: int) -> frozenset[int]:
    """The best seeds, who wait in a round of so many players; all play where fewer than two others do.

    Source: formats, section 26.
    """
    settings = tournament.settings
    if not has(settings, HasRaceByes) or round_index >= (settings.amazing_race_bye_rounds or 0):
        return frozenset()
    gone = {
        game.player_id
        for round_ in tournament.rounds_in_order[: round_index + 1]
        for game in tournament.attempts_by_round.get(round_.round_id, ())
        if game.is_voided
    }
    waiting = frozenset(racers(tournament)[: settings.amazing_race_byes or 0]) - gone
    return waiting if size - len(waiting) >= RACERS_MIN else frozenset()


def racers(tournament: Tournament) -> list[int]:
    """Ids of the players of a race, best seed first: the active entrants, and those who have a game."""
    begun = {game.player_id for game in tournament.single_player_games}
    listed = [entrant for entrant in tournament.entrants if entrant.is_active or entrant.player_id in begun]
    ordered = sorted(listed, key=lambda entrant: (entrant.seed_rank or 0, entrant.place))
    return [entrant.player_id for entrant in ordered]


def _games_by_level(tournament: Tournament, round_id: int) -> dict[int, dict[int, SinglePlayerGame]]:
    """Number of the replay (0 is the first play) -> player id -> the game."""
    games: dict[int, dict[int, SinglePlayerGame]] = {}
    for game in tournament.attempts_by_round.get(round_id, ()):
        games.setdefault(game.game_index or 0, {})[game.player_id] = game
    return games


def _completed_count(games_by_player: Mapping[int, SinglePlayerGame]) -> int:
    return sum(game.status == "completed" for game in games_by_player.values())


def _compared_scores(games_by_player: Mapping[int, SinglePlayerGame]) -> dict[int, int]:
    """Player id -> score, for scores that are compared with others."""
    return {
        player_id: game.score
        for player_id, game in games_by_player.items()
        if game.status == "completed" and not game.is_advanced and game.score is not None
    }


class RaceProgress(Struct, frozen=True, kw_only=True):
    """A player's progress: rounds survived, and whether the player is out."""

    rounds_survived: int = 0
    is_out: bool = False


def race_progress(tournament: Tournament) -> dict[int, RaceProgress]:
    """Player id -> progress, for players with a game or a bye in the race."""
    progress: dict[int, RaceProgress] = {}
    for round_ in tournament.rounds_in_order:
        games = tournament.attempts_by_round.get(round_.round_id, ())
        there = dict.fromkeys(game.player_id for game in games)
        waiting = bye_ids(tournament, round_.round_index, round_.size or len(there))
        members = (*there, *sorted(waiting - there.keys()))
        result = round_result(tournament, round_, members)
        for player_id in members:
            before = progress.get(player_id, RaceProgress())
            progress[player_id] = RaceProgress(
                rounds_survived=before.rounds_survived + (player_id in result.safe_ids),
                is_out=player_id in result.out_ids,
            )
    return progress
