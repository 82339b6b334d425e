"""Changes of a tournament: facts in the past tense, one frozen dataclass each.

    Change
    |-- Added     a thing exists now             RoundOpened, GameOpened, EntrantAdded, ...
    |-- Altered   a thing is different now       GameCompleted, RoundCompleted, ArenaChanged, ...
    `-- Removed   a thing is gone                RoundDeleted, GameDeleted, QueueLeft, ...

A change carries whole things, before and after, so that its opposite follows from the change alone:
undo states the opposites, last one first. A rule gives new things negative ids (`-1`, `-2`, ...), and
`enact` replaces them with real ones before it stores anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from silverball.rules.model.purchases import Purchase
from silverball.rules.model.scorekeepers import Scorekeeper
from silverball.rules.model.sign_ups import SignUpEntry
from silverball.rules.model.tournament import (
    Bank,
    Card,
    Entrant,
    Game,
    LineupArena,
    QueueSpot,
    Round,
    SinglePlayerGame,
    Suggestion,
    Tournament,
)

T = TypeVar("T")


class Change:
    """A fact a rule states. `part` is the field of Tournament that holds things of this kind."""

    part: ClassVar[str] = ""

    @property
    def opposite(self) -> "Change":
        """The change that undoes this one."""
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True, kw_only=True)
class TournamentImported(Change):
    """A whole tournament was imported from a file; undo and verification begin after it."""

    tournament_id: int
    # Part of the tournament -> the stored fields of each thing in it.
    parts: Mapping[str, Sequence[Mapping[str, Any]]]
    # Where it came from, and a digest by which the same file is known again.
    origin: Mapping[str, Any]

    def journal_value(self) -> Mapping[str, Any]:
        return self.origin


@dataclass(frozen=True)
class Added(Change, Generic[T]):
    """A thing exists now."""

    subject: T
    undone_by: ClassVar["type[Removed[Any]]"]

    @property
    def opposite(self) -> Change:
        return self.undone_by(self.subject)


@dataclass(frozen=True)
class Removed(Change, Generic[T]):
    """A thing is gone."""

    subject: T
    undone_by: ClassVar["type[Added[Any]]"]

    @property
    def opposite(self) -> Change:
        return self.undone_by(self.subject)


@dataclass(frozen=True)
class Altered(Change, Generic[T]):
    """A thing is different now."""

    before: T
    after: T
    undone_by: ClassVar["type[Altered[Any]]"]

    @property
    def opposite(self) -> Change:
        return self.undone_by(self.after, self.before)


# The tournament itself. `before` and `after` hold only the fields that differ.
@dataclass(frozen=True)
class TournamentAltered(Change):
    """Fields of the tournament are different now: name of the field in Tournament -> value."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    part: ClassVar[str] = "tournament"
    undone_by: ClassVar["type[TournamentAltered]"]

    @property
    def opposite(self) -> Change:
        return self.undone_by(self.after, self.before)


class TournamentStarted(TournamentAltered):
    """The night begins; seeds are frozen."""


class TournamentUnstarted(TournamentAltered):
    """A start was undone."""


class TournamentCompleted(TournamentAltered):
    """The results are final."""


class TournamentReopened(TournamentAltered):
    """The results may change again."""


class TournamentEdited(TournamentAltered):
    """Settings or a text changed."""


class ClockChanged(TournamentAltered):
    """The clock was started, paused or set."""


class RoundTimerChanged(TournamentAltered):
    """The round timer was set, moved or switched off."""


class ExtraTimeGiven(TournamentAltered):
    """A game was given more time than its round."""


class PlayersCalled(TournamentAltered):
    """The players of a game were called to their machine."""


class PrizesChanged(TournamentAltered):
    """The prize money or how it is shared was set."""


class PrizePaid(TournamentAltered):
    """A prize was ticked as paid out, or the tick was taken back."""


class SignUpTermsSet(TournamentAltered):
    """The fees of the sign-up list were set, or the code of the door was replaced."""


class DrawRemembered(TournamentAltered):
    """The stored facts of a draw changed: a schedule, a redraw."""


class EntrantAdded(Added[Entrant]):
    part = "entrants"


class EntrantRemoved(Removed[Entrant]):
    part = "entrants"


class EntrantChanged(Altered[Entrant]):
    part = "entrants"


class ArenaAdded(Added[LineupArena]):
    part = "lineup"


class ArenaRemoved(Removed[LineupArena]):
    part = "lineup"


class ArenaChanged(Altered[LineupArena]):
    part = "lineup"


class BankAdded(Added[Bank]):
    part = "banks"


class BankRemoved(Removed[Bank]):
    part = "banks"


class RoundOpened(Added[Round]):
    part = "rounds"


class RoundDeleted(Removed[Round]):
    part = "rounds"


class RoundCompleted(Altered[Round]):
    part = "rounds"


class RoundReopened(Altered[Round]):
    part = "rounds"


class RoundChanged(Altered[Round]):
    part = "rounds"


class GameOpened(Added[Game]):
    part = "games"


class GameDeleted(Removed[Game]):
    part = "games"


class GameCompleted(Altered[Game]):
    part = "games"


class GameCleared(Altered[Game]):
    part = "games"


class GameCorrected(Altered[Game]):
    part = "games"


class MatchCounted(Altered[Game]):
    """Single games of a match were counted without deciding it, or corrected without another result."""

    part = "games"


class GameChanged(Altered[Game]):
    """Its arena, playing order or players are different now, or a suggestion contradicts its result."""

    part = "games"


class SuggestionMade(Added[Suggestion]):
    part = "suggestions"


class SuggestionDecided(Removed[Suggestion]):
    part = "suggestions"


class SinglePlayerGameOpened(Added[SinglePlayerGame]):
    part = "single_player_games"


class SinglePlayerGameDeleted(Removed[SinglePlayerGame]):
    part = "single_player_games"


class SinglePlayerGameChanged(Altered[SinglePlayerGame]):
    """It was started, recorded, corrected, voided or counted again."""

    part = "single_player_games"


class CardOpened(Added[Card]):
    part = "cards"


class CardDeleted(Removed[Card]):
    part = "cards"


class CardChanged(Altered[Card]):
    part = "cards"


class QueueJoined(Added[QueueSpot]):
    part = "queue"


class QueueLeft(Removed[QueueSpot]):
    part = "queue"


class QueueMoved(Altered[QueueSpot]):
    """A new place in the queue, or the turn has come."""

    part = "queue"


class ScorekeeperAdded(Added[Scorekeeper]):
    part = "scorekeepers"


class ScorekeeperRemoved(Removed[Scorekeeper]):
    part = "scorekeepers"


class DirectorAdded(Added[Scorekeeper]):
    part = "scorekeepers"


class DirectorRemoved(Removed[Scorekeeper]):
    part = "scorekeepers"


class SignUpAdded(Added[SignUpEntry]):
    part = "sign_ups"


class SignUpRemoved(Removed[SignUpEntry]):
    part = "sign_ups"


class SignUpChanged(Altered[SignUpEntry]):
    part = "sign_ups"


class EntriesBought(Added[Purchase]):
    part = "purchases"


class EntriesWithdrawn(Removed[Purchase]):
    part = "purchases"


def _pair_opposites() -> None:
    for change, opposite in (
        (EntrantAdded, EntrantRemoved),
        (ArenaAdded, ArenaRemoved),
        (BankAdded, BankRemoved),
        (RoundOpened, RoundDeleted),
        (GameOpened, GameDeleted),
        (SuggestionMade, SuggestionDecided),
        (SinglePlayerGameOpened, SinglePlayerGameDeleted),
        (CardOpened, CardDeleted),
        (QueueJoined, QueueLeft),
        (ScorekeeperAdded, ScorekeeperRemoved),
        (DirectorAdded, DirectorRemoved),
        (EntriesBought, EntriesWithdrawn),
        (SignUpAdded, SignUpRemoved),
        (RoundCompleted, RoundReopened),
        (GameCompleted, GameCleared),
        (TournamentStarted, TournamentUnstarted),
        (TournamentCompleted, TournamentReopened),
    ):
        change.undone_by, opposite.undone_by = opposite, change
    for same in (
        EntrantChanged,
        ArenaChanged,
        RoundChanged,
        GameCorrected,
        MatchCounted,
        GameChanged,
        SinglePlayerGameChanged,
        CardChanged,
        QueueMoved,
        TournamentEdited,
        ClockChanged,
        RoundTimerChanged,
        PlayersCalled,
        ExtraTimeGiven,
        PrizesChanged,
        PrizePaid,
        SignUpChanged,
        SignUpTermsSet,
        DrawRemembered,
    ):
        same.undone_by = same


_pair_opposites()


def opposite_changes(changes: Sequence[Change]) -> list[Change]:
    """The changes that undo these: the opposites, last one first."""
    return [change.opposite for change in reversed(changes)]


def tournament_changes(kind: type[TournamentAltered], tournament: Tournament, **after: Any) -> list[Change]:
    """The change of these fields of the tournament; empty when none of them differs."""
    differing = {name: value for name, value in after.items() if getattr(tournament, name) != value}
    before = {name: getattr(tournament, name) for name in differing}
    return [kind(before, differing)] if differing else []


def changes_between(kind: type[Altered[T]], before: T, after: T) -> list[Change]:
    """The change of a thing; empty when nothing differs."""
    return [kind(before, after)] if before != after else []
