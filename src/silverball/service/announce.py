"""From a change to the feed events that follow from it. Nothing that a tournament shows changes silently.

`ANNOUNCE` says what each type of change touches; a house test holds it against `rules/changes.py`. What
became of a touched thing is seen by looking at the tournament before and after, so an undo, which
states opposites, needs no table of its own. The payloads are what the interface would show right now
to somebody whom it does not know, from the same reads.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from silverball.rules import changes as facts
from silverball.rules.changes import Change
from silverball.rules.ranking import bestgame
from silverball.rules.tournament import Tournament
from silverball.service.cards import reads as cards
from silverball.service.formats.reads import BEST_GAME_TYPES
from silverball.service.games import reads as games
from silverball.service.queues import reads as queues
from silverball.service.rounds import reads as rounds
from silverball.service.singleplayer import reads as attempts
from silverball.service.tournaments.reads import parts
from silverball.store import announcements, revisions, showing
from silverball.store.engine import Db
from silverball.store.writers import KINDS
from silverball.wire import events
from silverball.wire.base import UNSET

# Who and what takes part has events of its own; an occasion may be larger than a message.
TOLD_PARTS = parts.PartsQuery(
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
class Target:
    """Something that a change touched: a part of the tournament, and the id of a thing in it."""

    part: str
    key: int = 0
    # Of a queue only: its round, when it is the queue of a round; `key` is the arena or 0.
    round_id: int = 0


TOURNAMENT = Target("tournament")
Touches = Callable[[Any, Tournament], Iterable[Target]]
Said = list[tuple[str, str]]


def _own(_change: Change, _after: Tournament) -> Iterable[Target]:
    return (TOURNAMENT,)


def _everybody(_change: Change, after: Tournament) -> Iterable[Target]:
    # The start freezes the seeds, and taking it back lets them go.
    return (TOURNAMENT, *(Target("entrants", one.player_id) for one in after.entrants))


def _nothing(_change: Change, _after: Tournament) -> Iterable[Target]:
    return ()


def _things(change: Any) -> tuple[Any, ...]:
    return (change.before, change.after) if isinstance(change, facts.Altered) else (change.thing,)


def _thing(change: Change, _after: Tournament) -> Iterable[Target]:
    key = KINDS[change.part].key
    return (Target(change.part, getattr(_things(change)[-1], key)),)


def _game_of(change: Change, _after: Tournament) -> Iterable[Target]:
    return (Target("games", _things(change)[-1].game_id),)


def _attempt(change: Change, _after: Tournament) -> Iterable[Target]:
    # A card shows its games.
    shown_by = [one.card_id for one in _things(change) if one.card_id is not None]
    return (*_thing(change, _after), *(Target("cards", card_id) for card_id in shown_by))


def _queue(change: Change, _after: Tournament) -> Iterable[Target]:
    return (Target("queue", one.arena_id or 0, one.round_id or 0) for one in _things(change))


def _buyer(change: Change, _after: Tournament) -> Iterable[Target]:
    return (Target("entrants", _things(change)[-1].player_id),)


# The change -> what it touches. An import begins a new epoch instead.
ANNOUNCE: Mapping[type[Change], Touches] = {
    facts.TournamentStarted: _everybody,
    facts.TournamentUnstarted: _everybody,
    facts.TournamentCompleted: _own,
    facts.TournamentReopened: _own,
    facts.TournamentEdited: _own,
    facts.ClockChanged: _own,
    facts.DrawRemembered: _nothing,
    facts.EntrantAdded: _thing,
    facts.EntrantRemoved: _thing,
    facts.EntrantChanged: _thing,
    facts.ArenaAdded: _thing,
    facts.ArenaRemoved: _thing,
    facts.ArenaChanged: _thing,
    facts.BankAdded: _own,
    facts.BankRemoved: _own,
    facts.RoundOpened: _thing,
    facts.RoundDeleted: _thing,
    facts.RoundCompleted: _thing,
    facts.RoundReopened: _thing,
    facts.RoundChanged: _thing,
    facts.GameOpened: _thing,
    facts.GameDeleted: _thing,
    facts.GameCompleted: _thing,
    facts.GameCleared: _thing,
    facts.GameCorrected: _thing,
    facts.GameChanged: _thing,
    facts.SuggestionMade: _game_of,
    facts.SuggestionDecided: _game_of,
    facts.SinglePlayerGameOpened: _attempt,
    facts.SinglePlayerGameDeleted: _attempt,
    facts.SinglePlayerGameChanged: _attempt,
    facts.CardOpened: _thing,
    facts.CardDeleted: _thing,
    facts.CardChanged: _thing,
    facts.QueueJoined: _queue,
    facts.QueueLeft: _queue,
    facts.QueueMoved: _queue,
    facts.ScorekeeperAdded: _own,
    facts.ScorekeeperRemoved: _own,
    facts.EntriesBought: _buyer,
    facts.EntriesWithdrawn: _buyer,
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
SHOWN = {
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


def of_changes(db: Db, before: Tournament, after: Tournament, changes: Sequence[Change]) -> None:
    """Announce what these changes made of the tournament, which is stored as it is after them."""
    touched = _touched(before, after, changes)
    said = _ids_said(before, after, touched)
    said += _models_said(db, after, [one for one in touched if one.part in SHOWN])
    said += [_queue_said(db, after, one) for one in touched if one.part == "queue"]
    if TOURNAMENT in touched:
        # Whoever sees that it is completed has seen everything that led to it.
        is_last = after.status == "completed" != before.status
        said.insert(len(said) if is_last else 0, _tournament_said(db, after.tournament_id))
    announcements.append(db, after.tournament_id, said)


def _touched(before: Tournament, after: Tournament, changes: Sequence[Change]) -> dict[Target, None]:
    """What was touched, in order; a dict because it keeps that order and no thing twice."""
    touched: dict[Target, None] = {}
    for change in changes:
        touched.update(dict.fromkeys(ANNOUNCE[type(change)](change, after)))
    if before.type in BEST_GAME_TYPES and touched:
        remarked = (Target("single_player_games", one) for one in bestgame.remarked(before, after))
        touched.update(dict.fromkeys(remarked))
        if after.cards:
            counted = (Target("cards", one) for one in bestgame.remarked_cards(before, after))
            touched.update(dict.fromkeys(counted))
    return touched


def _ids_said(before: Tournament, after: Tournament, touched: Collection[Target]) -> Said:
    """The events that only name things: who and what takes part, then what is gone."""
    said: Said = []
    for part, name in CHANGED.items():
        keys = [one.key for one in touched if one.part == part]
        here = _keys(before, part) if keys else frozenset()
        now = _keys(after, part) if keys else frozenset()
        new = [key for key in keys if key not in here and key in now]
        said += _named(after.tournament_id, ADDED[part], new)
        said += _named(after.tournament_id, name, [key for key in keys if key in here])
    for part, name in DELETED.items():
        keys = [one.key for one in touched if one.part == part]
        left = (_keys(before, part) - _keys(after, part)) if keys else frozenset()
        said += _named(after.tournament_id, name, [key for key in keys if key in left])
    return said


def _keys(tournament: Tournament, part: str) -> frozenset[int]:
    key = KINDS[part].key
    return frozenset(getattr(one, key) for one in getattr(tournament, part))


def _named(tournament_id: int, name: str, keys: Sequence[int]) -> Said:
    if not keys:
        return []
    said = events.EVENTS[name](**{"tournament_id": tournament_id, IDS_FIELD[name]: tuple(sorted(keys))})
    return [(name, _text(said))]


def _models_said(db: Db, after: Tournament, touched: Sequence[Target]) -> Said:
    """Rounds, games and cards that are there now, as their own routes show them, in order of the changes."""
    models: dict[Target, Any] = {}
    for part, load in LOADERS.items():
        keys = [one.key for one in touched if one.part == part]
        if keys:
            loaded = load(db, after, keys)
            models.update((Target(part, key), model) for key, model in loaded.items())
    return [(SHOWN[one.part], _text(models[one])) for one in touched if one in models]


# Part -> the models of these ids; one that is gone is left out.
LOADERS: Mapping[str, Callable[[Db, Tournament, Sequence[int]], Mapping[int, Any]]] = {
    "rounds": lambda db, after, keys: rounds.some(db, after.tournament_id, keys),
    "games": lambda db, after, keys: games.with_arenas(db, after.tournament_id, keys),
    "single_player_games": attempts.some,
    "cards": cards.some,
}


def _queue_said(db: Db, after: Tournament, target: Target) -> tuple[str, str]:
    waiting = queues.in_line(db, after.tournament_id, target.key or None, target.round_id or None)
    said = events.QueueChanged(
        tournament_id=after.tournament_id,
        arena_id=target.key or None,
        round_id=target.round_id or None,
        queues=waiting if len(waiting) <= events.QUEUES_MAX else UNSET,
    )
    return "QueueChanged", _text(said)


def _tournament_said(db: Db, tournament_id: int) -> tuple[str, str]:
    return "TournamentUpdated", _text(parts.one(db, tournament_id, TOLD_PARTS, None))


def _text(shape: Any) -> str:
    return msgspec.json.encode(shape).decode()


# What changed outside of tournaments, and is shown by them. Each raises their revisions too.


def of_players(db: Db, player_ids: Collection[int]) -> None:
    """These players of a book are different now, wherever they take part."""
    raised = revisions.raise_for_players(db, player_ids)
    _tell_ids(db, "PlayersChanged", showing.entrants(db, raised, player_ids))


def of_arenas(db: Db, arena_ids: Collection[int]) -> None:
    """These arenas of a book are different now, wherever they are played."""
    raised = revisions.raise_for_arenas(db, arena_ids)
    _tell_ids(db, "ArenasChanged", showing.arenas(db, raised, arena_ids))


def of_banks(db: Db, bank_ids: Collection[int]) -> None:
    """These banks are different now."""
    _tell(db, revisions.raise_for_banks(db, bank_ids))


def of_locations(db: Db, location_ids: Collection[int]) -> None:
    """These locations are different now."""
    _tell(db, revisions.raise_for_locations(db, location_ids))


def of_series(db: Db, series_ids: Collection[int]) -> None:
    """These series are different now."""
    _tell(db, revisions.raise_for_series(db, series_ids))


def of_occasions(db: Db, occasion_ids: Collection[int]) -> None:
    """These occasions are different now."""
    _tell(db, revisions.raise_for_occasions(db, occasion_ids))


def of_tournaments(db: Db, tournament_ids: Collection[int]) -> None:
    """Something that these tournaments show of other tournaments or occasions is different now."""
    _tell(db, revisions.raise_tournaments(db, tournament_ids))


def of_users(db: Db, user_ids: Collection[int], *, is_hiding: bool = False) -> None:
    """These accounts are different now. When one hides something, what was announced of him goes too."""
    raised = revisions.raise_for_users(db, user_ids)
    if is_hiding:
        announcements.begin_anew(db, raised)
    running = showing.running(db, raised)
    claimed = showing.entrants_claimed_by(db, running, user_ids)
    for tournament_id in showing.staffed_by(db, running, user_ids):
        announcements.append(db, tournament_id, [_tournament_said(db, tournament_id)])
    _tell_ids(db, "PlayersChanged", claimed)


def _tell(db: Db, tournament_ids: Collection[int]) -> None:
    """Announce those of the tournaments that are not completed as they are now."""
    for tournament_id in showing.running(db, tournament_ids):
        announcements.append(db, tournament_id, [_tournament_said(db, tournament_id)])


def _tell_ids(db: Db, name: str, found: Mapping[int, Sequence[int]]) -> None:
    for tournament_id, keys in sorted(found.items()):
        announcements.append(db, tournament_id, _named(tournament_id, name, keys))
