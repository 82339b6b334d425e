"""Changes of a tournament: facts in the past tense, one frozen Struct each.

    Change
    |-- Added     a thing exists now             RoundOpened, GameOpened, EntrantAdded, ...
    |-- Altered   a thing is different now       GameCompleted, RoundCompleted, ArenaChanged, ...
    `-- Removed   a thing is gone                RoundDeleted, GameDeleted, QueueLeft, ...

A change carries whole things, before and after, so that its opposite follows from the change alone:
undo states the opposites, last one first. A rule gives new things negative ids (`-1`, `-2`, ...), and
`enact` replaces them with real ones before it stores anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct, structs

from silverball.rules.model.tournament import (
    Bank,
    Card,
    Entrant,
    Game,
    LineupArena,
    Purchase,
    QueueSpot,
    Round,
    Scorekeeper,
    SignUpEntry,
    SinglePlayerGame,
    Suggestion,
    Tournament,
)

T = TypeVar("T")


class Change(Struct, frozen=True):
    """A fact a rule states. `part` is the field of Tournament that holds things of this kind."""

    part: ClassVar[str] = ""
    # The kind of the opposite; none for what undo does not pass.
    undone_by: ClassVar[Any] = None

    @property
    def opposite(self) -> "Change":
        """The change that undoes this one: what was after is before."""
        if self.undone_by is None:
            raise NotImplementedError(type(self).__name__)
        undoing: Change = self.undone_by(*reversed(structs.astuple(self)))
        return undoing


class TournamentImported(Change, frozen=True, kw_only=True):
    """A whole tournament was imported from a file; undo and verification begin after it."""

    tournament_id: int
    # Part of the tournament -> the stored fields of each thing in it.
    parts: Mapping[str, Sequence[Mapping[str, Any]]]
    # Where it came from, and a digest by which the same file is known again.
    origin: Mapping[str, Any]

    def journal_value(self) -> Mapping[str, Any]:
        return self.origin


class Added(Change, Generic[T], frozen=True):
    """A thing exists now."""

    subject: T


class Removed(Change, Generic[T], frozen=True):
    """A thing is gone."""

    subject: T


class Altered(Change, Generic[T], frozen=True):
    """A thing is different now."""

    before: T
    after: T


# The tournament itself. `before` and `after` hold only the fields that differ.
class TournamentAltered(Change, frozen=True):
    """Fields of the tournament are different now: name of the field in Tournament -> value."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    part: ClassVar[str] = "tournament"


class TournamentStarted(TournamentAltered, frozen=True):
    """The night begins; seeds are frozen."""


class TournamentUnstarted(TournamentAltered, frozen=True):
    """A start was undone."""


class TournamentCompleted(TournamentAltered, frozen=True):
    """The results are final."""


class TournamentReopened(TournamentAltered, frozen=True):
    """The results may change again."""


class TournamentEdited(TournamentAltered, frozen=True):
    """Settings or a text changed."""


class ClockChanged(TournamentAltered, frozen=True):
    """The clock was started, paused or set."""


class RoundTimerChanged(TournamentAltered, frozen=True):
    """The round timer was set, moved or switched off."""


class ExtraTimeGiven(TournamentAltered, frozen=True):
    """A game was given more time than its round."""


class PairsApartSet(TournamentAltered, frozen=True):
    """The pairs whom draws keep apart were set."""


class PlayersCalled(TournamentAltered, frozen=True):
    """The players of a game were called to their machine."""


class PrizesChanged(TournamentAltered, frozen=True):
    """The prize money or how it is shared was set."""


class PrizePaid(TournamentAltered, frozen=True):
    """A prize was ticked as paid out, or the tick was taken back."""


class SignUpTermsSet(TournamentAltered, frozen=True):
    """The fees of the sign-up list were set, or the code of the door was replaced."""


class FinalsPlanned(TournamentAltered, frozen=True):
    """The finals that a night leads to were set, or a final took over its source."""


class ResultsSent(TournamentAltered, frozen=True):
    """The results were noted as sent to the federation, or the note was taken back."""


class DrawRemembered(TournamentAltered, frozen=True):
    """The stored facts of a draw changed: a schedule, a redraw."""


class EntrantAdded(Added[Entrant], frozen=True):
    part = "entrants"


class EntrantRemoved(Removed[Entrant], frozen=True):
    part = "entrants"


class EntrantChanged(Altered[Entrant], frozen=True):
    part = "entrants"


class ArenaAdded(Added[LineupArena], frozen=True):
    part = "lineup"


class ArenaRemoved(Removed[LineupArena], frozen=True):
    part = "lineup"


class ArenaChanged(Altered[LineupArena], frozen=True):
    part = "lineup"


class BankAdded(Added[Bank], frozen=True):
    part = "banks"


class BankRemoved(Removed[Bank], frozen=True):
    part = "banks"


class RoundOpened(Added[Round], frozen=True):
    part = "rounds"


class RoundDeleted(Removed[Round], frozen=True):
    part = "rounds"


class RoundCompleted(Altered[Round], frozen=True):
    part = "rounds"


class RoundReopened(Altered[Round], frozen=True):
    part = "rounds"


class RoundChanged(Altered[Round], frozen=True):
    part = "rounds"


class GameOpened(Added[Game], frozen=True):
    part = "games"


class GameDeleted(Removed[Game], frozen=True):
    part = "games"


class GameCompleted(Altered[Game], frozen=True):
    part = "games"


class GameCleared(Altered[Game], frozen=True):
    part = "games"


class GameCorrected(Altered[Game], frozen=True):
    part = "games"


class MatchCounted(Altered[Game], frozen=True):
    """Single games of a match were counted without deciding it, or corrected without another result."""

    part = "games"


class GameChanged(Altered[Game], frozen=True):
    """Its arena, playing order or players are different now, or a suggestion contradicts its result."""

    part = "games"


class SuggestionMade(Added[Suggestion], frozen=True):
    part = "suggestions"


class SuggestionDecided(Removed[Suggestion], frozen=True):
    part = "suggestions"


class SinglePlayerGameOpened(Added[SinglePlayerGame], frozen=True):
    part = "single_player_games"


class SinglePlayerGameDeleted(Removed[SinglePlayerGame], frozen=True):
    part = "single_player_games"


class SinglePlayerGameChanged(Altered[SinglePlayerGame], frozen=True):
    """It was started, recorded, corrected, voided or counted again."""

    part = "single_player_games"


class CardOpened(Added[Card], frozen=True):
    part = "cards"


class CardDeleted(Removed[Card], frozen=True):
    part = "cards"


class CardChanged(Altered[Card], frozen=True):
    part = "cards"


class QueueJoined(Added[QueueSpot], frozen=True):
    part = "queue"


class QueueLeft(Removed[QueueSpot], frozen=True):
    part = "queue"


class QueueMoved(Altered[QueueSpot], frozen=True):
    """A new place in the queue, or the turn has come."""

    part = "queue"


class ScorekeeperAdded(Added[Scorekeeper], frozen=True):
    part = "scorekeepers"


class ScorekeeperRemoved(Removed[Scorekeeper], frozen=True):
    part = "scorekeepers"


class DirectorAdded(Added[Scorekeeper], frozen=True):
    part = "scorekeepers"


class DirectorRemoved(Removed[Scorekeeper], frozen=True):
    part = "scorekeepers"


class SignUpAdded(Added[SignUpEntry], frozen=True):
    part = "sign_ups"


class SignUpRemoved(Removed[SignUpEntry], frozen=True):
    part = "sign_ups"


class SignUpChanged(Altered[SignUpEntry], frozen=True):
    part = "sign_ups"


class EntriesBought(Added[Purchase], frozen=True):
    part = "purchases"


class EntriesWithdrawn(Removed[Purchase], frozen=True):
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
        PairsApartSet,
        PrizesChanged,
        PrizePaid,
        SignUpChanged,
        SignUpTermsSet,
        FinalsPlanned,
        ResultsSent,
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
