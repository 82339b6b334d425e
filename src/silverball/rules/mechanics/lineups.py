"""Arenas and playing orders of a round's groups, by the tournament's own settings."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from random import Random

from msgspec import UNSET, Struct

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.values import replace
from silverball.rules.drawing import arenas, history, order
from silverball.rules.drawing.arenas import DrawableArena
from silverball.rules.drawing.groups import GROUP_SIZE, Group
from silverball.rules.drawing.history import DrawHistory
from silverball.rules.model import settings_protocols
from silverball.rules.model.tournament import Game, Tournament

# Earlier meetings, arenas and slots, as draws need them. Source: formats, sections 6 to 9.


def groups_in_games(games: Sequence[Game]) -> list[tuple[int, ...]]:
    """The groups of a round, each once however many games it played; a bye is a group of one."""
    return joined_groups(
        ((game.set_number, game.game_id if game.is_bye else 0), game.player_ids)
        for game in games
        if not game.is_tiebreak
    )


def joined_groups(games: Iterable[tuple[Hashable, Sequence[int]]]) -> list[tuple[int, ...]]:
    """The groups that played these games, each once. Takes the key of the group and the players.

    Games under one key are of one group if they share a player: in double elimination all games of one
    side of the bracket have the same `set`.
    """
    groups_by_key: dict[Hashable, list[set[int]]] = {}
    in_order: list[set[int]] = []
    for key, player_ids in games:
        groups = groups_by_key.setdefault(key, [])
        group = next((group for group in groups if not group.isdisjoint(player_ids)), None)
        if group is None:
            group = set()
            groups.append(group)
            in_order.append(group)
        group.update(player_ids)
    return [tuple(sorted(players)) for players in in_order]


def pairing_history(tournament: Tournament, *, with_series: bool = False) -> DrawHistory:
    """Meetings, byes and short groups; byes credited on entry count too.

    With `with_series` the groups of the other tournaments of the series are added (formats, 6.8).
    """
    # One list per group: two players who met on two nights met twice.
    rounds = [[group] for group in tournament.state.series_groups] if with_series else []
    rounds += [
        groups_in_games(tournament.games_by_round.get(round_.round_id, ()))
        for round_ in tournament.rounds_in_order
    ]
    past = history.history_of_rounds(rounds)
    byes = Counter(past.byes)
    byes.update(
        {entrant.player_id: entrant.byes_credited for entrant in tournament.entrants if entrant.byes_credited}
    )
    return replace(past, byes=byes)


def arena_plays(tournament: Tournament, *, with_series: bool = False) -> dict[int, dict[int, int]]:
    """Player id -> arena id -> games played on it, open ones and single player games included."""
    plays: dict[int, dict[int, int]] = {}
    if with_series:
        plays = {player: dict(counts) for player, counts in tournament.state.series_plays.items()}
    played = [(game.arena_id, game.player_ids) for game in tournament.games]
    played += [(attempt.arena_id, (attempt.player_id,)) for attempt in tournament.single_player_games]
    for arena_id, player_ids in played:
        if arena_id is not None:
            for player_id in player_ids:
                counts = plays.setdefault(player_id, {})
                counts[arena_id] = counts.get(arena_id, 0) + 1
    return plays


def balanced_plays(tournament: Tournament) -> dict[int, dict[int, int]] | None:
    """The arena plays by which the tournament gives out its arenas; None where it does not balance them."""
    assignment = settings_protocols.arena_assignment(tournament.settings, default="disabled")
    if assignment not in {"balanced", "balanced_series"}:
        return None
    return arena_plays(tournament, with_series=assignment == "balanced_series")


def arena_plays_of(tournament: Tournament, player_ids: Sequence[int]) -> dict[int, dict[int, int]]:
    """The arena plays of these players, without the series: player id -> arena id -> games."""
    plays: dict[int, dict[int, int]] = {}
    for player_id in player_ids:
        arena_ids = [game.arena_id for game in tournament.games_by_player.get(player_id, ())]
        arena_ids += [attempt.arena_id for attempt in tournament.attempts_by_player.get(player_id, ())]
        counts = Counter(arena_id for arena_id in arena_ids if arena_id is not None)
        if counts:
            plays[player_id] = dict(counts)
    return plays


def bank_plays(tournament: Tournament) -> dict[int, dict[int, int]]:
    """Player id -> bank id -> rounds played on it."""
    rounds_on_banks: set[tuple[int, int, int | None]] = set()
    for game in tournament.games:
        if game.bank_id is not None:
            rounds_on_banks.update((player_id, game.bank_id, game.round_id) for player_id in game.player_ids)
    plays: dict[int, dict[int, int]] = {}
    for player_id, bank_id, _round_id in rounds_on_banks:
        counts = plays.setdefault(player_id, {})
        counts[bank_id] = counts.get(bank_id, 0) + 1
    return plays


def slot_counts(tournament: Tournament) -> Mapping[int, Mapping[int, int]]:
    """Player id -> slot (from 0) -> times played in it; byes have no slot."""
    counts: dict[int, dict[int, int]] = {}
    for game in tournament.games:
        if game.is_bye:
            continue
        for slot, player_id in enumerate(game.player_ids):
            own = counts.setdefault(player_id, {})
            own[slot] = own.get(slot, 0) + 1
    return counts


class ArenaOutOfService(Conflict):
    sentence = "{arena} is out of service. Choose another one."


class ArenaTaken(Conflict):
    sentence = "{arena} is taken by {game}. Choose another one."


class ArenaForFewerPlayers(Conflict):
    sentence = "{arena} is for {most} players at once, and these are {count}. Choose another one."


class GroupAssignment(Struct, frozen=True):
    """An arena (None when chosen later) and a playing order for each game of a group."""

    arena_ids: tuple[int | None, ...]
    playing_orders: tuple[tuple[int, ...], ...]
    bank_id: int | None = None


def assign_groups(
    tournament: Tournament,
    groups: Sequence[Group],
    *,
    games: int,
    positions: Mapping[int, int],
    dice: Random,
) -> list[GroupAssignment]:
    """One assignment per group, for `games` games each.

    Takes the positions in the standings by player id, for `playerOrder: position`.
    Source: formats, sections 7 and 8.
    """
    assigned = _assign_arenas(tournament, groups, games, dice)
    player_order = settings_protocols.player_order(tournament.settings, default="seed")
    facts = order.OrderFacts(slot_counts(tournament), _seed_ranks(tournament), positions)
    return [
        GroupAssignment(
            arena_ids, tuple(order.draw_orders(player_order, group, facts, games=games, dice=dice)), bank_id
        )
        for group, (bank_id, arena_ids) in zip(groups, assigned, strict=True)
    ]


def _seed_ranks(tournament: Tournament) -> dict[int, int]:
    return {
        entrant.player_id: entrant.seed_rank
        for entrant in tournament.entrants
        if entrant.seed_rank is not None
    }


def available_arenas(tournament: Tournament) -> list[DrawableArena]:
    """The active arenas of the tournament."""
    return [
        DrawableArena(
            lineup_arena.arena_id,
            lineup_arena.is_preferred,
            lineup_arena.category_id,
            players_max_on(tournament, lineup_arena.arena_id),
        )
        for lineup_arena in tournament.lineup
        if lineup_arena.is_active
    ]


def players_max_on(tournament: Tournament, arena_id: int) -> int:
    """How many may play an arena at once: a group of four, unless the machine database knows of fewer."""
    return tournament.state.players_max_on(arena_id) or GROUP_SIZE


def untaken_arenas(tournament: Tournament) -> list[DrawableArena]:
    """The active arenas on which no game of this tournament is being played."""
    taken = {game.arena_id for game in tournament.open_games}
    return [arena for arena in available_arenas(tournament) if arena.arena_id not in taken]


def free_arenas(tournament: Tournament) -> list[DrawableArena]:
    """The active arenas on which no game is being played, here or in a tournament that shares the room."""
    return without_busy(tournament, untaken_arenas(tournament))


def without_busy(tournament: Tournament, choice: Sequence[DrawableArena]) -> list[DrawableArena]:
    """Those of the arenas that are not busy in another tournament."""
    busy = tournament.state.busy_arena_ids
    return [arena for arena in choice if arena.arena_id not in busy]


def _passing_over_busy(
    tournament: Tournament, choice: Sequence[DrawableArena], wanted: int
) -> list[DrawableArena]:
    """The arenas of a draw: busy ones are passed over while there are so many others.

    Where they are needed, only as many as are missing; games on them wait.
    """
    idle = without_busy(tournament, choice)
    busy = [arena for arena in choice if arena not in idle]
    passed_over = busy[max(0, wanted - len(idle)) :]
    return [arena for arena in choice if arena not in passed_over]


def _drawable_arenas(
    tournament: Tournament, wanted: int, *, fewest: int, by_category: bool
) -> list[DrawableArena]:
    """The arenas of a draw, in each category so many where categories are drawn one after the other.

    Without those that are not even for the `fewest` players of a group.
    """
    choice = [arena for arena in available_arenas(tournament) if arena.players_max >= fewest]
    if not by_category:
        return _passing_over_busy(tournament, choice, wanted)
    categories = {arena.category_id for arena in choice}
    kept = [
        arena
        for category in categories
        for arena in _passing_over_busy(
            tournament, [arena for arena in choice if arena.category_id == category], wanted
        )
    ]
    return [arena for arena in choice if arena in kept]


def _drawable_banks(tournament: Tournament, wanted: int) -> list[arenas.DrawableBank]:
    """The banks of a draw; those with a busy arena are passed over while there are enough others."""
    choice = [
        arenas.DrawableBank(
            bank.bank_id,
            bank.arena_ids,
            min((players_max_on(tournament, arena_id) for arena_id in bank.arena_ids), default=GROUP_SIZE),
        )
        for bank in tournament.banks
    ]
    busy = set(tournament.state.busy_arena_ids)
    idle = [bank for bank in choice if not busy.intersection(bank.arena_ids)]
    return idle if len(idle) >= wanted else choice


def _assign_arenas(
    tournament: Tournament, groups: Sequence[Group], games: int, dice: Random
) -> list[tuple[int | None, tuple[int | None, ...]]]:
    """Bank id and arena ids per group."""
    assignment = settings_protocols.arena_assignment(tournament.settings, default="disabled")
    if assignment == "banks":
        choice = _drawable_banks(tournament, len(groups))
        drawn = arenas.assign_banks(groups, choice, bank_plays(tournament), waves=games, dice=dice)
        return [(bank.bank_id, tuple(bank.arenas)) for bank in drawn]
    if assignment in {"manual", "disabled", "manual_banks"}:
        return [(None, (None,) * games) for _ in groups]
    by_category = assignment == "category_banks"
    drawable = _drawable_arenas(
        tournament,
        max(len(groups), games),
        fewest=min(map(len, groups), default=0),
        by_category=by_category,
    )
    if assignment == "random":
        lineups = arenas.assign_random(groups, drawable, waves=games, dice=dice)
        return [(None, arena_ids) for arena_ids in lineups]
    plays = arena_plays(tournament, with_series=assignment == "balanced_series")
    assign = arenas.assign_by_category if by_category else arenas.assign_balanced
    return [(None, arena_ids) for arena_ids in assign(groups, drawable, plays, waves=games, dice=dice)]


def draw_replacement(
    tournament: Tournament, group: Group, excluded: Sequence[int], dice: Random
) -> int | None:
    """Another free arena for a group, of least cost; None when there is none. Source: formats, section 7."""
    plays = arena_plays(tournament)
    return arenas.draw_replacement(group, free_arenas(tournament), plays, excluded, dice)


def draw_other_arena(tournament: Tournament, game: Game, dice: Random) -> int | None:
    """Another arena for an open game: of least cost, and new to its group in this round if there is one.

    One that is busy in another tournament only when there is no other; None when every other arena is
    taken here. Source: formats, section 7.
    """
    taken = games_by_taken_arena(tournament, game)
    choice = [arena for arena in available_arenas(tournament) if arena.arena_id not in taken]
    idle = without_busy(tournament, choice)
    found = _draw_for_game(tournament, game, idle, dice)
    return (
        found
        if found is not None or len(idle) == len(choice)
        else _draw_for_game(tournament, game, choice, dice)
    )


def _draw_for_game(
    tournament: Tournament, game: Game, choice: Sequence[DrawableArena], dice: Random
) -> int | None:
    plays = arena_plays(tournament)
    used = {other.arena_id for other in games_of_group(tournament, game)} - {None}
    excluded = [arena_id for arena_id in used if arena_id is not None]
    arena_id = arenas.draw_replacement(game.player_ids, choice, plays, excluded, dice)
    if arena_id is not None or game.arena_id is None:
        return arena_id
    return arenas.draw_replacement(game.player_ids, choice, plays, [game.arena_id], dice)


def games_of_group(tournament: Tournament, game: Game) -> list[Game]:
    """The games of a group in its round, this one included; outside a round just the game.

    A match of a bracket is one game.
    """
    if game.round_id is None or game.is_bye or tournament.settings.has_matches:
        return [game]
    return [
        each
        for each in tournament.games_by_round.get(game.round_id, ())
        if each.set_number == game.set_number and not each.is_bye and each.is_tiebreak == game.is_tiebreak
    ]


def games_by_taken_arena(tournament: Tournament, game: Game | None) -> dict[int, int]:
    """Arena id -> the started game on it that is played at the same time as this one.

    Groups of a round may use an arena one after the other: in games of different numbers.
    """
    taken: dict[int, int] = {}
    has_matches = tournament.settings.has_matches
    for other in tournament.open_games:
        if other.arena_id is not None and _is_simultaneous(other, game, has_matches=has_matches):
            taken[other.arena_id] = other.game_id
    return taken


def _is_simultaneous(other: Game, game: Game | None, *, has_matches: bool) -> bool:
    if game is None:
        return True
    if other.game_id == game.game_id:
        return False
    if has_matches:
        return True
    is_same_round = other.round_id is not None and other.round_id == game.round_id
    return not is_same_round or other.game_index == game.game_index


def game_on_arena(game: Game, arena_id: int | None) -> Game:
    """The game on another arena, where it no longer waits for the one before."""
    if arena_id == game.arena_id:
        return replace(game, bank_id=None)
    return replace(game, arena_id=arena_id, bank_id=None, waiting_since=UNSET)


def require_large_enough(tournament: Tournament, arena_id: int, count: int) -> None:
    """Refuse an arena for fewer players than so many. Raises Conflict."""
    most = players_max_on(tournament, arena_id)
    if count > most:
        raise ArenaForFewerPlayers(arena=arena_id, most=most, count=count)


def require_playable_arena(
    tournament: Tournament, arena_id: int, count: int, game: Game | None = None
) -> None:
    """Refuse an arena that so many players cannot play now; `game` is the open game to move there.

    Raises Invalid for a strange arena, Conflict for one that is out of service, taken or for fewer.
    """
    if arena_id not in {lineup_arena.arena_id for lineup_arena in tournament.lineup}:
        raise Invalid(
            {"arenaId": [Sentence("{arena} is not in this tournament. Add it first.", arena=arena_id)]}
        )
    if arena_id not in {arena.arena_id for arena in available_arenas(tournament)}:
        raise ArenaOutOfService(arena=arena_id)
    require_large_enough(tournament, arena_id, count)
    taken_by = games_by_taken_arena(tournament, game).get(arena_id)
    if taken_by is not None:
        raise ArenaTaken(arena=arena_id, game=taken_by)
