"""Standings of strike formats: who is out, since which round. Source: formats, sections 12 to 14.2."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from silverball.kit.errors import Invalid, Sentence
from silverball.kit.values import replace
from silverball.rules.model.settings import Band
from silverball.rules.model.tournament import Entrant, Game, Tournament
from silverball.rules.ranking import standing
from silverball.rules.ranking.points import tiebreak_game_points
from silverball.rules.ranking.standing import Standing
from silverball.rules.scoring import strikes
from silverball.rules.scoring.strikes import StrikeRule, StrikeSettings

# Before the first round: the round of players who never played.
ROUND_NONE = 0


class KnockoutRules(Struct, frozen=True, kw_only=True):
    """The rules of a strike format, from its settings."""

    strike_settings: StrikeSettings
    strike_count: int
    playoffs_cutoffs: tuple[Band, ...] = ()

    @property
    def shows_rounds(self) -> bool:
        """Whether rounds and strikes separate equals instead of points (fair and progressive)."""
        return self.strike_settings.rule in {StrikeRule.FAIR, StrikeRule.PROGRESSIVE}


class KnockoutCareer(Struct, frozen=True, kw_only=True):
    """An entrant's path through a knockout. Rounds are counted from 1; 0 is before the first."""

    player_id: int
    # From games (those of the open round included) and adjustments.
    strikes_total: Decimal
    points_total: Decimal
    games_played: int
    # The completed round in which the strikes reached the limit.
    struck_out_round: int | None
    # The last completed round with a game or a bye.
    last_round: int
    # The round in which the entrant went out, for any reason; None while alive.
    out_round: int | None = None


class _PlayerResult(Struct, frozen=True):
    """The result of a completed game for one of its players."""

    round_number: int
    strikes: int
    points: Decimal
    is_bye: bool


class _CompletedRounds(Struct, frozen=True):
    """The completed rounds, and the players in the newest of them."""

    round_numbers: Mapping[int, int]
    completed: tuple[int, ...]
    # Players who were drawn into the newest completed round or a later one.
    present_ids: frozenset[int]
    # Whether departures are recorded; imported tournaments only tell who was present.
    knows_departures: bool

    @property
    def newest_round(self) -> int:
        return self.completed[-1] if self.completed else ROUND_NONE


def rank(tournament: Tournament, rules: KnockoutRules) -> list[Standing]:
    """The standings, by position, then by player id.

    Players alive come first, by fewer strikes; the others by later round, then by fewer strikes. Tiebreak
    games and manual orders follow; equals share a place. Entrants who are inactive and have not played
    are left out. Source: formats, sections 13.2, 13.4, 14.1 and 14.2.
    """
    careers = {career.player_id: career for career in all_careers(tournament, rules)}
    everybody_out = all(career.out_round is not None for career in careers.values())
    round_last = max((career.out_round or ROUND_NONE for career in careers.values()), default=ROUND_NONE)
    entrants, added = tournament.entrant_by_id, tiebreak_game_points(tournament)
    keys = {
        player_id: (
            _rank_key(career, shares_first=everybody_out and career.out_round == round_last),
            added.get(player_id, Decimal(0)),
            -(entrants[player_id].tie_place or 0),
        )
        for player_id, career in careers.items()
    }
    placed = standing.positions(keys)
    playing = standing.active_game_ids(tournament.games)
    shown = standing.bubbles(placed, rules.playoffs_cutoffs)
    newest = _completed_rounds(tournament).newest_round
    return [
        replace(
            _knockout_standing(careers[player_id], position, newest if rules.shows_rounds else None),
            points_with_tiebreaker=None
            if player_id not in added
            else standing.points_text(careers[player_id].points_total + added[player_id]),
            adjustment=entrants[player_id].score_adjustment,
            active_games=playing.get(player_id, ()),
            bubble=shown[player_id],
            manual_tiebreaker_group=entrants[player_id].tie_group,
        )
        for player_id, position in placed.items()
    ]


def require_countable(games: Sequence[Game], rules: KnockoutRules) -> None:
    """Raise Invalid under `games.ID.resultPoints` for a completed game with impossible points."""
    for game in games:
        if game.status == "completed" and not game.is_tiebreak:
            _points_and_strikes(game, rules.strike_settings)


def alive_ids(tournament: Tournament, rules: KnockoutRules) -> tuple[int, ...]:
    """Ids of the players still in the tournament, in the order they were added."""
    return tuple(career.player_id for career in all_careers(tournament, rules) if career.out_round is None)


def next_round_ids(tournament: Tournament, rules: KnockoutRules) -> tuple[int, ...]:
    """Ids of the players of the next round: active and still in."""
    active = set(tournament.active_ids)
    return tuple(player_id for player_id in alive_ids(tournament, rules) if player_id in active)


def is_over(tournament: Tournament, rules: KnockoutRules) -> bool:
    """Whether at most one player is left. Source: formats, sections 14.1 and 14.2."""
    return len(alive_ids(tournament, rules)) <= 1


def swiss_scores(tournament: Tournament, rules: KnockoutRules) -> dict[int, Decimal]:
    """Player id -> negated strikes, so that higher is better for Swiss pairing."""
    return {career.player_id: -career.strikes_total for career in all_careers(tournament, rules)}


def all_careers(tournament: Tournament, rules: KnockoutRules) -> list[KnockoutCareer]:
    """The career of each entrant who is active or has played, in the order they were added.

    A player is out who reached the limit when a round completed or by an adjustment, or who left: was set
    inactive or, in an imported tournament, missed the last completed round. A departure counts from the
    round of the last game. If no player would be left, the players of that round who are below the limit
    stay in. Source: formats, sections 12, 14.1 and 20.
    """
    calendar = _completed_rounds(tournament)
    played = _results_by_player(tournament.games, rules, calendar)
    active = {entrant.player_id for entrant in tournament.entrants if entrant.is_active}
    careers = [
        _open_career(entrant, played.get(entrant.player_id, []), rules, calendar)
        for entrant in tournament.entrants
        if entrant.is_active or played.get(entrant.player_id)
    ]
    over = tournament.status == "completed"
    decided = [
        _end_career(career, calendar, is_active=career.player_id in active, is_over=over)
        for career in careers
    ]
    if any(career.out_round is None for career in decided):
        return decided
    return [_stay_in(career) if career.player_id in calendar.present_ids else career for career in decided]


def _stay_in(career: KnockoutCareer) -> KnockoutCareer:
    return career if career.struck_out_round is not None else replace(career, out_round=None)


def _end_career(
    career: KnockoutCareer, calendar: _CompletedRounds, *, is_active: bool, is_over: bool
) -> KnockoutCareer:
    """The career with the round in which the player went out, if any."""
    if career.struck_out_round is not None:
        return replace(career, out_round=career.struck_out_round)
    has_played = career.last_round > ROUND_NONE
    is_missing = career.player_id not in calendar.present_ids and bool(calendar.present_ids)
    never_came = is_over and not has_played and is_missing
    has_left = has_played and is_missing and not calendar.knows_departures
    if not is_active or never_came or has_left:
        return replace(career, out_round=career.last_round)
    return career


def _open_career(
    entrant: Entrant, results: Sequence[_PlayerResult], rules: KnockoutRules, calendar: _CompletedRounds
) -> KnockoutCareer:
    total = Decimal(sum(result.strikes for result in results)) + entrant.points_adjustment
    closed = [result for result in results if result.round_number in calendar.completed]
    return KnockoutCareer(
        player_id=entrant.player_id,
        strikes_total=total,
        points_total=sum((result.points for result in results), Decimal(0)),
        games_played=sum(not result.is_bye for result in results),
        struck_out_round=_struck_out_round(entrant, closed, rules.strike_count, calendar),
        last_round=max((result.round_number for result in closed), default=ROUND_NONE),
    )


def _struck_out_round(
    entrant: Entrant, results: Sequence[_PlayerResult], strike_count: int, calendar: _CompletedRounds
) -> int | None:
    """The round in which games and adjustment reached the limit; None below it.

    An adjustment counts from when it was made, but puts a player out no later than their last game, and
    games put a player out no earlier.
    """
    strikes_so_far = 0
    reached_in = (
        ROUND_NONE if strikes.is_out(strikes_so_far, entrant.points_adjustment, strike_count) else None
    )
    for result in sorted(results, key=lambda result: result.round_number):
        if reached_in is not None:
            break
        strikes_so_far += result.strikes
        if strikes.is_out(strikes_so_far, entrant.points_adjustment, strike_count):
            reached_in = result.round_number
    if reached_in is None:
        return None
    round_last = max((result.round_number for result in results), default=ROUND_NONE)
    if entrant.adjusted_after is None or strikes.is_out(strikes_so_far, Decimal(0), strike_count):
        return max(reached_in, round_last)
    adjusted_in = min(entrant.adjusted_after, calendar.newest_round)
    return max(reached_in, min(adjusted_in, round_last) if results else adjusted_in)


def _completed_rounds(tournament: Tournament) -> _CompletedRounds:
    over = tournament.status == "completed"
    number_of = {round_.round_id: round_.round_index + 1 for round_ in tournament.rounds}
    completed = sorted(
        number_of[round_.round_id] for round_ in tournament.rounds if over or round_.status == "completed"
    )
    newest = completed[-1] if completed else ROUND_NONE
    late = [
        game for game in tournament.games if not game.is_tiebreak and _round_number(game, number_of) >= newest
    ]
    present = frozenset(player_id for game in late for player_id in game.player_ids)
    state = tournament.state
    if state.unfinished_round is not None and state.unfinished_round + 1 >= newest:
        # Their game in the last round was taken out when the tournament was closed.
        present |= frozenset(state.unfinished_ids)
    # Only a tournament that was played here has a dice seed; imported ones have none.
    return _CompletedRounds(
        number_of, tuple(completed), present, knows_departures=bool(tournament.state.dice_seed)
    )


def _round_number(game: Game, number_of: Mapping[int, int]) -> int:
    return ROUND_NONE if game.round_id is None else number_of[game.round_id]


def _results_by_player(
    games: Sequence[Game], rules: KnockoutRules, calendar: _CompletedRounds
) -> dict[int, list[_PlayerResult]]:
    results: dict[int, list[_PlayerResult]] = {}
    for game in games:
        if game.status != "completed" or game.is_tiebreak:
            continue
        earned, given = _points_and_strikes(game, rules.strike_settings)
        number = _round_number(game, calendar.round_numbers)
        for player_id, points, count in zip(game.player_ids, earned, given, strict=True):
            results.setdefault(player_id, []).append(_PlayerResult(number, count, points, game.is_bye))
    return results


def _points_and_strikes(
    game: Game, strike_settings: StrikeSettings
) -> tuple[Sequence[Decimal], Sequence[int]]:
    """Points and strikes by slot. Raises Invalid under `games.ID.resultPoints` for impossible points."""
    field = f"games.{game.game_id}.resultPoints"
    earned = [points for points in game.result_points if points is not None]
    if len(earned) != len(game.player_ids):
        sentence = "{game} is completed, but not every player has points."
        raise Invalid({field: [Sentence(sentence, game=game.game_id)]})
    try:
        return earned, strikes.strikes_from_points(strike_settings, earned)
    except Invalid as error:
        fault = Sentence("{game}: {fault}", game=game.game_id, fault=error.message)
        raise Invalid({field: [fault]}) from error


def _rank_key(career: KnockoutCareer, *, shares_first: bool) -> tuple[Decimal, ...]:
    """The sort key of a career, highest first."""
    if shares_first:
        # An adjustment left no player in, so those who went out last share first place.
        return (Decimal(1),)
    if career.out_round is None:
        return (Decimal(1), -career.strikes_total)
    return (Decimal(0), Decimal(career.out_round), -career.strikes_total)


def _knockout_standing(career: KnockoutCareer, position: int, rounds_so_far: int | None) -> Standing:
    """The row of a career; `rounds_so_far` is None where points are the tiebreaker."""
    points = standing.points_text(career.points_total)
    rounds = rounds_so_far if career.out_round is None else career.out_round
    return Standing(
        player_id=career.player_id,
        position=position,
        points=points,
        tiebreakers=(points,) if rounds_so_far is None else (rounds or ROUND_NONE, int(career.strikes_total)),
        games_played=career.games_played,
        strike_count=int(career.strikes_total),
    )
