"""Who may meet whom: what holds at any time, and what must hold when a round is drawn.

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
# Byes go to any of those who have fewer than others.
FEWER_IS_ENOUGH = "strictswiss"


def state_faults(tournament: Tournament) -> list[str]:
    """What no moment of a tournament may show."""
    found = [
        f"Game {game.game_id} has a player twice."
        for game in tournament.games
        if len(set(game.player_ids)) != len(game.player_ids)
    ]
    known = {one.player_id for one in tournament.entrants}
    for game in tournament.games:
        found += [
            f"Player {one} of game {game.game_id} is no entrant."
            for one in game.player_ids
            if one not in known
        ]
    if tournament.type not in SEVERAL_GROUPS and not _has_groups(tournament):
        found += _twice_in_round_faults(tournament)
    if tournament.type in ONE_GAME_AT_ONCE:
        playing = [one for game in tournament.games if game.status == "started" for one in game.player_ids]
        playing += [one.player_id for one in tournament.single_player_games if one.status == "started"]
        found += [f"Player {one} is in two open games at once." for one in _repeated_values(playing)]
    return found


def _has_groups(tournament: Tournament) -> bool:
    """Round robins in groups have a round for each group, in which everybody plays several games."""
    return bool(getattr(tournament.settings, "round_robin_group_size", 0))


def _twice_in_round_faults(tournament: Tournament) -> list[str]:
    found = []
    for one in tournament.rounds:
        groups: dict[Any, set[int]] = {}
        for game in tournament.games:
            if game.round_id == one.round_id and not game.is_tiebreak:
                key = ("bye", game.game_id) if game.is_bye else ("set", game.set_number)
                groups.setdefault(key, set()).update(game.player_ids)
        seats = [player_id for group in groups.values() for player_id in group]
        found += [
            f"Player {player_id} is in two groups of {one.name} ({one.round_id})."
            for player_id in _repeated_values(seats)
        ]
    return found


def _repeated_values(values: Iterable[int]) -> list[int]:
    return sorted(value for value, count in Counter(values).items() if count > 1)


def draw_faults(type_: str, before: ReplayState, changes: Sequence[Change], action_id: int) -> list[str]:
    """What is wrong with the rounds that an action drew. Takes the book as it was before the action."""
    found = []
    for change in changes:
        if isinstance(change, RoundOpened):
            games = [
                one.thing
                for one in changes
                if isinstance(one, GameOpened) and one.thing.round_id == change.thing.round_id
            ]
            told = f"{change.thing.name}, drawn by action {action_id},"
            found += _round_faults(type_, before, games, told)
    return found


def _round_faults(type_: str, before: ReplayState, games: Sequence[Game], told: str) -> list[str]:
    found = []
    byes = [game.player_ids[0] for game in games if game.is_bye]
    played = [game for game in games if not game.is_bye]
    if type_ in EACH_ARENA_ONCE:
        arenas = Counter(_wave_key(type_, game) for game in played if game.arena_id is not None)
        found += [f"{told} has arena {wave[1]} twice at once." for wave, count in arenas.items() if count > 1]
    groups = {game.set_number: game.player_ids for game in played}
    players = [player_id for group in groups.values() for player_id in group] + byes
    if type_ in GROUP_FORMATS | PAIR_FORMATS and _repeated_values(players):
        found.append(f"{told} has player {_repeated_values(players)[0]} twice.")
    sizes = sorted(len(group) for group in groups.values())
    if type_ in GROUP_FORMATS and (sizes != expected_group_sizes(len(players)) or byes):
        found.append(
            f"{told} has groups of {sizes} for {len(players)} players, not {expected_group_sizes(len(players))}."  # noqa: E501
        )
    if type_ in PAIR_FORMATS and (set(sizes) - {2} or len(byes) != len(players) % 2):
        found.append(f"{told} does not put {len(players)} players in pairs and one bye at most.")
    if type_ in PAIR_FORMATS:
        found += _bye_faults(before, byes, players, told)
    return found


def _wave_key(type_: str, game: Game) -> tuple[int | None, int | None]:
    # The two games of a pair in a double round robin follow each other on one arena.
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


def _bye_faults(before: ReplayState, byes: Sequence[int], players: Sequence[int], told: str) -> list[str]:
    """A bye goes to whoever has had the fewest; before the first result it goes by seeds."""
    if not any(one.status == "completed" for one in before.items_of_part("rounds")):
        return []
    counted: Counter[int] = Counter(
        {one.player_id: one.byes_credited for one in before.items_of_part("entrants")}
    )
    for game in before.items_of_part("games"):
        if game.is_bye and not game.is_tiebreak and game.round_id is not None:
            counted.update(game.player_ids)
    fewest = min((counted[one] for one in players), default=0)
    most = max((counted[one] for one in players), default=0)
    is_strict = before.tournament_fields["settings"].get("pairing") == FEWER_IS_ENOUGH
    return [
        f"{told} gives player {one} bye number {counted[one] + 1} while others have had {fewest}."
        for one in byes
        if counted[one] != fewest and not (is_strict and counted[one] < most)
    ]
