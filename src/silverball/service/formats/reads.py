"""What the slices below a tournament need to know of it before they answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from silverball.kit.errors import NotFound, WrongFormat
from silverball.rules.format import Format, PlayKind
from silverball.rules.model.refusals import (
    NotABestGame,
    NotAFrenzy,
    NotAMatchPlay,
    NotAMaxMatchPlay,
    NotAnAmazingRace,
)
from silverball.rules.ranking.regimes import WinLossRule
from silverball.rules.registry import FORMATS
from silverball.store.tables import tournament

BEST_GAME_TYPES = frozenset(form.type for form in FORMATS.values() if form.play is PlayKind.SCORES)


@dataclass(frozen=True)
class TournamentFacts:
    """The part of a tournament that decides how its results are read."""

    tournament_id: int
    type: str
    status: str
    organizer_id: int
    start_local: str
    # Wire name -> value, only the keys that the format has.
    settings: dict[str, Any]

    @property
    def is_best_game(self) -> bool:
        return self.type in BEST_GAME_TYPES

    @property
    def regime(self) -> WinLossRule:
        """How wins and losses follow from a game of this tournament."""
        form = FORMATS.get(self.type)
        # An import may bring a format that this program does not know.
        return WinLossRule.POSITIONS if form is None else form.win_loss_rule(self.settings)


def tournament_facts(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament. Raises NotFound."""
    columns = (
        tournament.c.type,
        tournament.c.status,
        tournament.c.organizer_id,
        tournament.c.start_local,
        tournament.c.settings,
    )
    row = db.execute(select(*columns).where(tournament.c.tournament_id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    return TournamentFacts(tournament_id, *row)


def require_clock(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if a clock decides how long it goes on. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda form: form.has_clock, NotAFrenzy)


def require_match_requests(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if its matches are drawn on request. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda form: form.has_match_requests, NotAMaxMatchPlay)


def require_race(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if it is a race. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda form: form.play is PlayKind.RACE, NotAnAmazingRace)


def require_best_game(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if scores are ranked on each arena. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda form: form.play is PlayKind.SCORES, NotABestGame)


def _require_format(
    db: Connection, tournament_id: int, is_suitable: Callable[[Format], bool], refusal: type[WrongFormat]
) -> TournamentFacts:
    facts = tournament_facts(db, tournament_id)
    form = FORMATS.get(facts.type)
    if form is None or not is_suitable(form):
        raise refusal
    return facts


def require_match_play(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if its games have winners and losers. Raises NotFound and WrongFormat."""
    facts = tournament_facts(db, tournament_id)
    if facts.regime is WinLossRule.NONE:
        raise NotAMatchPlay
    return facts
