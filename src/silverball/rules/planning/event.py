"""The worth of an event: a tournament alone, or a qualifying with its finals.

Source: ratings, B.3 and B.4.
"""

from fractions import Fraction
from math import floor

from msgspec import Struct

from silverball.rules.planning import tgp
from silverball.rules.planning.answers import MeaningfulGames, shown_number
from silverball.rules.planning.tgp import Finals, Grade, Stage
from silverball.rules.planning.value import Estimate

HALVES = 2
PLAYERS_MIN = 3
TOO_FEW = "The federation needs at least three players (published rule)."
QUALIFYING_LOST = "More than half of the field goes on, so the qualifying counts nothing (published rule)."
FINALS_TOO_WIDE = (
    "The finals are not a tenth to a half of the field or never come down to four players, so 100 % is the "
    "limit (published rule)."
)
LIMIT_REACHED = "The games would be worth more than the limit of {limit} % (published rule)."
BALLS = "Games of {balls} count {share} each (published rule)."


class EventPart(Struct, frozen=True, kw_only=True):
    """A tournament of the event, as its format counts it."""

    meaningful_games: MeaningfulGames
    players: int
    balls: int = 3

    @property
    def stage(self) -> Stage:
        """The part as a stage. Only for parts with a number."""
        answer = self.meaningful_games
        assert answer.games is not None
        balls = 3 if answer.counts_balls else self.balls
        return Stage(games=answer.games, balls=balls, hours=answer.hours)


class EventGrade(Struct, frozen=True, kw_only=True):
    """The grade of an event, or the reasons why it has none."""

    grade: Grade | None
    notes: tuple[str, ...]
    # The grade with one more round; None where rounds are no setting or the limit is reached.
    percent_of_next_round: int | None = None
    is_being_computed: bool = False


def grade_of_event(first: EventPart, finals: EventPart | None = None) -> EventGrade:
    """Return the grade of a tournament, or of a qualifying with its finals."""
    parts = [first] if finals is None else [first, finals]
    notes = [note for part in parts for note in part.meaningful_games.notes]
    if any(part.meaningful_games.games is None for part in parts):
        is_being_computed = any(part.meaningful_games.awaited is not None for part in parts)
        return EventGrade(grade=None, notes=tuple(dict.fromkeys(notes)), is_being_computed=is_being_computed)
    separate = None if finals is None else _finals(first, finals)
    grade = tgp.grade_event(first.stage, separate)
    notes += _rules_applied(first, separate, grade)
    return EventGrade(
        grade=grade,
        notes=tuple(dict.fromkeys(notes)),
        percent_of_next_round=_percent_of_next_round(first, separate, grade),
    )


def _finals(first: EventPart, finals: EventPart) -> Finals:
    last = finals.meaningful_games.last_players
    return Finals(
        stage=finals.stage,
        qualifying_players=first.players,
        finalist_count=finals.players,
        last_players=finals.players if last is None else last,
    )


def _rules_applied(first: EventPart, finals: Finals | None, grade: Grade) -> list[str]:
    """The rules that took something away, as sentences."""
    notes = []
    share = tgp.GAME_SHARE_BY_BALLS.get(first.balls)
    if share is not None:
        balls = "one ball" if first.balls == 1 else f"{first.balls} balls"
        notes.append(BALLS.format(balls=balls, share="a third" if share == Fraction(1, 3) else "two thirds"))
    if finals is not None and not finals.is_half_gone:
        notes.append(QUALIFYING_LOST)
    elif finals is not None and not finals.can_exceed_limit:
        notes.append(FINALS_TOO_WIDE)
    if grade.is_capped:
        notes.append(LIMIT_REACHED.format(limit=grade.percent_max))
    return notes


def _percent_of_next_round(first: EventPart, finals: Finals | None, grade: Grade) -> int | None:
    more = first.meaningful_games.games_of_next_round
    if more is None or grade.percent >= grade.percent_max:
        return None
    stage = first.stage
    longer = Stage(games=stage.games + more, balls=stage.balls, hours=stage.hours)
    percent = tgp.grade_event(longer, finals).percent
    return percent if percent > grade.percent else None


class FieldValue(Struct, frozen=True, kw_only=True):
    """The value of a field at 100 %, rounded to halves while somebody hidden is entered."""

    base: float
    rating: float
    ranking: float
    is_rounded: bool

    @property
    def total(self) -> float:
        """The value at 100 %."""
        return self.show(self.base + self.rating + self.ranking)

    def show(self, number: float) -> float:
        """Return a number that follows from the value, as it may be shown."""
        return round_to_half(number) if self.is_rounded else number


def value_of_field(estimate: Estimate, *, hides_somebody: bool, is_womens: bool = False) -> FieldValue:
    """Return the value, rounded where somebody hidden adds to it: two sums would tell their part.

    A women's tournament has the women's base and ranking. Source: ratings, B.1.
    """
    base = estimate.womens_base if is_womens else estimate.base
    rating, ranking = estimate.rating, estimate.womens_ranking if is_womens else estimate.ranking
    if hides_somebody:
        rating, ranking = round_to_half(rating), round_to_half(ranking)
    return FieldValue(base=base, rating=rating, ranking=ranking, is_rounded=hides_somebody)


def round_to_half(number: float) -> float:
    """Return the nearest multiple of 0.5; exact quarters go up."""
    return floor(number * HALVES + 0.5) / HALVES


def worth_sentence(value: float, value_of_next_round: float | None) -> str:
    """Return a sentence with the points of the winner, now and with one more round."""
    sentence = f"Worth {value:.1f} points to the winner."
    if value_of_next_round is None or f"{value_of_next_round:.1f}" == f"{value:.1f}":
        return sentence
    return f"{sentence} One more round would make it {value_of_next_round:.1f}."


def shown_games(grade: Grade) -> float:
    """Return the meaningful games of the event with at most two decimals."""
    return float(shown_number(grade.games))
