"""Feed events: a message for each change that a tournament shows.

A message is a name and a payload, announced in the transaction of the change. Whether a touched part
was added, changed or deleted follows from the tournament before and after, so an undo, which states
opposite changes, needs no table of its own. The payloads come from the same reads as the interface,
for a caller without an account.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from silverball.rules.format import PlayKind
from silverball.rules.model import changes as change_classes
from silverball.rules.model.changes import Change
from silverball.rules.model.part_index import find_by_id
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import bestgame
from silverball.rules.registry import FORMATS
from silverball.service.games.reads import games
from silverball.service.rounds import reads as rounds
from silverball.service.single_player import reads as single_player_reads
from silverball.service.tournaments.reads import parts
from silverball.store.database.engine import Db
from silverball.store.database.transaction import Transaction
from silverball.store.people import hidings, unfinished_changes
from silverball.store.people.unfinished_changes import UnfinishedChange
from silverball.store.revisions import revisions
from silverball.store.tournament import announcements
from silverball.store.tournament.loaded import LoadedTournament
from silverball.store.tournament.writers import STORED_PARTS
from silverball_wire import events
from silverball_wire.base import UNSET

# The parts of a tournament that a change touches: one line for each type of change.
#
# A house test compares `ANNOUNCE` with `rules/model/changes.py`, so that no type is missing.


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
    change_classes.PairsApartSet: _no_part,
    change_classes.PrizesChanged: _published_prizes,
    change_classes.PrizePaid: _no_part,
    change_classes.SignUpTermsSet: _no_part,
    change_classes.FinalsPlanned: _tournament_only,
    change_classes.ResultsSent: _no_part,
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


# Entrants and lineup have events of their own; an occasion may be larger than a message.
ANNOUNCED_PARTS = parts.PartsQuery(
    include_banks=True,
    include_scorekeepers=True,
    include_location=True,
    include_entry_configuration=True,
    include_rsvp_configuration=True,
    include_linked_tournaments=True,
    include_shortcut=True,
    include_series=True,
)
# An account in no more tournaments than these changes in one transaction with all of them.
TOURNAMENTS_AT_ONCE = 100
Message = tuple[str, str]
Messages = list[Message]

# Part -> name of the event for rows that were added, changed, deleted, or are shown as a whole.
ADDED = {"entrants": "PlayersAdded", "lineup": "ArenasAdded"}
CHANGED = {"entrants": "PlayersChanged", "lineup": "ArenasChanged"}
DELETED = {
    "games": "GamesDeleted",
    "single_player_games": "SinglePlayerGamesDeleted",
    "cards": "CardsDeleted",
    "rounds": "RoundsDeleted",
}
CREATED_OR_UPDATED = {
    "rounds": "RoundCreatedOrUpdated",
    "games": "GameCreatedOrUpdated",
    "single_player_games": "SinglePlayerGameCreatedOrUpdated",
    "cards": "CardCreatedOrUpdated",
}
# Event of ids only -> the field that holds them.
IDS_FIELD = {
    "PlayersAdded": "player_ids",
    "PlayersChanged": "player_ids",
    "ArenasAdded": "arena_ids",
    "ArenasChanged": "arena_ids",
    "GamesDeleted": "game_ids",
    "SinglePlayerGamesDeleted": "single_player_game_ids",
    "CardsDeleted": "card_ids",
    "RoundsDeleted": "round_ids",
}


def announce_changes(
    transaction: Transaction,
    loaded: LoadedTournament,
    after: Tournament,
    changes: Sequence[Change],
    now: datetime,
) -> int:
    """Announce these changes of a tournament, which is stored as it is after them.

    Takes the tournament as it was loaded before them. Raises its revision with the statement that takes the
    numbers of the events, and returns the new one.
    """
    db, tournament_id, before = transaction.connection, after.tournament_id, loaded.tournament
    touched = touched_parts(before, after, changes)
    ids_by_part = _touched_ids(touched)
    messages = _id_messages(before, after, ids_by_part)
    messages += _model_messages(transaction, loaded, after, touched, ids_by_part)
    messages += [_queue_message(db, after, queue) for queue in touched if queue.part == "queue"]
    shows_tournament = TOURNAMENT in touched
    raised = revisions.raise_locked(
        transaction, tournament_id, now, announced=len(messages) + shows_tournament
    )
    if shows_tournament:
        # A follower who sees the completion has seen every event that led to it.
        is_last = after.status == "completed" != before.status
        messages.insert(len(messages) if is_last else 0, _tournament_message(db, tournament_id))
    announcements.append_numbered(transaction, tournament_id, messages, raised.epoch, raised.seq)
    return raised.revision


def _id_messages(before: Tournament, after: Tournament, ids_by_part: Mapping[str, list[int]]) -> Messages:
    """The events that only carry ids: additions and changes of entrants and lineup, then deletions."""
    messages: Messages = []
    for part, name in CHANGED.items():
        ids = ids_by_part.get(part)
        if not ids:
            continue
        old_ids, current_ids = _ids_in(before, part), _ids_in(after, part)
        added = [row_id for row_id in ids if row_id not in old_ids and row_id in current_ids]
        messages += _encode_ids(after.tournament_id, ADDED[part], added)
        messages += _encode_ids(after.tournament_id, name, [row_id for row_id in ids if row_id in old_ids])
    for part, name in DELETED.items():
        ids = ids_by_part.get(part)
        if not ids:
            continue
        key, remaining = STORED_PARTS[part].key, getattr(after, part)
        gone = [row_id for row_id in ids if find_by_id(remaining, key, row_id) is None]
        if gone:
            there = getattr(before, part)
            deleted = [row_id for row_id in gone if find_by_id(there, key, row_id) is not None]
            messages += _encode_ids(after.tournament_id, name, deleted)
    return messages


def _touched_ids(touched: Collection[TouchedPart]) -> dict[str, list[int]]:
    """Part -> the ids of the rows that were touched, in order."""
    ids_by_part: dict[str, list[int]] = {}
    for each in touched:
        ids_by_part.setdefault(each.part, []).append(each.key)
    return ids_by_part


def _ids_in(tournament: Tournament, part: str) -> frozenset[int]:
    key = STORED_PARTS[part].key
    return frozenset(getattr(row, key) for row in getattr(tournament, part))


def _encode_ids(tournament_id: int, name: str, ids: Sequence[int]) -> Messages:
    if not ids:
        return []
    event = events.EVENTS[name](**{"tournament_id": tournament_id, IDS_FIELD[name]: tuple(sorted(ids))})
    return [(name, _encode(event))]


def _model_messages(
    transaction: Transaction,
    before: LoadedTournament,
    after: Tournament,
    touched: Collection[TouchedPart],
    ids_by_part: Mapping[str, list[int]],
) -> Messages:
    """The events with whole rounds, games and cards, as their routes show them, in order of the changes."""
    models: dict[TouchedPart, Any] = {}
    for part, load in LOADERS.items():
        ids = ids_by_part.get(part)
        if not ids:
            continue
        loaded = load(transaction.connection, before, after, ids)
        # An answer that shows the same thing need not read it again.
        transaction.announced_models[part] = loaded
        models.update((TouchedPart(part, row_id), model) for row_id, model in loaded.items())
    return [(CREATED_OR_UPDATED[each.part], _encode(models[each])) for each in touched if each in models]


# Part -> the function for its models by id, without deleted ones.
LOADERS: Mapping[str, Callable[[Db, LoadedTournament, Tournament, Sequence[int]], Mapping[int, Any]]] = {
    "rounds": lambda db, _before, after, ids: rounds.rounds_by_id(db, after.tournament_id, ids),
    "games": games.games_after_changes,
    "single_player_games": lambda db, _before, after, ids: single_player_reads.single_player_games_by_id(
        db, after, ids
    ),
    "cards": lambda db, _before, after, ids: single_player_reads.cards_by_id(db, after, ids),
}


def _queue_message(db: Db, after: Tournament, queue: TouchedPart) -> Message:
    arena_id, round_id = queue.key or None, queue.round_id or None
    spots = single_player_reads.spots_in_line(db, after.tournament_id, arena_id, round_id)
    event = events.QueueChanged(
        tournament_id=after.tournament_id,
        arena_id=arena_id,
        round_id=round_id,
        queues=spots if len(spots) <= events.QUEUES_MAX else UNSET,
    )
    return "QueueChanged", _encode(event)


def _tournament_message(db: Db, tournament_id: int) -> Message:
    return "TournamentUpdated", _encode(parts.find_tournament(db, tournament_id, ANNOUNCED_PARTS, None))


def _encode(event: Any) -> str:
    return msgspec.json.encode(event).decode()


# Changes outside of tournaments, in every tournament that shows them. Each raises their revisions too.


def announce_players(
    transaction: Transaction, player_ids: Collection[int], *, is_hiding: bool = False
) -> None:
    """Announce changes of players in the organizer's book.

    `is_hiding` also deletes older announcements, which name accounts that the players are no longer.
    """
    if is_hiding:
        shown_in = revisions.tournaments_of_players(transaction.connection, player_ids)
        raised = announcements.raise_and_restart(transaction, shown_in)
    else:
        raised = revisions.raise_for_players(transaction, player_ids)
    ids = hidings.entrants_by_tournament(transaction.connection, raised, player_ids)
    _announce_ids(transaction, "PlayersChanged", ids)


def announce_arenas(transaction: Transaction, arena_ids: Collection[int]) -> None:
    """Announce changes of arenas in the organizer's book."""
    raised = revisions.raise_for_arenas(transaction, arena_ids)
    ids = hidings.arenas_by_tournament(transaction.connection, raised, arena_ids)
    _announce_ids(transaction, "ArenasChanged", ids)


def announce_banks(transaction: Transaction, bank_ids: Collection[int]) -> None:
    """Announce changes of banks."""
    _announce_running(transaction, revisions.raise_for_banks(transaction, bank_ids))


def announce_locations(transaction: Transaction, location_ids: Collection[int]) -> None:
    """Announce changes of locations."""
    _announce_running(transaction, revisions.raise_for_locations(transaction, location_ids))


def announce_series(transaction: Transaction, series_ids: Collection[int]) -> None:
    """Announce changes of series."""
    _announce_running(transaction, revisions.raise_for_series(transaction, series_ids))


def announce_occasions(transaction: Transaction, occasion_ids: Collection[int]) -> None:
    """Announce changes of occasions."""
    _announce_running(transaction, revisions.raise_for_occasions(transaction, occasion_ids))


def announce_tournaments(transaction: Transaction, tournament_ids: Collection[int]) -> None:
    """Announce these tournaments, which show a changed tournament or occasion."""
    _announce_running(transaction, revisions.raise_tournaments(transaction, tournament_ids))


def announce_users(transaction: Transaction, user_ids: Collection[int], *, is_hiding: bool = False) -> None:
    """Announce changes of accounts; `is_hiding` also deletes older announcements, which show too much.

    Where they are in many tournaments, a job announces it there later.
    """
    db = transaction.connection
    transaction.hides |= is_hiding
    shown_in = revisions.tournaments_of_users(db, user_ids)
    if len(shown_in) <= TOURNAMENTS_AT_ONCE:
        announce_users_in(transaction, user_ids, shown_in, is_hiding=is_hiding)
        return
    transaction.outdates = True
    for user_id in sorted(user_ids):
        unfinished_changes.begin(db, UnfinishedChange(user_id=user_id, is_hiding=is_hiding))


def announce_users_in(
    transaction: Transaction,
    user_ids: Collection[int],
    tournament_ids: Collection[int],
    *,
    is_hiding: bool,
    player_ids: Collection[int] = (),
) -> None:
    """Announce changes of accounts in these tournaments; `player_ids` were claimed by them before."""
    db = transaction.connection
    if is_hiding:
        raised = announcements.raise_and_restart(transaction, tournament_ids)
    else:
        raised = revisions.raise_tournaments(transaction, tournament_ids)
    running = hidings.running_tournaments(db, raised)
    claimed = hidings.claimed_entrants_by_tournament(db, running, user_ids, player_ids)
    for tournament_id in hidings.tournaments_staffed_by(db, running, user_ids):
        announcements.append(transaction, tournament_id, [_tournament_message(db, tournament_id)])
    _announce_ids(transaction, "PlayersChanged", claimed)


def _announce_running(transaction: Transaction, tournament_ids: Collection[int]) -> None:
    """Announce the current state of those of the tournaments that are not completed."""
    db = transaction.connection
    for tournament_id in hidings.running_tournaments(db, tournament_ids):
        announcements.append(transaction, tournament_id, [_tournament_message(db, tournament_id)])


def _announce_ids(
    transaction: Transaction, name: str, ids_by_tournament: Mapping[int, Sequence[int]]
) -> None:
    messages = {key: _encode_ids(key, name, ids) for key, ids in sorted(ids_by_tournament.items())}
    announcements.append_each(transaction, messages)
