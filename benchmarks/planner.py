"""The night planner: how long a plan takes, and how often its 90 % line holds.

Speed: a plan of 60 players over all formats, 200 nights each. Proof: every night is predicted only from
nights of its club that ended before it began, real nights (tests/golden/knockouts) and invented ones apart.
Invented nights are those of many clubs (tests/rules/planning/invented_clubs.py), which share nothing with the
planner. Prints the tables of docs/planning.md; with --fit how often the lines hold with other constants.
"""

import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np

from silverball.kit.values import replace
from silverball.rules.format import Format
from silverball.rules.model.settings import TournamentSettings, read_settings
from silverball.rules.outlook.plans import LINE, NIGHTS_SIMULATED, plan_nights
from silverball.rules.planning import simulation
from silverball.rules.planning.pace import DEFAULT_PACE, Pace, PastNight, PlayedGame, learn_pace
from silverball.rules.planning.simulation import FinishedNight
from silverball.rules.registry import FORMATS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from rules.planning.invented_clubs import clubs

REAL_NIGHTS = Path(__file__).parents[1] / "tests" / "golden" / "knockouts"

PLAYERS, MACHINES, SECONDS_MAX = 60, 30, 2.0
SHARE_MIN, SHARE_MAX = 0.85, 0.95
SINCE, NIGHTS_USED = 5, 10
# Ten nights of each club are predicted: 500 to which the constants are fitted, and 1,000 others.
CLUBS_FITTED, CLUBS_OTHER = 50, 100


@dataclass(frozen=True, kw_only=True)
class MeasuredNight:
    """A night that is over."""

    form: Format
    settings: TournamentSettings
    players: int
    machines: int
    minutes: float
    past: PastNight
    club: str = ""
    # In minutes since whenever.
    begins: float = 0.0

    @property
    def finished(self) -> FinishedNight:
        shape = self.form.planning.shape(self.settings, self.players)
        return FinishedNight(shape=shape, players=self.players, machines=self.machines, minutes=self.minutes)


def main() -> int:
    """Measure, print the tables, and say by the exit code whether the bounds are met."""
    fitted = list(invented_nights("fitted", CLUBS_FITTED))
    if "--fit" in sys.argv:
        fit(fitted)
        return 0
    seconds = plan_seconds()
    print(f"Plan of {PLAYERS} players, all formats, {NIGHTS_SIMULATED} nights each: {seconds:.2f} s")
    print("\n| Nights | Predicted | Line holds | Mean of actual / expected |\n|---|---|---|---|")
    is_held = seconds <= SECONDS_MAX
    others = list(invented_nights("others", CLUBS_OTHER))
    for name, nights in (("real", list(real_nights())), ("fitted", fitted), ("others", others)):
        for label, pace in (("from the defaults", DEFAULT_PACE), ("from five nights or more", None)):
            # The real nights are few: the defaults are measured with all of them.
            since = 0 if name == "real" and pace else SINCE
            found = list(predictions(nights, since, pace))
            share = share_held(found)
            ratio = float(np.mean([ratio for _, ratio in found]))
            print(f"| {name}, {label} | {len(found)} | {share:.1%} | {ratio:.2f} |")
            if name == "others":
                is_held = is_held and SHARE_MIN <= share <= (1 if pace else SHARE_MAX)
    return 0 if is_held else 1


def plan_seconds() -> float:
    """The median of five plans."""
    taken = []
    for seed in range(5):
        began = time.perf_counter()
        dice = np.random.default_rng(seed)
        forms = FORMATS.values()
        for _ in plan_nights(
            forms, players=PLAYERS, machines=MACHINES, pace_of=lambda _: DEFAULT_PACE, dice=dice
        ):
            pass
        taken.append(time.perf_counter() - began)
    return sorted(taken)[2]


def predictions(
    nights: list[MeasuredNight], since: int, pace: Pace | None = None
) -> Iterator[tuple[bool, float]]:
    """Whether each night with so many before it ended by its line, and its length as a share of what was
    expected. Without a pace it is that of the nights before.
    """
    for night in nights:
        before = [
            each
            for each in nights
            if (each.form, each.club) == (night.form, night.club)
            and each.begins + each.minutes < night.begins
        ]
        if len(before) < since:
            continue
        used = before[-NIGHTS_USED:]
        drawn = simulation.simulate_minutes(
            night.finished.shape,
            players=night.players,
            machines=night.machines,
            pace=pace or pace_of_nights(used),
            dice=np.random.default_rng(7),
            nights=NIGHTS_SIMULATED,
        )
        assert drawn is not None
        yield night.minutes <= float(np.quantile(drawn, LINE)), night.minutes / float(drawn.mean())


def pace_of_nights(used: list[MeasuredNight]) -> Pace:
    pace = learn_pace([each.past for each in used])
    finished = [each.finished for each in used]
    return simulation.calibrate(pace, finished, np.random.default_rng(3))


def share_held(found: Iterable[tuple[bool, float]]) -> float:
    held = [is_held for is_held, _ in found]
    return sum(held) / len(held)


def real_nights() -> Iterator[MeasuredNight]:
    """The observed nights, oldest first."""
    found = []
    for path in sorted(REAL_NIGHTS.glob("*.json")):
        bundle = json.loads(path.read_text(encoding="utf-8"))
        games = [game for game in bundle["games"] if len(game["playerIds"]) > 1]
        rounds = sorted(bundle["rounds"], key=lambda round_: round_["index"])
        begins = _minute(rounds[0]["createdAt"])
        ends = max(_minute(game["startedAt"]) + game["duration"] / 60 for game in games)
        form = FORMATS[bundle["tournament"]["type"]]
        played = tuple(
            PlayedGame(size=len(game["playerIds"]), minutes=game["duration"] / 60, arena_id=game["arenaId"])
            for game in games
        )
        gaps = tuple(
            _minute(after["createdAt"]) - _minute(before["completedAt"]) for before, after in pairwise(rounds)
        )
        found.append(
            MeasuredNight(
                form=form,
                settings=read_settings(form.settings, bundle["tournament"]),
                players=len(bundle["tournament"]["players"]),
                machines=len({game["arenaId"] for game in games}),
                minutes=ends - begins,
                past=PastNight(games=played, gaps=gaps),
                begins=begins,
            )
        )
    yield from sorted(found, key=lambda night: night.begins)


def _minute(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() / 60


def invented_nights(name: str, count: int) -> Iterator[MeasuredNight]:
    """The nights of so many invented clubs; each name has others."""
    for number, club in enumerate(clubs(name, count)):
        for evening, night in enumerate(club.nights):
            yield MeasuredNight(
                form=FORMATS[club.type],
                settings=club.settings,
                players=night.players,
                machines=night.machines,
                minutes=night.minutes,
                past=night.past,
                club=str(number),
                begins=evening * 10_000.0,
            )


def fit(nights: list[MeasuredNight]) -> None:
    """Print how often the lines hold with other constants."""
    print("| Size of a miss assumed | Line holds |\n|---|---|")
    for size in (0.14, 0.17, 0.2, 0.23):
        simulation.MISS_ASSUMED = size
        print(f"| {size} | {share_held(predictions(nights, SINCE)):.1%} |")
    print("\n| Spread of the venues | Line holds from the defaults |\n|---|---|")
    for spread in (0.25, 0.3, 0.35, 0.4):
        pace = replace(DEFAULT_PACE, venue_spread=spread)
        print(f"| {spread} | {share_held(predictions(nights, SINCE, pace)):.1%} |")


if __name__ == "__main__":
    sys.exit(main())
