"""Detect events that were submitted before under another name. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from silverball.store import names

# From this share of equal games on, two events count as one.
SHARE_MAX = 0.5


class ComparedPlayer(Struct, frozen=True):
    """A player in a game, with everything that identifies them."""

    name: str
    user_id: int | None
    ifpa_id: int | None

    def aliases(self) -> list[tuple[str, int | str]]:
        """The keys that identify the player, most reliable first."""
        known: list[tuple[str, int | str | None]] = [
            ("ifpa", self.ifpa_id),
            ("user", self.user_id),
            ("name", names.fold(self.name)),
        ]
        return [(kind, value) for kind, value in known if value is not None]


class ComparedEvent(Struct, frozen=True):
    """An event that counts: a title for refusals, and the players of each game."""

    title: str
    games: Sequence[Sequence[ComparedPlayer]]


def repeat_fault(games: Sequence[Sequence[ComparedPlayer]], rated: Iterable[ComparedEvent]) -> str | None:
    """A sentence when half of these games are already those of another event on the same day."""
    own = {alias: player for players in games for player in players for alias in player.aliases()}
    groups = Counter(frozenset(players) for players in games)
    for event in rated:
        repeated_groups = Counter(_as_known_here(players, own) for players in event.games)
        # Players who meet three times here and twice there have two games in common.
        count = (groups & repeated_groups).total()
        if count >= SHARE_MAX * len(games):
            return f"{count} of its {len(games)} games are those of {event.title} on the same day."
    return None


def _as_known_here(
    players: Sequence[ComparedPlayer], own: dict[tuple[str, int | str], ComparedPlayer]
) -> frozenset[ComparedPlayer]:
    """The same people as the submitted event names them; unmatched players stay unchanged."""
    return frozenset(
        next((own[alias] for alias in player.aliases() if alias in own), player) for player in players
    )
