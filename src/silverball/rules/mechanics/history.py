"""Earlier meetings, arenas and slots, as draws need them. Source: formats, sections 6 to 9."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.pairing import history
from silverball.rules.pairing.history import DrawHistory


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
    rounds = [
        groups_in_games(tournament.games_by_round.get(round_.round_id, ()))
        for round_ in tournament.rounds_in_order
    ]
    if with_series:
        # One list per group: two players who met on two nights met twice.
        rounds += [[group] for group in tournament.state.series_groups]
    past = history.history_of_rounds(rounds)
    byes = Counter(past.byes)
    byes.update(
        {entrant.player_id: entrant.byes_credited for entrant in tournament.entrants if entrant.byes_credited}
    )
    return DrawHistory(past.meetings, byes, past.short_groups)


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
