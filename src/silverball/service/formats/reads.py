"""The format, status and settings of a tournament, for slices that answer by format."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
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


class TournamentFacts(Struct, frozen=True):
    """The fields of a tournament that decide how its results are read."""

    tournament_id: int
    type: str
    status: str
    organizer_id: int
    start_local: str
    # Wire name -> value, for the settings of the format.
    settings: dict[str, Any]

    @property
    def format(self) -> Format | None:
        """The format; None for a type that this version does not know."""
        return FORMATS.get(self.type)

    @property
    def is_best_game(self) -> bool:
        return is_best_game(self.type)

    @property
    def win_loss_rule(self) -> WinLossRule:
        """The rule by which games of this tournament are won and lost."""
        return WinLossRule.POSITIONS if self.format is None else self.format.win_loss_rule(self.settings)


def is_best_game(type_: str) -> bool:
    """Whether players of this type of tournament choose an arena and play it for a score."""
    return type_ in FORMATS and FORMATS[type_].play is PlayKind.SCORES


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
    return _require_format(db, tournament_id, lambda format_: format_.has_clock, NotAFrenzy)


def require_match_requests(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if its matches are drawn on request. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda format_: format_.has_match_requests, NotAMaxMatchPlay)


def require_race(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if it is a race. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda format_: format_.play is PlayKind.RACE, NotAnAmazingRace)


def require_best_game(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if scores are ranked on each arena. Raises NotFound and WrongFormat."""
    return _require_format(db, tournament_id, lambda format_: format_.play is PlayKind.SCORES, NotABestGame)


def _require_format(
    db: Connection, tournament_id: int, is_suitable: Callable[[Format], bool], refusal: type[WrongFormat]
) -> TournamentFacts:
    facts = tournament_facts(db, tournament_id)
    if facts.format is None or not is_suitable(facts.format):
        raise refusal
    return facts


def require_match_play(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, if its games have winners and losers. Raises NotFound and WrongFormat."""
    facts = tournament_facts(db, tournament_id)
    if facts.win_loss_rule is WinLossRule.NONE:
        raise NotAMatchPlay
    return facts
