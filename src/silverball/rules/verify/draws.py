"""Checks of pairings: rules that hold at any time, and rules for newly drawn rounds.

Source: formats, sections 3, 7 and 9.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from silverball.rules.model.changes import Change, GameOpened, RoundOpened
from silverball.rules.model.settings_protocols import HasRoundRobinGroups, has
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.verify.checks import ArenaUse, DrawnGroups, FormatChecks
from silverball.rules.verify.replay import ReplayState

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
    return faults


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
