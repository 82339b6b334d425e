"""The forecast of a tournament in the words of its pages."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from itertools import groupby

from msgspec import Struct

from silverball.rules.model.tournament import Tournament
from silverball.service.forecasts import reads
from silverball.service.forecasts.reads import PublishedForecast
from silverball.store.engine import Db
from silverball_wire.forecasts import CertainFact, PlayerForecast, WithdrawnFact

# Rows that are shown at once; the others are behind a line to tap.
ROWS_FIRST = 8
ROWS_ON_WALL = 6
# Withdrawals that are shown, and the players that a line of them names.
LINES_MAX = 3
NAMES_MAX = 6
REASONS = {
    "adjusted": "points or strikes were adjusted",
    "corrected": "a result was changed",
    "joined": "somebody joined or came back",
    "left": "somebody left",
    "settings": "the settings were changed",
}


class ForecastRow(Struct, frozen=True):
    """A player's line: chances as texts, empty without a number, and what is certain."""

    player_id: int
    win: str
    cut: str
    facts: Sequence[str]


class WithdrawnLine(Struct, frozen=True):
    """The facts that one change withdrew: why, when, and by player what they said."""

    reason: str
    withdrawn_at: datetime
    facts: Sequence[tuple[int, str]]

    @property
    def named(self) -> Sequence[tuple[int, str]]:
        return self.facts[:NAMES_MAX]

    @property
    def unnamed_count(self) -> int:
        return len(self.facts) - len(self.named)


class ForecastView(Struct, frozen=True, dict=True):
    """A forecast as pages show it."""

    published: PublishedForecast

    @property
    def is_being_computed(self) -> bool:
        return self.published.is_being_computed

    @property
    def notes(self) -> Sequence[str]:
        return self.published.forecast.notes

    @property
    def has_chances(self) -> bool:
        return self.published.forecast.nights_simulated > 0

    @property
    def cut_position(self) -> int | None:
        return self.published.forecast.cut_position

    @property
    def has_cut(self) -> bool:
        """Whether chances to reach the cut are shown."""
        return any(row.cut is not None for row in self.published.forecast.players)

    @cached_property
    def rows(self) -> list[ForecastRow]:
        """All players; in formats without chances those about whom something is certain."""
        players = self.published.forecast.players
        listed = players if self.has_chances else [row for row in players if row.facts]
        return [_forecast_row(row, self.cut_position) for row in listed]

    @property
    def first_rows(self) -> list[ForecastRow]:
        return self.rows[:ROWS_FIRST]

    @property
    def other_rows(self) -> list[ForecastRow]:
        return self.rows[ROWS_FIRST:]

    @property
    def wall_rows(self) -> list[ForecastRow]:
        """The players whom a wall shows: in formats without chances those who can still be first."""
        return self.rows[:ROWS_ON_WALL]

    @property
    def withdrawn(self) -> list[WithdrawnLine]:
        """The facts that no longer hold, by change, newest first."""
        by_change = groupby(self.published.forecast.withdrawn, lambda fact: (fact.withdrawn_at, fact.reason))
        lines = [
            WithdrawnLine(
                REASONS[reason],
                datetime.fromisoformat(withdrawn_at),
                [(fact.player_id, _fact_text(fact, self.cut_position)) for fact in facts],
            )
            for (withdrawn_at, reason), facts in by_change
        ]
        return lines[:LINES_MAX]


def shown_forecast(db: Db, tournament: Tournament) -> ForecastView | None:
    """Return the forecast of a running tournament; None while it is off."""
    if tournament.status != "started" or not reads.has_forecast(tournament):
        return None
    return ForecastView(reads.tournament_forecast(db, tournament.tournament_id))


def _forecast_row(row: PlayerForecast, cut: int | None) -> ForecastRow:
    certain = {fact.goal: fact.fact for fact in row.facts}
    return ForecastRow(
        player_id=row.player_id,
        win=_percent_text(row.win, certain.get("win")),
        cut=_percent_text(row.cut, certain.get("cut")),
        facts=_fact_texts(row.facts, cut),
    )


def _percent_text(chance: float | None, fact: str | None) -> str:
    """The chance in percent; a simulation alone never shows 0 or 100."""
    if chance is None:
        return ""
    percent = round(chance * 100)
    if percent < 1 and fact != "out":
        return "<1 %"
    if percent > 99 and fact != "clinched":
        return ">99 %"
    return f"{percent} %"


def _fact_texts(facts: Sequence[CertainFact], cut: int | None) -> list[str]:
    """The certain facts in words; whoever is out of the cut cannot win either."""
    is_out = any(fact.goal == "cut" and fact.fact == "out" for fact in facts)
    has_won = any(fact.goal == "win" and fact.fact == "clinched" for fact in facts)
    shown = [
        fact for fact in facts if not (is_out and fact.goal == "win") and not (has_won and fact.goal == "cut")
    ]
    return [_fact_text(fact, cut) for fact in sorted(shown, key=lambda fact: fact.goal)]


def _fact_text(fact: CertainFact | WithdrawnFact, cut: int | None) -> str:
    """`through`, `2nd is enough for the top 4`, `cannot win`."""
    goal = f"the top {cut}" if fact.goal == "cut" and cut is not None else "the cut"
    if fact.fact == "place":
        enough = "a win is enough" if fact.place == 1 else f"{_ordinal(fact.place or 0)} is enough"
        return f"{enough} to win" if fact.goal == "win" else f"{enough} for {goal}"
    if fact.goal == "win":
        return "certain winner" if fact.fact == "clinched" else "cannot win"
    return f"in {goal}" if fact.fact == "clinched" else f"out of {goal}"


def _ordinal(place: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(place, f"{place}th")
