"""Backward replay of the journal: from the stored data to the tournament's initial state.

Each change must lead to the state at that point; where it does not, the stored data differs from the journal.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field

from silverball.kit.values import replace
from silverball.rules.model.apply import ID_FIELDS
from silverball.rules.model.changes import (
    Added,
    Altered,
    Change,
    GameCompleted,
    GameCorrected,
    GameDeleted,
    GameOpened,
    Removed,
    RoundOpened,
    SuggestionDecided,
    TournamentAltered,
    opposite_changes,
)
from silverball.rules.model.opposites import comparable_undo
from silverball.rules.model.settings_protocols import HasRoundRobinGroups, has
from silverball.rules.model.tournament import Bank, EngineState, Entrant, Game, LineupArena, Tournament
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks

# (part, id) -> item.
ItemsById: TypeAlias = dict[tuple[str, int], Any]
PART_NAMES = {
    "entrants": "entrant",
    "lineup": "arena",
    "banks": "bank",
    "rounds": "round",
    "games": "game",
    "suggestions": "suggestion",
    "single_player_games": "single player game",
    "cards": "card",
    "queue": "queue entry",
    "scorekeepers": "scorekeeper",
    "purchases": "purchase",
    "sign_ups": "sign-up of player",
}
# Parts that exist only after the start.
PARTS_OF_PLAY = ("rounds", "games", "suggestions", "single_player_games", "cards", "queue")
TOURNAMENT_FIELDS = (
    "status",
    "settings",
    "points_map",
    "tiebreaker_points_map",
    "has_entry_limits",
    "completed_at",
    "rated_until",
    "reopening",
    "prizes",
    "sign_up_terms",
    "state",
    "details",
)


class ReplayedAction(Struct, frozen=True):
    """An action of the journal with its changes."""

    action_id: int
    changes: Sequence[Change]
    # The actions that this one undid, newest first: one, or a reopening and its completion.
    undone_action_ids: Sequence[int] = ()


class ReplayState(Struct):
    """The state of a tournament: items by part and id, and the tournament's own fields."""

    items: ItemsById = field(default_factory=dict)
    tournament_fields: dict[str, Any] = field(default_factory=dict)

    def items_of_part(self, part: str) -> list[Any]:
        """Items of a part, ascending by id."""
        return [
            item
            for (kind, _), item in sorted(self.items.items(), key=lambda key_and_item: key_and_item[0])
            if kind == part
        ]


def stored_state(tournament: Tournament) -> ReplayState:
    """The state of a stored tournament."""
    things = {
        (part, getattr(item, name)): comparable_item(item)
        for part, name in ID_FIELDS.items()
        for item in getattr(tournament, part)
    }
    return ReplayState(
        things, {name: _plain_value(name, getattr(tournament, name)) for name in TOURNAMENT_FIELDS}
    )


def comparable_item(item: Any) -> Any:
    """An item without fields that are looked up elsewhere: accounts, categories, arenas of banks."""
    if isinstance(item, Entrant):
        return replace(item, user_id=None, entries_bought=0)
    if isinstance(item, LineupArena):
        return replace(item, category_id=None)
    return replace(item, arena_ids=()) if isinstance(item, Bank) else item


def _plain_value(name: str, value: Any) -> Any:
    """A field of the tournament as plain JSON values."""
    if name == "state" and isinstance(value, EngineState):
        value = value.persistent
    if name == "details" and value is not None:
        # Occasions are changed in the book as well, where no tournament's journal tells of it.
        value = {key: fact for key, fact in value.items() if key != "event_id"}
    return msgspec.json.decode(msgspec.json.encode(value))


def replay_backwards(
    book: ReplayState, actions: Sequence[ReplayedAction]
) -> Iterator[tuple[ReplayedAction, list[str]]]:
    """Undo every action on the state, newest first, and yield each with its faults."""
    for action in reversed(actions):
        faults: list[str] = []
        for change in reversed(action.changes):
            faults += _undo_change(book, change, action.action_id)
        yield action, faults


def _undo_change(book: ReplayState, change: Change, action_id: int) -> list[str]:
    if isinstance(change, TournamentAltered):
        return _undo_fields(book, change, action_id)
    assert isinstance(change, Added | Removed | Altered)
    item = change.after if isinstance(change, Altered) else change.subject
    key = (change.part, getattr(item, ID_FIELDS[change.part]))
    stored, before, after = book.items.get(key), *_before_and_after(change)
    faults = _difference_faults(key, stored, after, type(change).__name__, action_id)
    if before is None:
        book.items.pop(key, None)
    else:
        book.items[key] = before
    return faults


def _before_and_after(change: Added[Any] | Removed[Any] | Altered[Any]) -> tuple[Any, Any]:
    """The item before and after the change; None where it does not exist."""
    if isinstance(change, Altered):
        return comparable_item(change.before), comparable_item(change.after)
    item = comparable_item(change.subject)
    return (None, item) if isinstance(change, Added) else (item, None)


def _difference_faults(
    key: tuple[str, int], stored: Any, after: Any, change: str, action_id: int
) -> list[str]:
    name = f"{PART_NAMES[key[0]]} {key[1]}"
    since = f"since action {action_id} ({change})"
    if stored == after:
        return []
    if stored is None:
        return [f"The {name} is missing: it is there {since}."]
    if after is None:
        return [f"The {name} is stored, but gone {since}."]
    differing = [
        name_ for name_ in after.__struct_fields__ if getattr(stored, name_) != getattr(after, name_)
    ]
    differences = "; ".join(
        f"{name_} is {getattr(stored, name_)!s}, it should be {getattr(after, name_)!s}"
        for name_ in differing
    )
    return [f"The {name} is not what it is {since}: {differences}."]


def _undo_fields(book: ReplayState, change: TournamentAltered, action_id: int) -> list[str]:
    faults = []
    for name, after in change.after.items():
        stored, expected = book.tournament_fields[name], _plain_value(name, after)
        if name in change.before:
            book.tournament_fields[name] = _plain_value(name, change.before[name])
        if stored != expected:
            faults += [
                f"The tournament's {part_name} is {stored_value!s}, since action {action_id} "
                f"({type(change).__name__}) it should be {value!s}."
                for part_name, stored_value, value in _differing_parts(name, stored, expected)
            ]
    return faults


def _differing_parts(name: str, stored: Any, expected: Any) -> list[tuple[str, Any, Any]]:
    if not isinstance(stored, Mapping) or not isinstance(expected, Mapping):
        return [(name, stored, expected)]
    return [
        (f"{name}.{key}", stored.get(key), expected.get(key))
        for key in sorted({*stored, *expected})
        if stored.get(key) != expected.get(key)
    ]


def beginning_faults(book: ReplayState, began: Tournament | None, counts: Mapping[str, Any]) -> list[str]:
    """Differences between the state before the first action and the expected initial state.

    Takes the tournament as it was created, if it was created here, or the counts of imported items.
    """
    faults = []
    for part, name in PART_NAMES.items():
        left = [key for kind, key in sorted(book.items) if kind == part]
        if part in counts and len(left) != counts[part]:
            faults.append(f"{counts[part]} {part} came in, {len(left)} are left of them.")
        if began is not None or (part in PARTS_OF_PLAY and book.tournament_fields["status"] == "planned"):
            faults += [f"The {name} {key} is stored, but no action of the journal made it." for key in left]
    if began is not None:
        for field_name in TOURNAMENT_FIELDS:
            stored, expected = (
                book.tournament_fields[field_name],
                _plain_value(field_name, getattr(began, field_name)),
            )
            faults += [
                f"The tournament's {part_name} is {stored_value!s}, it was created with {value!s}."
                for part_name, stored_value, value in _differing_parts(field_name, stored, expected)
                if stored != expected
            ]
    return faults


# Checks of pairings: rules that hold at any time, and rules for newly drawn rounds.
#
# Source: formats, sections 3, 7 and 9.


# With this pairing a bye may go to any player who does not have the most.
FEWER_IS_ENOUGH = "strictswiss"


def state_faults(tournament: Tournament, checks: FormatChecks) -> list[str]:
    """Violations of rules that hold at any moment of a tournament."""
    faults = [
        f"Game {game.game_id} has a player twice."
        for game in tournament.games
        if len(set(game.player_ids)) != len(game.player_ids)
    ]
    known = {entrant.player_id for entrant in tournament.entrants}
    for game in tournament.games:
        faults += [
            f"Player {player_id} of game {game.game_id} is not an entrant."
            for player_id in game.player_ids
            if player_id not in known
        ]
    if checks.has_one_group_per_round and not _has_groups(tournament):
        faults += _twice_in_round_faults(tournament)
    if checks.has_one_open_game:
        playing = [
            player_id
            for game in tournament.games
            # A tiebreak may be open beside another game.
            if game.status == "started" and not game.is_tiebreak
            for player_id in game.player_ids
        ]
        playing += [game.player_id for game in tournament.single_player_games if game.status == "started"]
        faults += [
            f"Player {player_id} is in two open games at once." for player_id in _repeated_values(playing)
        ]
    return faults


def _has_groups(tournament: Tournament) -> bool:
    """Whether it is a round robin in groups, whose rounds have several games per player."""
    return has(tournament.settings, HasRoundRobinGroups) and tournament.settings.round_robin_group_size > 0


def _twice_in_round_faults(tournament: Tournament) -> list[str]:
    """Players in two groups of a round, or with two byes.

    A bye beside games of a group is no fault: the opponent left before the games were over. Whether the
    draw gave both is checked where it was drawn.
    """
    faults = []
    for round_ in tournament.rounds:
        groups: dict[int, set[int]] = {}
        byes: list[int] = []
        for game in tournament.games:
            if game.round_id == round_.round_id and not game.is_tiebreak:
                if game.is_bye:
                    byes += game.player_ids
                else:
                    groups.setdefault(game.set_number, set()).update(game.player_ids)
        seats = [player_id for group in groups.values() for player_id in group]
        for kind, members in (("in two groups", seats), ("in two byes", byes)):
            faults += [
                f"Player {player_id} is {kind} of {round_.name} ({round_.round_id})."
                for player_id in _repeated_values(members)
            ]
    return faults


def _repeated_values(values: Iterable[int]) -> list[int]:
    return sorted(value for value, count in Counter(values).items() if count > 1)


def draw_faults(
    checks: FormatChecks, before: ReplayState, changes: Sequence[Change], action_id: int
) -> list[str]:
    """Faults of the rounds that an action drew. Takes the state before the action."""
    faults = []
    for change in changes:
        if isinstance(change, RoundOpened):
            games = [
                opened.subject
                for opened in changes
                if isinstance(opened, GameOpened) and opened.subject.round_id == change.subject.round_id
            ]
            label = f"{change.subject.name}, drawn by action {action_id},"
            faults += _round_faults(checks, before, games, label)
            faults += _apart_faults(before, games, label)
    faults += _play_order_faults(before, changes, action_id)
    return faults + (_busy_faults(before, changes, action_id) if checks.has_one_open_game else [])


def _apart_faults(before: ReplayState, games: Sequence[Game], label: str) -> list[str]:
    """Pairs that meet although they should not, where two players could swap seats so that fewer meet."""
    pairs = {tuple(pair) for pair in before.tournament_fields["state"].get("pairs_apart") or ()}
    groups = {game.set_number: set(game.player_ids) for game in games if not game.is_bye}

    def meeting(*seated: set[int]) -> int:
        return sum(set(pair) <= group for pair in pairs for group in seated)

    for group in groups.values() if pairs else ():
        for other in groups.values() if meeting(group) else ():
            for player_id, other_id in product(group - other, other - group):
                swapped = group - {player_id} | {other_id}, other - {other_id} | {player_id}
                if group is not other and meeting(*swapped) < meeting(group, other):
                    return [f"{label} lets a pair meet that should not, and could be kept apart."]
    return []


def _play_order_faults(before: ReplayState, changes: Sequence[Change], action_id: int) -> list[str]:
    """Games that the last of the game before does not start, where the loser goes first."""
    settings = before.tournament_fields["settings"]
    if settings.get("playerOrder") != "loser" or settings.get("gamesPerRound", 1) == 1:
        return []
    games = {game.game_id: game for game in before.items_of_part("games")}
    games |= {
        change.after.game_id: change.after
        for change in changes
        if isinstance(change, Altered) and isinstance(change.after, Game)
    }
    faults = []
    for change in changes:
        if not isinstance(change, GameCompleted | GameCorrected):
            continue
        game, last = change.after, (change.after.finishing_order or change.after.result_positions)[-1]
        place = (game.round_id, game.set_number, (game.game_index or 0) + 1)
        faults += [
            f"Action {action_id} lets player {later.player_ids[0]} start game {later.game_id}, not the "
            f"last of game {game.game_id}."
            for later in games.values()
            if (later.round_id, later.set_number, later.game_index) == place
            and later.status == "started"
            and not game.is_tiebreak
            and last in later.player_ids[1:]
        ]
    return faults


def _busy_faults(before: ReplayState, changes: Sequence[Change], action_id: int) -> list[str]:
    """Players who were drawn into a game while they played another."""
    opened = [
        change.subject
        for change in changes
        if isinstance(change, GameOpened) and change.subject.status == "started"
    ]
    drawn = [player_id for game in opened if not game.is_tiebreak for player_id in game.player_ids]
    over = {
        change.before.game_id
        for change in changes
        if isinstance(change, Altered) and isinstance(change.before, Game)
    }
    over |= {change.subject.game_id for change in changes if isinstance(change, GameDeleted)}
    busy = [
        player_id
        for game in before.items_of_part("games")
        if game.status == "started" and not game.is_tiebreak and game.game_id not in over
        for player_id in game.player_ids
    ]
    return [
        f"Action {action_id} draws player {player_id} into a second game at once."
        for player_id in _repeated_values(drawn + busy)
        if player_id in drawn
    ]


def _round_faults(checks: FormatChecks, before: ReplayState, games: Sequence[Game], label: str) -> list[str]:
    byes = [game.player_ids[0] for game in games if game.is_bye]
    played = [game for game in games if not game.is_bye]
    faults = _arena_faults(checks.arena_use, played, label)
    groups = {game.set_number: game.player_ids for game in played}
    players = [player_id for group in groups.values() for player_id in group] + byes
    if checks.drawn_groups is DrawnGroups.ANY:
        return faults
    if _repeated_values(players):
        faults.append(f"{label} has player {_repeated_values(players)[0]} twice.")
    sizes = sorted(len(group) for group in groups.values())
    expected = expected_group_sizes(len(players))
    if checks.drawn_groups is DrawnGroups.FOURS:
        if sizes != expected or byes:
            faults.append(f"{label} has groups of {sizes} for {len(players)} players, not {expected}.")
        return faults
    if set(sizes) - {2} or len(byes) != len(players) % 2:
        faults.append(f"{label} does not put {len(players)} players in pairs and one bye at most.")
    return faults + _bye_faults(before, byes, players, label)


def _arena_faults(use: ArenaUse, games: Sequence[Game], label: str) -> list[str]:
    if use is ArenaUse.ANY:
        return []
    waves = Counter(
        (None if use is ArenaUse.ONCE_PER_ROUND else game.game_index, game.arena_id)
        for game in games
        if game.arena_id is not None
    )
    return [f"{label} has arena {wave[1]} twice at once." for wave, count in waves.items() if count > 1]


def expected_group_sizes(players: int) -> list[int]:
    """Sizes of groups of four and three, smallest first. Source: formats, section 3."""
    if players in {0, 1, 2, 3}:
        return [players] if players else []
    if players == 5:
        return [2, 3]
    threes = -players % 4
    return [3] * threes + [4] * ((players - 3 * threes) // 4)


def _bye_faults(before: ReplayState, byes: Sequence[int], players: Sequence[int], label: str) -> list[str]:
    """Byes given to players who do not have the fewest; the first round, drawn by seeds, is exempt."""
    if not any(round_.status == "completed" for round_ in before.items_of_part("rounds")):
        return []
    counted: Counter[int] = Counter(
        {entrant.player_id: entrant.byes_credited for entrant in before.items_of_part("entrants")}
    )
    for game in before.items_of_part("games"):
        if game.is_bye and not game.is_tiebreak and game.round_id is not None:
            counted.update(game.player_ids)
    fewest = min((counted[player_id] for player_id in players), default=0)
    most = max((counted[player_id] for player_id in players), default=0)
    is_strict = before.tournament_fields["settings"].get("pairing") == FEWER_IS_ENOUGH
    return [
        f"{label} gives player {player_id} bye number {counted[player_id] + 1} "
        f"while others have had {fewest}."
        for player_id in byes
        if counted[player_id] != fewest and not (is_strict and counted[player_id] < most)
    ]


# Checks of the journal itself: numbers without gaps, and undos with exactly the opposite changes.


def journal_faults(stories: Sequence[ReplayedAction], first: int = 1) -> list[str]:
    """Faults of these actions, first to last; `first` is the number of the first action."""
    by_id = {action.action_id: action for action in stories}
    faults = [
        f"Action {number} is missing from the journal."
        for number in range(first, max(by_id, default=first - 1) + 1)
        if number not in by_id
    ]
    taken_back: set[int] = set()
    for action in stories:
        if action.undone_action_ids:
            faults += _undo_faults(action, by_id, taken_back)
            taken_back.update(action.undone_action_ids)
    return faults


def _undo_faults(
    action: ReplayedAction, by_id: Mapping[int, ReplayedAction], taken_back: Collection[int]
) -> list[str]:
    number, undone_ids = action.action_id, action.undone_action_ids
    expected: list[Change] = []
    for undone_id in undone_ids:
        original = by_id.get(undone_id)
        if original is None or original.action_id >= number:
            return [f"Action {number} undoes action {undone_id}, which is not before it."]
        if undone_id in taken_back:
            return [f"Action {number} undoes action {undone_id}, which was undone before."]
        expected += opposite_changes(original.changes)
    is_pair = len(undone_ids) > 1
    wanted = comparable_undo(expected, keeps_status=is_pair)
    made = comparable_undo(action.changes)
    before = len(made) - len(wanted)
    # Reports that came later are settled first, where their games go.
    settles = all(isinstance(change, SuggestionDecided) for change in made[: max(before, 0)])
    if not settles or made[max(before, 0) :] != wanted:
        named = " and ".join(map(str, undone_ids))
        return [f"Action {number} undoes action {named}, but its changes are not the opposite ones."]
    return []
