"""The parts of a tournament that a change touches: one line for each type of change.

A house test compares `ANNOUNCE` with `rules/model/changes.py`, so that no type is missing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from silverball.rules.format import PlayKind
from silverball.rules.model import changes as change_classes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import bestgame
from silverball.rules.registry import FORMATS
from silverball.store.writers import STORED_PARTS


class TouchedPart(Struct, frozen=True):
    """A part of the tournament, and the id of the row in it that a change touched."""

    part: str
    key: int = 0
    # Of a queue only: the round, when each round has its queue; `key` is the arena or 0.
    round_id: int = 0


TOURNAMENT = TouchedPart("tournament")
FindTouchedParts = Callable[[Any, Tournament], Iterable[TouchedPart]]


def touched_parts(
    before: Tournament, after: Tournament, changes: Sequence[Change]
) -> dict[TouchedPart, None]:
    """The touched parts in order: the keys of a dict, which keeps the order and holds each part once."""
    touched: dict[TouchedPart, None] = {}
    for change in changes:
        touched.update(dict.fromkeys(ANNOUNCE[type(change)](change, after)))
    if touched and FORMATS[before.type].play is PlayKind.SCORES:
        game_ids = bestgame.games_with_changed_marks(before, after)
        touched.update(dict.fromkeys(TouchedPart("single_player_games", game_id) for game_id in game_ids))
        if after.cards:
            card_ids = bestgame.cards_with_changed_marks(before, after)
            touched.update(dict.fromkeys(TouchedPart("cards", card_id) for card_id in card_ids))
    return touched


def _tournament_only(_change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return (TOURNAMENT,)


def _tournament_and_entrants(_change: Change, after: Tournament) -> Iterable[TouchedPart]:
    # The start fixes the seeds, and its undo releases them.
    return (TOURNAMENT, *(TouchedPart("entrants", entrant.player_id) for entrant in after.entrants))


def _no_part(_change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return ()


def _sides(change: Any) -> tuple[Any, ...]:
    """The changed value before and after the change, or the added or removed one."""
    return (change.before, change.after) if isinstance(change, change_classes.Altered) else (change.subject,)


def _changed_part(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    key = STORED_PARTS[change.part].key
    return (TouchedPart(change.part, getattr(_sides(change)[-1], key)),)


def _game_of_suggestion(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return (TouchedPart("games", _sides(change)[-1].game_id),)


def _single_player_game_and_cards(change: Change, after: Tournament) -> Iterable[TouchedPart]:
    # A card shows its games.
    card_ids = [game.card_id for game in _sides(change) if game.card_id is not None]
    return (*_changed_part(change, after), *(TouchedPart("cards", card_id) for card_id in card_ids))


def _queues(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return (TouchedPart("queue", spot.arena_id or 0, spot.round_id or 0) for spot in _sides(change))


def _called_games(change: Any, after: Tournament) -> Iterable[TouchedPart]:
    before_calls, after_calls = change.before["state"].calls, change.after["state"].calls
    return (
        TouchedPart("games", game.game_id)
        for game in after.open_games
        if before_calls.get(game.game_id) != after_calls.get(game.game_id)
    )


def _extended_games(change: Any, after: Tournament) -> Iterable[TouchedPart]:
    before_ends, after_ends = (side["state"].extended_ends for side in (change.before, change.after))
    return (
        TouchedPart("games", game.game_id)
        for game in after.open_games
        if before_ends.get(game.game_id) != after_ends.get(game.game_id)
    )


def _published_prizes(change: Any, _after: Tournament) -> Iterable[TouchedPart]:
    # What nobody but the organizer sees is announced to nobody.
    plans = (change.before["prizes"], change.after["prizes"])
    return (TOURNAMENT,) if any(plan is not None and plan.is_published for plan in plans) else ()


def _buying_entrant(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return (TouchedPart("entrants", _sides(change)[-1].player_id),)


# The change -> the parts that it touches. An import begins a new epoch instead.
ANNOUNCE: Mapping[type[Change], FindTouchedParts] = {
    change_classes.TournamentStarted: _tournament_and_entrants,
    change_classes.TournamentUnstarted: _tournament_and_entrants,
    change_classes.TournamentCompleted: _tournament_only,
    change_classes.TournamentReopened: _tournament_only,
    change_classes.TournamentEdited: _tournament_only,
    change_classes.ClockChanged: _tournament_only,
    change_classes.RoundTimerChanged: _tournament_only,
    change_classes.PlayersCalled: _called_games,
    change_classes.ExtraTimeGiven: _extended_games,
    change_classes.PrizesChanged: _published_prizes,
    change_classes.PrizePaid: _no_part,
    change_classes.SignUpTermsSet: _no_part,
    change_classes.DrawRemembered: _no_part,
    change_classes.EntrantAdded: _changed_part,
    change_classes.EntrantRemoved: _changed_part,
    change_classes.EntrantChanged: _changed_part,
    change_classes.ArenaAdded: _changed_part,
    change_classes.ArenaRemoved: _changed_part,
    change_classes.ArenaChanged: _changed_part,
    change_classes.BankAdded: _tournament_only,
    change_classes.BankRemoved: _tournament_only,
    change_classes.RoundOpened: _changed_part,
    change_classes.RoundDeleted: _changed_part,
    change_classes.RoundCompleted: _changed_part,
    change_classes.RoundReopened: _changed_part,
    change_classes.RoundChanged: _changed_part,
    change_classes.GameOpened: _changed_part,
    change_classes.GameDeleted: _changed_part,
    change_classes.GameCompleted: _changed_part,
    change_classes.GameCleared: _changed_part,
    change_classes.GameCorrected: _changed_part,
    change_classes.MatchCounted: _changed_part,
    change_classes.GameChanged: _changed_part,
    change_classes.SuggestionMade: _game_of_suggestion,
    change_classes.SuggestionDecided: _game_of_suggestion,
    change_classes.SinglePlayerGameOpened: _single_player_game_and_cards,
    change_classes.SinglePlayerGameDeleted: _single_player_game_and_cards,
    change_classes.SinglePlayerGameChanged: _single_player_game_and_cards,
    change_classes.CardOpened: _changed_part,
    change_classes.CardDeleted: _changed_part,
    change_classes.CardChanged: _changed_part,
    change_classes.QueueJoined: _queues,
    change_classes.QueueLeft: _queues,
    change_classes.QueueMoved: _queues,
    change_classes.ScorekeeperAdded: _tournament_only,
    change_classes.ScorekeeperRemoved: _tournament_only,
    change_classes.DirectorAdded: _tournament_only,
    change_classes.DirectorRemoved: _tournament_only,
    # The list is seen by who runs the tournament only; who moves up is announced as a new entrant.
    change_classes.SignUpAdded: _no_part,
    change_classes.SignUpRemoved: _no_part,
    change_classes.SignUpChanged: _no_part,
    change_classes.EntriesBought: _buying_entrant,
    change_classes.EntriesWithdrawn: _buying_entrant,
}
