"""From a change to the feed events that follow from it. Nothing that a tournament shows changes silently.

`ANNOUNCE` says what each type of change touches; a house test holds it against `rules/model/changes.py`. What
became of a touched thing is seen by looking at the tournament before and after, so an undo, which
states opposites, needs no table of its own. The payloads are what the interface would show right now
to somebody whom it does not know, from the same reads.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from silverball.rules.model import changes as facts
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import bestgame
from silverball.service.cards import reads as cards
from silverball.service.formats.reads import is_best_game
from silverball.service.games.reads import games
from silverball.service.parts import reads as parts
from silverball.service.queues import reads as queues
from silverball.service.rounds import reads as rounds
from silverball.service.singleplayer import reads as attempts
from silverball.store import affected_tournaments, announcements, revisions
from silverball.store.engine import Db
from silverball.store.transaction import Transaction
from silverball.store.writers import STORED_PARTS
from silverball.wire import events
from silverball.wire.base import UNSET

# Who and what takes part has events of its own; an occasion may be larger than a message.
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


@dataclass(frozen=True)
class TouchedPart:
    """Something that a change touched: a part of the tournament, and the id of a thing in it."""

    part: str
    key: int = 0
    # Of a queue only: its round, when it is the queue of a round; `key` is the arena or 0.
    round_id: int = 0


TOURNAMENT = TouchedPart("tournament")
FindTouchedParts = Callable[[Any, Tournament], Iterable[TouchedPart]]
Messages = list[tuple[str, str]]


def _tournament_only(_change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return (TOURNAMENT,)


def _tournament_and_entrants(_change: Change, after: Tournament) -> Iterable[TouchedPart]:
    # The start freezes the seeds, and taking it back lets them go.
    return (TOURNAMENT, *(TouchedPart("entrants", one.player_id) for one in after.entrants))


def _no_part(_change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return ()


def _changed_things(change: Any) -> tuple[Any, ...]:
    return (change.before, change.after) if isinstance(change, facts.Altered) else (change.thing,)


def _changed_part(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    key = STORED_PARTS[change.part].key
    return (TouchedPart(change.part, getattr(_changed_things(change)[-1], key)),)


def _game_of_suggestion(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return (TouchedPart("games", _changed_things(change)[-1].game_id),)


def _single_player_game_and_cards(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    # A card shows its games.
    shown_by = [one.card_id for one in _changed_things(change) if one.card_id is not None]
    return (*_changed_part(change, _after), *(TouchedPart("cards", card_id) for card_id in shown_by))


def _queues(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return (TouchedPart("queue", one.arena_id or 0, one.round_id or 0) for one in _changed_things(change))


def _buying_entrant(change: Change, _after: Tournament) -> Iterable[TouchedPart]:
    return (TouchedPart("entrants", _changed_things(change)[-1].player_id),)


# The change -> what it touches. An import begins a new epoch instead.
ANNOUNCE: Mapping[type[Change], FindTouchedParts] = {
    facts.TournamentStarted: _tournament_and_entrants,
    facts.TournamentUnstarted: _tournament_and_entrants,
    facts.TournamentCompleted: _tournament_only,
    facts.TournamentReopened: _tournament_only,
    facts.TournamentEdited: _tournament_only,
    facts.ClockChanged: _tournament_only,
    facts.DrawRemembered: _no_part,
    facts.EntrantAdded: _changed_part,
    facts.EntrantRemoved: _changed_part,
    facts.EntrantChanged: _changed_part,
    facts.ArenaAdded: _changed_part,
    facts.ArenaRemoved: _changed_part,
    facts.ArenaChanged: _changed_part,
    facts.BankAdded: _tournament_only,
    facts.BankRemoved: _tournament_only,
    facts.RoundOpened: _changed_part,
    facts.RoundDeleted: _changed_part,
    facts.RoundCompleted: _changed_part,
    facts.RoundReopened: _changed_part,
    facts.RoundChanged: _changed_part,
    facts.GameOpened: _changed_part,
    facts.GameDeleted: _changed_part,
    facts.GameCompleted: _changed_part,
    facts.GameCleared: _changed_part,
    facts.GameCorrected: _changed_part,
    facts.GameChanged: _changed_part,
    facts.SuggestionMade: _game_of_suggestion,
    facts.SuggestionDecided: _game_of_suggestion,
    facts.SinglePlayerGameOpened: _single_player_game_and_cards,
    facts.SinglePlayerGameDeleted: _single_player_game_and_cards,
    facts.SinglePlayerGameChanged: _single_player_game_and_cards,
    facts.CardOpened: _changed_part,
    facts.CardDeleted: _changed_part,
    facts.CardChanged: _changed_part,
    facts.QueueJoined: _queues,
    facts.QueueLeft: _queues,
    facts.QueueMoved: _queues,
    facts.ScorekeeperAdded: _tournament_only,
    facts.ScorekeeperRemoved: _tournament_only,
    facts.EntriesBought: _buying_entrant,
    facts.EntriesWithdrawn: _buying_entrant,
}

# Part -> name of the event, by what became of the thing.
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
    transaction: Transaction, before: Tournament, after: Tournament, changes: Sequence[Change]
) -> None:
    """Announce what these changes made of the tournament, which is stored as it is after them."""
    db = transaction.connection
    touched = _touched_parts(before, after, changes)
    said = _id_messages(before, after, touched)
    said += _model_messages(db, after, [one for one in touched if one.part in CREATED_OR_UPDATED])
    said += [_queue_message(db, after, one) for one in touched if one.part == "queue"]
    if TOURNAMENT in touched:
        # Whoever sees that it is completed has seen everything that led to it.
        is_last = after.status == "completed" != before.status
        said.insert(len(said) if is_last else 0, _tournament_message(db, after.tournament_id))
    announcements.append(transaction, after.tournament_id, said)


def _touched_parts(
    before: Tournament, after: Tournament, changes: Sequence[Change]
) -> dict[TouchedPart, None]:
    """What was touched, in order; a dict because it keeps that order and no thing twice."""
    touched: dict[TouchedPart, None] = {}
    for change in changes:
        touched.update(dict.fromkeys(ANNOUNCE[type(change)](change, after)))
    if is_best_game(before.type) and touched:
        remarked = (
            TouchedPart("single_player_games", one)
            for one in bestgame.games_with_changed_marks(before, after)
        )
        touched.update(dict.fromkeys(remarked))
        if after.cards:
            counted = (TouchedPart("cards", one) for one in bestgame.cards_with_changed_marks(before, after))
            touched.update(dict.fromkeys(counted))
    return touched


def _id_messages(before: Tournament, after: Tournament, touched: Collection[TouchedPart]) -> Messages:
    """The events that only name things: who and what takes part, then what is gone."""
    said: Messages = []
    for part, name in CHANGED.items():
        keys = [one.key for one in touched if one.part == part]
        here = _ids_in(before, part) if keys else frozenset()
        now = _ids_in(after, part) if keys else frozenset()
        new = [key for key in keys if key not in here and key in now]
        said += _encode_ids(after.tournament_id, ADDED[part], new)
        said += _encode_ids(after.tournament_id, name, [key for key in keys if key in here])
    for part, name in DELETED.items():
        keys = [one.key for one in touched if one.part == part]
        left = (_ids_in(before, part) - _ids_in(after, part)) if keys else frozenset()
        said += _encode_ids(after.tournament_id, name, [key for key in keys if key in left])
    return said


def _ids_in(tournament: Tournament, part: str) -> frozenset[int]:
    key = STORED_PARTS[part].key
    return frozenset(getattr(one, key) for one in getattr(tournament, part))


def _encode_ids(tournament_id: int, name: str, keys: Sequence[int]) -> Messages:
    if not keys:
        return []
    said = events.EVENTS[name](**{"tournament_id": tournament_id, IDS_FIELD[name]: tuple(sorted(keys))})
    return [(name, _encode(said))]


def _model_messages(db: Db, after: Tournament, touched: Sequence[TouchedPart]) -> Messages:
    """Rounds, games and cards that are there now, as their own routes show them, in order of the changes."""
    models: dict[TouchedPart, Any] = {}
    for part, load in LOADERS.items():
        keys = [one.key for one in touched if one.part == part]
        if keys:
            loaded = load(db, after, keys)
            models.update((TouchedPart(part, key), model) for key, model in loaded.items())
    return [(CREATED_OR_UPDATED[one.part], _encode(models[one])) for one in touched if one in models]


# Part -> the models of these ids; one that is gone is left out.
LOADERS: Mapping[str, Callable[[Db, Tournament, Sequence[int]], Mapping[int, Any]]] = {
    "rounds": lambda db, after, keys: rounds.rounds_by_id(db, after.tournament_id, keys),
    "games": lambda db, after, keys: games.games_with_arenas(db, after.tournament_id, keys),
    "single_player_games": attempts.single_player_games_by_id,
    "cards": cards.cards_by_id,
}


def _queue_message(db: Db, after: Tournament, target: TouchedPart) -> tuple[str, str]:
    waiting = queues.spots_in_line(db, after.tournament_id, target.key or None, target.round_id or None)
    said = events.QueueChanged(
        tournament_id=after.tournament_id,
        arena_id=target.key or None,
        round_id=target.round_id or None,
        queues=waiting if len(waiting) <= events.QUEUES_MAX else UNSET,
    )
    return "QueueChanged", _encode(said)


def _tournament_message(db: Db, tournament_id: int) -> tuple[str, str]:
    return "TournamentUpdated", _encode(parts.find_tournament(db, tournament_id, ANNOUNCED_PARTS, None))


def _encode(shape: Any) -> str:
    return msgspec.json.encode(shape).decode()


# What changed outside of tournaments, and is shown by them. Each raises their revisions too.


def announce_players(transaction: Transaction, player_ids: Collection[int]) -> None:
    """These players of a book are different now, wherever they take part."""
    raised = revisions.raise_for_players(transaction, player_ids)
    _announce_ids(
        transaction,
        "PlayersChanged",
        affected_tournaments.entrants_by_tournament(transaction.connection, raised, player_ids),
    )


def announce_arenas(transaction: Transaction, arena_ids: Collection[int]) -> None:
    """These arenas of a book are different now, wherever they are played."""
    raised = revisions.raise_for_arenas(transaction, arena_ids)
    _announce_ids(
        transaction,
        "ArenasChanged",
        affected_tournaments.arenas_by_tournament(transaction.connection, raised, arena_ids),
    )


def announce_banks(transaction: Transaction, bank_ids: Collection[int]) -> None:
    """These banks are different now."""
    _announce_running(transaction, revisions.raise_for_banks(transaction, bank_ids))


def announce_locations(transaction: Transaction, location_ids: Collection[int]) -> None:
    """These locations are different now."""
    _announce_running(transaction, revisions.raise_for_locations(transaction, location_ids))


def announce_series(transaction: Transaction, series_ids: Collection[int]) -> None:
    """These series are different now."""
    _announce_running(transaction, revisions.raise_for_series(transaction, series_ids))


def announce_occasions(transaction: Transaction, occasion_ids: Collection[int]) -> None:
    """These occasions are different now."""
    _announce_running(transaction, revisions.raise_for_occasions(transaction, occasion_ids))


def announce_tournaments(transaction: Transaction, tournament_ids: Collection[int]) -> None:
    """Something that these tournaments show of other tournaments or occasions is different now."""
    _announce_running(transaction, revisions.raise_tournaments(transaction, tournament_ids))


def announce_users(transaction: Transaction, user_ids: Collection[int], *, is_hiding: bool = False) -> None:
    """These accounts are different now. When one hides something, what was announced of him goes too."""
    db = transaction.connection
    raised = revisions.raise_for_users(transaction, user_ids)
    if is_hiding:
        announcements.restart_epochs(transaction, raised)
    running = affected_tournaments.running_tournaments(db, raised)
    claimed = affected_tournaments.claimed_entrants_by_tournament(db, running, user_ids)
    for tournament_id in affected_tournaments.tournaments_staffed_by(db, running, user_ids):
        announcements.append(transaction, tournament_id, [_tournament_message(db, tournament_id)])
    _announce_ids(transaction, "PlayersChanged", claimed)


def _announce_running(transaction: Transaction, tournament_ids: Collection[int]) -> None:
    """Announce those of the tournaments that are not completed as they are now."""
    db = transaction.connection
    for tournament_id in affected_tournaments.running_tournaments(db, tournament_ids):
        announcements.append(transaction, tournament_id, [_tournament_message(db, tournament_id)])


def _announce_ids(transaction: Transaction, name: str, found: Mapping[int, Sequence[int]]) -> None:
    for tournament_id, keys in sorted(found.items()):
        announcements.append(transaction, tournament_id, _encode_ids(tournament_id, name, keys))
