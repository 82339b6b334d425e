"""Whether an event was rated before under another name. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from silverball.store import names

# From this share on, the games of one event are taken for those of another.
SHARE_MAX = 0.5


@dataclass(frozen=True)
class ComparedPlayer:
    """Somebody in a game, by everything that is known of him."""

    name: str
    user_id: int | None
    ifpa_id: int | None

    def aliases(self) -> list[tuple[str, int | str]]:
        """What he can be known by, surest first."""
        known: list[tuple[str, int | str | None]] = [
            ("ifpa", self.ifpa_id),
            ("user", self.user_id),
            ("name", names.fold(self.name)),
        ]
        return [(kind, value) for kind, value in known if value is not None]


@dataclass(frozen=True)
class ComparedEvent:
    """An event that counts: what to call it, and who met in each of its games."""

    title: str
    games: Sequence[Sequence[ComparedPlayer]]


def repeat_fault(games: Sequence[Sequence[ComparedPlayer]], rated: Iterable[ComparedEvent]) -> str | None:
    """What is wrong with these games of one day, when half of them are those of an event that counts."""
    own = {alias: player for one in games for player in one for alias in player.aliases()}
    met = Counter(frozenset(one) for one in games)
    for event in rated:
        again = Counter(_as_known_here(one, own) for one in event.games)
        # Who meets three times here and twice there was met twice before.
        count = (met & again).total()
        if count >= SHARE_MAX * len(games):
            return f"{count} of its {len(games)} games are those of {event.title} on the same day."
    return None


def _as_known_here(
    players: Sequence[ComparedPlayer], own: dict[tuple[str, int | str], ComparedPlayer]
) -> frozenset[ComparedPlayer]:
    """The same people as they are known in the other event; strangers stay who they are."""
    found = (next((own[one] for one in player.aliases() if one in own), player) for player in players)
    return frozenset(found)
