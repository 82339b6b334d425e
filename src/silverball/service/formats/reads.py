"""What the slices below a tournament need to know of it before they answer."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from silverball.kit.errors import NotFound, WrongFormat
from silverball.rules.ranking import regimes
from silverball.rules.ranking.regimes import WinLossRule
from silverball.store.tables import tournament

BEST_GAME_TYPES = frozenset({"best_game", "card_best_game"})


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
        return regimes.win_loss_rule(
            self.type,
            fair=bool(self.settings.get("knockoutFair")),
            progressive=bool(self.settings.get("knockoutProgressive")),
        )


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


def require_type(db: Connection, tournament_id: int, type_: str, title: str) -> TournamentFacts:
    """The tournament, when it is of this wire type. Raises NotFound and WrongFormat."""
    found = tournament_facts(db, tournament_id)
    if found.type != type_:
        raise WrongFormat(f"Tournament is not {title}")
    return found


def require_best_game(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, when it is one of the best games. Raises NotFound and WrongFormat."""
    found = tournament_facts(db, tournament_id)
    if not found.is_best_game:
        raise WrongFormat("Tournament is not Best Game")
    return found


def require_match_play(db: Connection, tournament_id: int) -> TournamentFacts:
    """The tournament, when its games have winners and losers. Raises NotFound and WrongFormat."""
    found = tournament_facts(db, tournament_id)
    if found.regime is WinLossRule.NONE:
        raise WrongFormat("Tournament is not Match Play")
    return found
