"""The forecast: how long it takes, and how good its chances are.

Speed: the forecast of 60 players in the middle of their night. Proof: every night is predicted after half of
its games, with ratings computed from nights that ended before it, and once more before its first game, by
ratings alone. Real nights (tests/golden/knockouts) and invented ones apart. Invented nights are played by
the engine with players of different strength, whose games follow another distribution than the simulation
assumes. Prints the tables of docs/forecast.md; with --write it draws the diagram there.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from silverball.jobs.compute_forecasts import ForecastInput, compute_forecast
from silverball.kit.values import replace
from silverball.rules.model.settings import Band
from silverball.rules.model.tournament import Entrant, Tournament
from silverball.rules.outlook.chances import chances
from silverball.rules.outlook.forecast import cut_of
from silverball.rules.ratings.book import PlayedGames, rate_period
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.rules.ratings.kernel import RatingArrays, deviations_after
from silverball.rules.registry import FORMATS
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament.loaded import LoadedTournament

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
# The tests' own ways to play a night in memory, and to read a real one.
from rules.knockouts import knockout_tournament
from rules.night import a_night

ROOT = Path(__file__).parents[1]
PLAYERS, SECONDS_MAX, REPEATS = 60, 0.5, 7
NIGHTS_BEFORE = 5
INVENTED, MEMBERS = 40, 28
BINS = 10
DIAGRAM = ROOT / "docs" / "forecast-reliability.svg"
FOUR_GO_ON = (Band(index=0, value=4, cumulative=4, text="", color=None),)
# Format -> settings of the invented nights.
CLUBS: dict[str, dict[str, Any]] = {
    "matchplay": {"duration": 7, "playoffs_cutoffs": FOUR_GO_ON},
    "group_matchplay": {"duration": 5, "playoffs_cutoffs": FOUR_GO_ON},
    "knockout": {"knockout_strike_count": 3},
    "group_knockout": {"knockout_strike_count": 3},
}


@dataclass(frozen=True, kw_only=True)
class ForecastNight:
    """A night that is over: before its first game, after half of its games, and its end."""

    start: Tournament
    half: Tournament
    end: Tournament
    day: datetime
    # Player ids of each game with their places, from 1.
    games: Sequence[Mapping[int, int]]


@dataclass
class ClubRatings:
    """The ratings of a club's players, night by night."""

    ratings: dict[int, float] = field(default_factory=dict)
    rds: dict[int, float] = field(default_factory=dict)
    day: datetime | None = None

    def add(self, night: ForecastNight) -> None:
        """Rate a night."""
        ids = sorted({each for game in night.games for each in game})
        position = {player_id: at for at, player_id in enumerate(ids)}
        days = 0 if self.day is None else (night.day - self.day).days
        before = RatingArrays(
            np.array([self.ratings.get(each, DEFAULTS.rating_default) for each in ids]),
            deviations_after(
                np.array([self.rds.get(each, DEFAULTS.rd_default) for each in ids]), days, DEFAULTS
            ),
        )
        sizes = np.array([len(game) for game in night.games])
        played = PlayedGames(
            np.array([position[each] for game in night.games for each in game]),
            np.array([place for game in night.games for place in game.values()]),
            sizes,
            sizes,
            np.zeros(len(sizes), np.int64),
        )
        after = rate_period(before, played, DEFAULTS).ratings_after
        self.ratings |= dict(zip(ids, after.ratings.tolist(), strict=True))
        self.rds |= dict(zip(ids, after.rds.tolist(), strict=True))
        self.day = night.day


@dataclass
class Predictions:
    """Chances with what came of them, of one goal."""

    equal: list[tuple[float, bool]] = field(default_factory=list)
    by_rating: list[tuple[float, bool]] = field(default_factory=list)
    at_half: list[tuple[float, bool]] = field(default_factory=list)


def main() -> int:
    """Measure, print the tables, and say by the exit code whether the bounds are met."""
    is_held = print_speed()
    print("\n| Nights | Goal | Predicted | Equal chances | By rating alone | After half of the games |")
    print("|---|---|---|---|---|---|")
    everything: list[tuple[float, bool]] = []
    groups = [("real", [list(real_nights())]), ("invented", [list(invented(kind)) for kind in CLUBS])]
    for name, clubs in groups:
        for goal, found in predictions(clubs).items():
            scores = [brier(each) for each in (found.equal, found.by_rating, found.at_half)]
            shown = " | ".join(f"{score:.4f}" for score in scores)
            print(f"| {name} | {goal} | {len(found.at_half)} | {shown} |")
            is_held = is_held and scores[2] < scores[1]
            everything += found.at_half
    bins = list(reliability(everything))
    print("\n| Chance said | Predictions | Mean of the chances | Came true |\n|---|---|---|---|")
    for low, high, count, mean, share in bins:
        print(f"| {low:.0%} to {high:.0%} | {count} | {mean:.1%} | {share:.1%} |")
    if "--write" in sys.argv:
        DIAGRAM.write_text(diagram(bins), encoding="utf-8")
    return 0 if is_held else 1


# Speed


def print_speed() -> bool:
    """Print the median times; whether all are short enough."""
    print("| Night of 60 players | Median | Of it processor |\n|---|---|---|")
    slowest = 0.0
    for kind, settings in CLUBS.items():
        night = a_night(kind, players=PLAYERS, arenas=PLAYERS // 2, **settings)
        dice = Random(kind)
        night.start()
        for _ in range(3):
            for game in night.open_round():
                night.record_order(game, *dice.sample(game.player_ids, len(game.player_ids)))
            night.complete_round()
        night.open_round()
        ratings = {each: dice.gauss(1500, 150) for each in night.tournament.active_ids}
        given = ForecastInput(LoadedTournament(Revision(7, 7), night.tournament), ratings, None)
        taken = sorted(_seconds(given) for _ in range(REPEATS))
        wall, processor = taken[REPEATS // 2]
        slowest = max(slowest, wall)
        print(f"| {kind}, {len(night.tournament.games)} games | {wall:.3f} s | {processor:.3f} s |")
    return slowest <= SECONDS_MAX


def _seconds(given: ForecastInput) -> tuple[float, float]:
    began, worked = time.perf_counter(), time.process_time()
    compute_forecast(given, datetime.now(UTC))
    return time.perf_counter() - began, time.process_time() - worked


# Proof


def predictions(clubs: Iterable[Sequence[ForecastNight]]) -> dict[str, Predictions]:
    """Goal -> the predictions of all nights before which there were five."""
    found: dict[str, Predictions] = defaultdict(Predictions)
    for nights in clubs:
        club = ClubRatings()
        for number, night in enumerate(nights):
            if number >= NIGHTS_BEFORE:
                _predict(night, club, found)
            club.add(night)
    return found


def _predict(night: ForecastNight, club: ClubRatings, found: dict[str, Predictions]) -> None:
    form = FORMATS[night.end.type]
    ids = [entrant.player_id for entrant in night.start.entrants]
    ratings = {each: club.ratings[each] for each in ids if each in club.ratings}
    positions = {row.player_id: row.position for row in form.rank(night.end)}
    goals = {"win": 1}
    cut = cut_of(night.end)
    if cut is not None:
        goals["cut"] = cut
    for moment in ("by_rating", "at_half"):
        state = night.start if moment == "by_rating" else night.half
        forecast = chances(state, form, ratings, np.random.default_rng(7))
        assert forecast is not None
        for goal, places in goals.items():
            for chance in forecast:
                value = chance.win if goal == "win" else chance.cut
                assert value is not None
                came = positions[chance.player_id] <= places
                getattr(found[goal], moment).append((value, came))
                if moment == "at_half":
                    found[goal].equal.append((places / len(ids), came))


def brier(made: Sequence[tuple[float, bool]]) -> float:
    """The mean square of the difference between what was said and what came."""
    return sum((chance - came) ** 2 for chance, came in made) / len(made)


def reliability(made: Sequence[tuple[float, bool]]) -> Iterator[tuple[float, float, int, float, float]]:
    """By tenths: bounds, predictions, the mean of the chances, and the share that came true."""
    binned: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for chance, came in made:
        binned[min(int(chance * BINS), BINS - 1)].append((chance, came))
    for number, inside in sorted(binned.items()):
        mean = sum(chance for chance, _ in inside) / len(inside)
        share = sum(came for _, came in inside) / len(inside)
        yield number / BINS, (number + 1) / BINS, len(inside), mean, share


def diagram(bins: Sequence[tuple[float, float, int, float, float]]) -> str:
    """The reliability diagram as SVG: a dot for each tenth; a perfect forecast is on the line."""
    size, edge = 300, 40
    dots = "".join(
        f'<circle cx="{edge + mean * size:.1f}" cy="{edge + (1 - share) * size:.1f}" r="5">'
        f"<title>{mean:.0%} said, {share:.0%} came true, {count} predictions</title></circle>"
        for _, _, count, mean, share in bins
    )
    marks = "".join(
        f'<text x="{edge + at * size:.0f}" y="{edge + size + 18}" text-anchor="middle">{at:.0%}</text>'
        f'<text x="{edge - 6}" y="{edge + (1 - at) * size + 4:.0f}" text-anchor="end">{at:.0%}</text>'
        for at in (0, 0.5, 1)
    )
    whole = size + 2 * edge
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole + 10}" width="{whole}"'
        ' font-family="sans-serif" font-size="12" role="img" aria-label="Reliability of the forecast">'
        f'<rect width="{whole}" height="{whole + 10}" fill="#fff"/>'
        f'<rect x="{edge}" y="{edge}" width="{size}" height="{size}" fill="none" stroke="#888"/>'
        f'<path d="M{edge} {edge + size}L{edge + size} {edge}" stroke="#888" stroke-dasharray="4"/>'
        f'<g fill="#1f56b8">{dots}</g>{marks}'
        f'<text x="{edge + size / 2:.0f}" y="{whole + 2}" text-anchor="middle">chance that was said</text>'
        f'<text x="{edge}" y="{edge - 12}">came true</text></svg>\n'
    )


# Nights


def real_nights() -> Iterator[ForecastNight]:
    """The observed nights, oldest first."""
    bundles = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "tests" / "golden" / "knockouts").glob("*.json"))
    ]
    for bundle in sorted(bundles, key=lambda each: each["tournament"]["startUtc"]):
        yield _real_night(bundle)


def _real_night(bundle: Any) -> ForecastNight:
    tournament = bundle["tournament"]
    order = {round_["roundId"]: round_["index"] for round_ in bundle["rounds"]}
    by_round: dict[int, list[dict[int, str]]] = defaultdict(list)
    for game in sorted(bundle["games"], key=lambda each: each["gameId"]):
        result = dict(zip(game["playerIds"], game["resultPoints"], strict=True))
        by_round[order[game["roundId"]]].append(result)
    rounds = [by_round[index] for index in sorted(by_round)]
    entrants = [
        Entrant(
            player_id=each["playerId"],
            points_adjustment=Decimal(str(each["tournamentPlayer"]["pointsAdjustment"] or 0)),
        )
        for each in tournament["players"]
    ]
    kind = tournament["type"]
    own = set(FORMATS[kind].settings.__struct_encode_fields__)
    chosen = {key: value for key, value in tournament.items() if key in own}
    played = [game for results in rounds for game in results if len(game) > 1]
    half = _first_games(rounds, len(played) // 2)
    started: Any = {"status": "started", "entrants": entrants}
    return ForecastNight(
        start=knockout_tournament([], kind, **started, **chosen),
        half=knockout_tournament(half, kind, open_rounds=1, **started, **chosen),
        end=knockout_tournament(rounds, kind, entrants=entrants, **chosen),
        day=datetime.fromisoformat(tournament["startUtc"]),
        games=[_places(game) for game in played],
    )


def _first_games(rounds: Sequence[Sequence[dict[int, str]]], count: int) -> list[list[dict[int, str]]]:
    """The rounds until so many games are over; the other games of the last one are open."""
    kept: list[list[dict[int, str]]] = []
    left = count
    for results in rounds:
        if left <= 0:
            break
        kept.append([])
        for game in results:
            is_over = len(game) == 1 or left > 0
            kept[-1].append(game if is_over else dict.fromkeys(game, "-"))
            left -= len(game) > 1
    return kept


def _places(game: Mapping[int, str]) -> dict[int, int]:
    """Player id -> place, by points; equal points share it."""
    values = {player_id: Decimal(points) for player_id, points in game.items()}
    return {player_id: 1 + sum(other > own for other in values.values()) for player_id, own in values.items()}


def invented(kind: str) -> Iterator[ForecastNight]:
    """The nights of a club, a week apart, played by the engine."""
    dice = Random(kind)
    strength = {member: dice.gauss(0, 0.6) for member in range(1, MEMBERS + 1)}
    for number in range(INVENTED):
        yield _invented_night(kind, strength, dice, datetime(2026, 1, 1, tzinfo=UTC) + timedelta(7 * number))


def _invented_night(kind: str, strength: Mapping[int, float], dice: Random, day: datetime) -> ForecastNight:
    players = dice.randint(10, 20)
    night = a_night(kind, players=players, arenas=players // 2 + 1, **CLUBS[kind])
    form = FORMATS[kind]
    # Whoever comes this week; ids of the night are members of the club from here on.
    member_of = dict(zip(night.tournament.active_ids, dice.sample(sorted(strength), players), strict=True))
    night.tournament = _renumbered(night.tournament, member_of)
    night.start()
    start = night.tournament
    states: list[Tournament] = []
    games: list[Mapping[int, int]] = []
    while not form.is_over(night.tournament):
        for game in night.open_round():
            luck = {each: strength[each] + dice.gauss(0, 1.0) for each in game.player_ids}
            order = sorted(game.player_ids, key=lambda each: -luck[each])
            night.record_order(game, *order)
            states.append(night.tournament)
            games.append({each: place for place, each in enumerate(order, start=1)})
        night.complete_round()
    half = states[len(games) // 2 - 1]
    return ForecastNight(start=start, half=half, end=night.tournament, day=day, games=games)


def _renumbered(tournament: Tournament, member_of: Mapping[int, int]) -> Tournament:
    entrants = tuple(replace(each, player_id=member_of[each.player_id]) for each in tournament.entrants)
    return replace(tournament, entrants=entrants)


if __name__ == "__main__":
    sys.exit(main())
