"""Rules that the strike formats share. Source: formats, sections 14.1 and 14.2."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from msgspec import Struct

from silverball.rules.families.drawn_rounds import DrawnRoundRules
from silverball.rules.mechanics.knockout_results import strike_scorer
from silverball.rules.mechanics.results import ScoreGame
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.ranking import knockout
from silverball.rules.ranking.knockout import KnockoutRules
from silverball.rules.ranking.standing import Standing


class StrikeFormatRules(Struct, frozen=True):
    """The rules of one strike format; `knockout_rules` reads them from its settings."""

    knockout_rules: Callable[[Tournament], KnockoutRules]

    def rank(self, tournament: Tournament) -> list[Standing]:
        """The standings by strikes. Source: formats, sections 14.1 and 14.2."""
        return knockout.rank(tournament, self.knockout_rules(tournament))

    def require_rankable(self, tournament: Tournament, games: Sequence[Game]) -> None:
        """Refuse games whose points are no strikes. Raises Invalid, for impossible settings too."""
        knockout.require_countable(games, self.knockout_rules(tournament))

    def is_over(self, tournament: Tournament) -> bool:
        """Whether at most one player is left."""
        return knockout.is_over(tournament, self.knockout_rules(tournament))

    def playing_ids(self, tournament: Tournament) -> tuple[int, ...]:
        """Ids of the players of the next round."""
        return knockout.next_round_ids(tournament, self.knockout_rules(tournament))

    def pairing_scores(self, tournament: Tournament) -> dict[int, Decimal]:
        """Player id -> strikes with the sign reversed."""
        return knockout.swiss_scores(tournament, self.knockout_rules(tournament))

    def scorer(self, tournament: Tournament) -> ScoreGame:
        """The scorer of the format's games."""
        return strike_scorer(self.knockout_rules(tournament).strike_settings)

    def drawn_rounds(self, group_size: int) -> DrawnRoundRules:
        """The drawn rounds of the format, in groups of this size."""
        return DrawnRoundRules(
            group_size=group_size,
            playing_ids=self.playing_ids,
            pairing_scores=self.pairing_scores,
            rank=self.rank,
            is_over=self.is_over,
            scorer=self.scorer,
            keeps_threes_low=True,
        )
