"""Checks of pairings: rules that hold at any time, and rules for newly drawn rounds.

Source: formats, sections 3, 7 and 9.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from silverball.rules.model.changes import Change, GameOpened, RoundOpened
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.verify.replay import ReplayState

GROUP_FORMATS = {"group_knockout", "group_matchplay", "target", "pace_matchplay"}
PAIR_FORMATS = {"knockout", "matchplay"}
ONE_GAME_AT_ONCE = {"max_matchplay", "frenzy", "best_game", "card_best_game"}
SEVERAL_GROUPS = {"manual_matchplay", "frenzy", "max_matchplay"}
EACH_ARENA_ONCE = GROUP_FORMATS | PAIR_FORMATS | {"round_robin", "double_round_robin", "group_bracket"}
# With this pairing a bye may go to any player who does not have the most.
FEWER_IS_ENOUGH = "strictswiss"


def state_faults(tournament: Tournament) -> list[str]:
    """Violations of rules that hold at any moment of a tournament."""
    faults = [
        f"Game {game.game_id} has a player twice."
        for game in tournament.games
        if len(set(game.player_ids)) != len(game.player_ids)
    ]
    known = {entrant.player_id for entrant in tournament.entrants}
    for game in tournament.games:
        faults += [
            f"Player {player_id} of game {game.game_id} is no entrant."
            for player_id in game.player_ids
            if player_id not in known
        ]
    if tournament.type not in SEVERAL_GROUPS and not _has_groups(tournament):
        faults += _twice_in_round_faults(tournament)
    if tournament.type in ONE_GAME_AT_ONCE:
        playing = [
            player_id
            for game in tournament.games
            if game.status == "started"
            for player_id in game.player_ids
        ]
        playing += [game.player_id for game in tournament.single_player_games if game.status == "started"]
        faults += [
            f"Player {player_id} is in two open games at once." for player_id in _repeated_values(playing)
        ]
    return faults


def _has_groups(tournament: Tournament) -> bool:
    """Whether it is a round robin in groups, whose rounds have several games per player."""
    return bool(getattr(tournament.settings, "round_robin_group_size", 0))


def _twice_in_round_faults(tournament: Tournament) -> list[str]:
    faults = []
    for round_ in tournament.rounds:
        groups: dict[Any, set[int]] = {}
        for game in tournament.games:
            if game.round_id == round_.round_id and not game.is_tiebreak:
                key = ("bye", game.game_id) if game.is_bye else ("set", game.set_number)
                groups.setdefault(key, set()).update(game.player_ids)
        seats = [player_id for group in groups.values() for player_id in group]
        faults += [
            f"Player {player_id} is in two groups of {round_.name} ({round_.round_id})."
            for player_id in _repeated_values(seats)
        ]
    return faults


def _repeated_values(values: Iterable[int]) -> list[int]:
    return sorted(value for value, count in Counter(values).items() if count > 1)


def draw_faults(type_: str, before: ReplayState, changes: Sequence[Change], action_id: int) -> list[str]:
    """Faults of the rounds that an action drew. Takes the state before the action."""
    faults = []
    for change in changes:
        if isinstance(change, RoundOpened):
            games = [
                opened.thing
                for opened in changes
                if isinstance(opened, GameOpened) and opened.thing.round_id == change.thing.round_id
            ]
            label = f"{change.thing.name}, drawn by action {action_id},"
            faults += _round_faults(type_, before, games, label)
    return faults


def _round_faults(type_: str, before: ReplayState, games: Sequence[Game], label: str) -> list[str]:
    faults = []
    byes = [game.player_ids[0] for game in games if game.is_bye]
    played = [game for game in games if not game.is_bye]
    if type_ in EACH_ARENA_ONCE:
        arenas = Counter(_wave_key(type_, game) for game in played if game.arena_id is not None)
        faults += [
            f"{label} has arena {wave[1]} twice at once." for wave, count in arenas.items() if count > 1
        ]
    groups = {game.set_number: game.player_ids for game in played}
    players = [player_id for group in groups.values() for player_id in group] + byes
    if type_ in GROUP_FORMATS | PAIR_FORMATS and _repeated_values(players):
        faults.append(f"{label} has player {_repeated_values(players)[0]} twice.")
    sizes = sorted(len(group) for group in groups.values())
    if type_ in GROUP_FORMATS and (sizes != expected_group_sizes(len(players)) or byes):
        faults.append(
            f"{label} has groups of {sizes} for {len(players)} players, not {expected_group_sizes(len(players))}."  # noqa: E501
        )
    if type_ in PAIR_FORMATS and (set(sizes) - {2} or len(byes) != len(players) % 2):
        faults.append(f"{label} does not put {len(players)} players in pairs and one bye at most.")
    if type_ in PAIR_FORMATS:
        faults += _bye_faults(before, byes, players, label)
    return faults


def _wave_key(type_: str, game: Game) -> tuple[int | None, int | None]:
    # A pair of a double round robin plays its two games one after the other on one arena.
    index = None if type_ == "double_round_robin" else game.game_index
    return (index, game.arena_id)


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
