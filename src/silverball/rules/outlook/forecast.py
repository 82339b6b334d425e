"""A forecast that is published again and again during a night: what is certain stays so, or is withdrawn.

A certain fact holds as long as nobody is adjusted, joins, returns or leaves, no result is corrected, no
drawn game gets other players and no setting changes. As long as that is so, a published fact is never
dropped, even where it no longer follows from the present state alone; otherwise it has to follow again, or
it is withdrawn with the reason.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from silverball.rules.families import drawn_rounds
from silverball.rules.format import Format
from silverball.rules.model import settings_protocols
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.planning.nights import CertainBy, FreeTurns
from silverball.rules.ranking import standing
from silverball.rules.scoring import point_maps

# Certain facts of a running night: who has made it, who cannot, and which place is enough.
#
# All of it holds as long as the night ends by its settings: nobody is adjusted, joins late or comes back,
# no result is corrected, and those who are in play on. Nothing here comes from a simulation. While one game
# of each player is left, every outcome of the games is covered exactly; before that, by bounds.


Goal: TypeAlias = Literal["win", "cut"]
Fact: TypeAlias = Literal["clinched", "out", "place"]
ZERO = Decimal(0)


class Claim(Struct, frozen=True, kw_only=True):
    """A certain fact about a player."""

    player_id: int
    goal: Goal
    fact: Fact
    # The place in the open game that is enough, from 1; None for other facts.
    place: int | None = None
    # That game.
    game_id: int | None = None


class Finish(Struct, frozen=True, kw_only=True):
    """Points that a player can still end with."""

    points: Decimal
    least: Decimal
    most: Decimal


class PointsRace(Struct, frozen=True, kw_only=True):
    """A night that is decided by points."""

    finishes: Mapping[int, Finish]
    # Open games; each player is in at most one of them when the race is `is_last`.
    open_games: Sequence[Game]
    # Group size -> points by place, most first.
    awards: Mapping[int, Sequence[Decimal]]
    # Whether nothing follows the open games.
    is_last: bool


def cut_of(tournament: Tournament) -> int | None:
    """The last place of the best playoff band; None without playoffs."""
    bands = getattr(tournament.settings, "playoffs_cutoffs", ())
    borders = standing.parse_cutoffs(bands)
    return borders[0].last_place if borders else None


def certain_claims(tournament: Tournament, form: Format) -> list[Claim]:
    """All claims that are certain, by goal and player. Nothing unless the tournament runs."""
    if tournament.status != "started" or form.planning.certain_by is CertainBy.NOTHING:
        return []
    goals: list[tuple[Goal, int]] = [("win", 1)]
    cut = cut_of(tournament)
    if cut is not None and 1 < cut < len(tournament.entrants):
        goals.append(("cut", cut))
    if form.planning.certain_by is CertainBy.ELIMINATION:
        return [claim for goal, places in goals for claim in _elimination(tournament, form, goal, places)]
    race = points_race(tournament, form)
    if race is None:
        return []
    return [claim for goal, places in goals for claim in _points(race, goal, places)]


def _elimination(tournament: Tournament, form: Format, goal: Goal, places: int) -> list[Claim]:
    """Players who are out by their places, and all others once no more of them are left than places."""
    if not tournament.rounds:
        return []
    playing = set() if form.is_over(tournament) else set(form.playing_ids(tournament))
    places_by_id = {row.player_id: row.position for row in form.rank(tournament)}
    # The places of those who are out are final; whoever is away may come back.
    decided = set(tournament.active_ids) - playing if playing else set(places_by_id)
    possible = {each.player_id for each in tournament.entrants} - decided
    claims: list[Claim] = []
    for player_id in sorted(decided):
        own = places_by_id.get(player_id)
        others = [places_by_id.get(each) for each in decided - {player_id}]
        ahead = len(playing) + sum(own is not None and (other or own) < own for other in others)
        behind = sum(own is not None and (other or own) > own for other in others)
        if ahead >= places:
            claims.append(Claim(player_id=player_id, goal=goal, fact="out"))
        elif len(possible) + len(others) - behind < places:
            claims.append(Claim(player_id=player_id, goal=goal, fact="clinched"))
    if places > 1 and len(possible) <= places:
        claims += [Claim(player_id=each, goal=goal, fact="clinched") for each in sorted(playing)]
    return claims


# Points


def points_race(tournament: Tournament, form: Format) -> PointsRace | None:
    """The race as it stands; None when no number of games is set, or nobody has points."""
    rows = tournament.points_map
    if not rows or not tournament.games:
        return None
    sizes = range(1, point_maps.GROUP_SIZE_MAX + 1)
    awards = {size: sorted(point_maps.points_by_place(rows, size), reverse=True) for size in sizes}
    top = max(max(row) for row in awards.values())
    low = min(ZERO, *(min(row) for row in awards.values()))
    open_games = [game for game in tournament.games if game.status == "started" and not game.is_tiebreak]
    waiting = Counter(player_id for game in open_games for player_id in game.player_ids)
    left = _games_to_come(tournament, form, waiting)
    if left is None:
        return None
    points = drawn_rounds.points_by_player(tournament)
    finishes = {}
    for player_id, now in points.items():
        own = [game for game in open_games if player_id in game.player_ids]
        most = now + sum((awards[_size(game)][0] for game in own), ZERO) + left[player_id] * top
        # Whoever leaves has no more points.
        least = now + (len(own) + left[player_id]) * low
        finishes[player_id] = Finish(points=now, least=least, most=most)
    is_last = not any(left.values()) and max(waiting.values(), default=0) <= 1
    return PointsRace(finishes=finishes, open_games=open_games, awards=awards, is_last=is_last)


def _size(game: Game) -> int:
    return max(1, min(len(game.player_ids), point_maps.GROUP_SIZE_MAX))


def _games_to_come(tournament: Tournament, form: Format, waiting: Mapping[int, int]) -> dict[int, int] | None:
    """Player id -> games beyond the open ones; None when their number is not set."""
    ids = [entrant.player_id for entrant in tournament.entrants]
    if form.planning.certain_by is CertainBy.GAMES:
        return dict.fromkeys(ids, 0)
    if form.planning.certain_by is CertainBy.ROUNDS:
        rounds = settings_protocols.rounds_planned(tournament.settings)
        if not rounds or len(tournament.rounds) > rounds:
            return None
        games = settings_protocols.games_per_round(tournament.settings)
        return dict.fromkeys(ids, (rounds - len(tournament.rounds)) * games)
    shape = form.planning.shape(tournament.settings, max(2, len(ids)))
    assert isinstance(shape, FreeTurns)
    played = Counter(
        player_id
        for game in tournament.games
        if game.status == "completed" and not game.is_tiebreak
        for player_id in game.player_ids
    )
    return {each: max(0, shape.turns - played[each] - waiting.get(each, 0)) for each in ids}


def _points(race: PointsRace, goal: Goal, places: int) -> list[Claim]:
    claims: list[Claim] = []
    own_game = {player_id: game for game in race.open_games for player_id in game.player_ids}
    most = sorted(finish.most for finish in race.finishes.values())
    least = sorted(finish.least for finish in race.finishes.values())
    for player_id, finish in sorted(race.finishes.items()):
        # Others who may end level or ahead; level players may be separated either way.
        rivals = len(most) - _count_below(most, finish.least) - 1
        if rivals < places:
            claims.append(Claim(player_id=player_id, goal=goal, fact="clinched"))
        elif len(least) - bisect_right(least, finish.most) >= places:
            claims.append(Claim(player_id=player_id, goal=goal, fact="out"))
        elif race.is_last:
            claims += _claims_of_last_game(race, player_id, own_game.get(player_id), goal, places)
    return claims


def _count_below(values: Sequence[Decimal], limit: Decimal) -> int:
    """How many of the ascending values are below the limit."""
    return bisect_right(values, limit) - sum(value == limit for value in values)


def _claims_of_last_game(
    race: PointsRace, player_id: int, own: Game | None, goal: Goal, places: int
) -> list[Claim]:
    """The claims when nothing follows the open games: each place of the own game, all of the others."""
    points = race.finishes[player_id].points
    awards: Sequence[Decimal] = (ZERO,) if own is None else race.awards[_size(own)]
    safe, is_possible = 0, False
    for number, award in enumerate(awards):
        left = [*awards[:number], *awards[number + 1 :]]
        most, least = _rivals(race, player_id, own, points + award, left)
        safe += most < places and safe == number
        is_possible = is_possible or least < places
    if safe == len(awards):
        return [Claim(player_id=player_id, goal=goal, fact="clinched")]
    if not is_possible:
        return [Claim(player_id=player_id, goal=goal, fact="out")]
    if own is None or not safe:
        return []
    return [Claim(player_id=player_id, goal=goal, fact="place", place=safe, game_id=own.game_id)]


def _rivals(
    race: PointsRace, player_id: int, own: Game | None, final: Decimal, own_awards: Sequence[Decimal]
) -> tuple[int, int]:
    """At most so many others end level or ahead, and at least so many ahead, if the player ends so."""
    most = least = 0
    busy: set[int] = {player_id}
    for game in race.open_games:
        seats = [each for each in game.player_ids if each != player_id]
        awards = own_awards if game is own else race.awards[_size(game)]
        needs = sorted(final - race.finishes[each].points for each in seats)
        most += _satisfied(needs, sorted(awards))
        least += len(seats) - _kept_down(needs, sorted(awards))
        busy.update(seats)
    rest = [finish.points for each, finish in race.finishes.items() if each not in busy]
    return most + sum(points >= final for points in rest), least + sum(points > final for points in rest)


def _satisfied(needs: Sequence[Decimal], awards: Sequence[Decimal]) -> int:
    """The most players who can get what they need; both ascending."""
    count = 0
    for award in awards:
        if count < len(needs) and award >= needs[count]:
            count += 1
    return count


def _kept_down(limits: Sequence[Decimal], awards: Sequence[Decimal]) -> int:
    """The most players who can be kept at or below their limits; both ascending."""
    count = 0
    for limit in limits:
        if count < len(awards) and awards[count] <= limit:
            count += 1
    return count


# In this order: where several parts were changed, the first is named.
Reason: TypeAlias = Literal["adjusted", "corrected", "joined", "left", "pairing", "settings"]
# Settings on which no certain fact depends.
SETTINGS_IGNORED = frozenset({"forecast", "scorekeeping", "suggestions", "pairing"})
# Withdrawals that are listed, newest first.
WITHDRAWALS_MAX = 50


class Chance(Struct, frozen=True, kw_only=True):
    """The chances of a player, from 0 to 1."""

    player_id: int
    win: float
    # None without a cut.
    cut: float | None


class Withdrawal(Struct, frozen=True, kw_only=True):
    """A published fact that does not hold any more."""

    claim: Claim
    reason: Reason
    withdrawn_at: datetime


class Assumptions(Struct, frozen=True, kw_only=True):
    """The parts of a tournament that must stay as they are, for what is certain to stay so."""

    # Player id -> points, strikes and score by hand.
    adjustments: Mapping[int, str]
    # Player id -> whether they play on.
    players: Mapping[int, bool]
    # Each finished game, by kind and id -> its result.
    results: Mapping[str, str]
    # Each round, or game outside rounds -> who meets whom; empty where players only go out.
    pairings: Mapping[str, str]
    # As JSON has them, for a stored forecast is compared with a fresh one.
    settings: Mapping[str, Any]


class Forecast(Struct, frozen=True, kw_only=True):
    """The forecast of a running night, as it is stored."""

    # None in formats without chances.
    chances: Sequence[Chance] | None
    # The players whose rating was used.
    rated_ids: Sequence[int]
    nights_simulated: int
    claims: Sequence[Claim]
    withdrawals: Sequence[Withdrawal]
    assumptions: Assumptions


class CertainFacts(Struct, frozen=True, kw_only=True):
    """The facts that are certain now, and those that no longer are."""

    claims: Sequence[Claim]
    withdrawals: Sequence[Withdrawal]
    assumptions: Assumptions


def assumptions_of(tournament: Tournament, form: Format) -> Assumptions:
    """The assumptions of all certain facts about the tournament as it stands."""
    settings = msgspec.json.decode(msgspec.json.encode(tournament.settings))
    points = msgspec.json.decode(msgspec.json.encode(tournament.points_map))
    entrants = tournament.entrants
    return Assumptions(
        adjustments={
            each.player_id: f"{each.points_adjustment:.2f} {each.score_adjustment:.2f}" for each in entrants
        },
        players={each.player_id: each.is_active for each in entrants},
        results=_results(tournament),
        # Who is out depends on results alone, whoever meets next.
        pairings={} if form.planning.certain_by is CertainBy.ELIMINATION else _pairings(tournament),
        settings={key: value for key, value in settings.items() if key not in SETTINGS_IGNORED}
        | {"pointsMap": points},
    )


def _results(tournament: Tournament) -> dict[str, str]:
    """The finished games of several players, and those of one player."""
    games = {
        f"game {game.game_id}": _result_text(game)
        for game in tournament.games
        if game.status == "completed" and not game.is_bye
    }
    attempts = {
        f"attempt {attempt.single_player_game_id}": (
            f"{attempt.points or 0:.2f} {attempt.score} {attempt.is_voided}"
        )
        for attempt in tournament.single_player_games
        if attempt.status == "completed"
    }
    return games | attempts


def _pairings(tournament: Tournament) -> dict[str, str]:
    """The players of each game and bye. A whole round is one pairing: a game that is added changes it."""
    groups: dict[str, list[str]] = {}
    for game in tournament.games:
        if not game.is_tiebreak:
            key = f"round {game.round_id}" if game.round_id else f"game {game.game_id}"
            groups.setdefault(key, []).append(" ".join(map(str, sorted(game.player_ids))))
    return {key: "/".join(sorted(players)) for key, players in groups.items()}


def _result_text(game: Game) -> str:
    points = " ".join("-" if each is None else f"{each:.2f}" for each in game.result_points)
    places = " ".join(str(each or 0) for each in game.finishing_order or game.result_positions)
    return f"{places}/{points}"


def broken_assumption(before: Assumptions, now: Assumptions) -> Reason | None:
    """Why facts that were certain before need not be so now; None when they still are."""
    if any(now.adjustments.get(each, was) != was for each, was in before.adjustments.items()):
        return "adjusted"
    if any(now.results.get(game_id) != was for game_id, was in before.results.items()):
        return "corrected"
    # Who joined and has left again may have points, and so may an entrant who was removed.
    if any(each not in before.players or plays > before.players[each] for each, plays in now.players.items()):
        return "joined"
    if any(each not in now.players or plays > now.players[each] for each, plays in before.players.items()):
        return "left"
    if any(now.pairings.get(key) != was for key, was in before.pairings.items()):
        return "pairing"
    return None if now.settings == before.settings else "settings"


def certain_facts(
    tournament: Tournament, form: Format, before: Forecast | None, now: datetime
) -> CertainFacts:
    """The certain facts of a tournament, after those that were published before."""
    assumptions = assumptions_of(tournament, form)
    claims = certain_claims(tournament, form)
    if before is None:
        return CertainFacts(claims=claims, withdrawals=(), assumptions=assumptions)
    reason = broken_assumption(before.assumptions, assumptions)
    withdrawals = list(before.withdrawals)
    if reason is None:
        claims = _with_earlier(claims, before.claims)
    else:
        gone = _claims_that_fell(tournament, before.claims, claims)
        fresh = [Withdrawal(claim=claim, reason=reason, withdrawn_at=now) for claim in gone]
        withdrawals = [*fresh, *withdrawals]
    held = set(claims)
    withdrawals = [each for each in withdrawals if each.claim not in held]
    shown = tuple(withdrawals[:WITHDRAWALS_MAX])
    return CertainFacts(claims=claims, withdrawals=shown, assumptions=assumptions)


def _with_earlier(claims: Sequence[Claim], earlier: Sequence[Claim]) -> list[Claim]:
    """All settled facts, and the places in games that settle the others."""
    settled = {_subject(claim): claim for claim in (*earlier, *claims) if claim.fact != "place"}
    open_claims = [claim for claim in claims if claim.fact == "place" and _subject(claim) not in settled]
    return sorted([*settled.values(), *open_claims], key=lambda claim: (claim.goal, claim.player_id))


def _subject(claim: Claim) -> tuple[int, Goal]:
    return claim.player_id, claim.goal


def _claims_that_fell(
    tournament: Tournament, earlier: Sequence[Claim], claims: Sequence[Claim]
) -> list[Claim]:
    """The earlier facts that are not among those of now, without places in games that were played."""
    played = {
        (game.game_id, player_id)
        for game in tournament.games
        if game.status == "completed" and not game.is_bye
        for player_id in game.player_ids
    }
    facts: dict[tuple[int, Goal], tuple[Fact, int | None]] = {
        _subject(claim): (claim.fact, claim.place) for claim in claims
    }
    return [
        claim
        for claim in earlier
        if (claim.game_id, claim.player_id) not in played
        and not _still_holds(claim, *facts.get(_subject(claim), (None, None)))
    ]


def _still_holds(claim: Claim, fact: Fact | None, place: int | None) -> bool:
    if claim.fact == "place":
        return fact == "clinched" or (fact == "place" and (place or 0) >= (claim.place or 0))
    return fact == claim.fact


# Chances of a running night from ratings, by playing what is left of it many times. Chance is an argument.
#
# Who is ahead of whom in a game follows Plackett and Luce, with the logistic scale of the ratings; unrated
# players count as the mean. Future rounds are drawn at random among those who play.
