"""What a round's groups play on, and in which order, by the tournament's own settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from silverball.rules import history
from silverball.rules.lineup import arenas, order
from silverball.rules.lineup.arenas import Arena
from silverball.rules.pairing.groups import Group
from silverball.rules.tournament import Tournament


@dataclass(frozen=True)
class Seats:
    """What one group got: an arena (None when it is chosen later) and a playing order per game."""

    arena_ids: tuple[int | None, ...]
    orders: tuple[tuple[int, ...], ...]
    bank_id: int | None = None


def seats(
    tournament: Tournament,
    groups: Sequence[Group],
    *,
    games: int,
    positions: Mapping[int, int],
    dice: Random,
) -> list[Seats]:
    """One Seats per group, for `games` games each.

    Takes the positions in the standings by player id, for `playerOrder: position`.
    Source: formats, sections 7 and 8.
    """
    given = _arenas(tournament, groups, games, dice)
    way = getattr(tournament.settings, "player_order", order.SEED)
    facts = order.Facts(history.slots(tournament), _seed_ranks(tournament), positions)
    return [
        Seats(arena_ids, tuple(order.orders(way, group, facts, games=games, dice=dice)), bank_id)
        for group, (bank_id, arena_ids) in zip(groups, given, strict=True)
    ]


def _seed_ranks(tournament: Tournament) -> dict[int, int]:
    return {one.player_id: one.seed_rank for one in tournament.entrants if one.seed_rank is not None}


def available(tournament: Tournament) -> list[Arena]:
    """The active arenas of the tournament."""
    return [
        Arena(one.arena_id, one.is_preferred, one.category_id) for one in tournament.lineup if one.is_active
    ]


def free(tournament: Tournament) -> list[Arena]:
    """The active arenas on which no game is being played."""
    taken = {one.arena_id for one in tournament.games if one.status == "started"}
    return [one for one in available(tournament) if one.arena_id not in taken]


def _arenas(
    tournament: Tournament, groups: Sequence[Group], games: int, dice: Random
) -> list[tuple[int | None, tuple[int | None, ...]]]:
    """Bank id and arena ids per group."""
    way = getattr(tournament.settings, "arena_assignment", "disabled")
    if way == "banks":
        choice = [arenas.Bank(one.bank_id, one.arena_ids) for one in tournament.banks]
        drawn = arenas.banks(groups, choice, history.bank_plays(tournament), waves=games, dice=dice)
        return [(one.bank_id, tuple(one.arenas)) for one in drawn]
    if way in {"manual", "disabled", "manual_banks"}:
        return [(None, (None,) * games) for _ in groups]
    if way == "random":
        lineups = arenas.random(groups, available(tournament), waves=games, dice=dice)
        return [(None, one) for one in lineups]
    plays = history.arena_plays(tournament, with_series=way == "balanced_series")
    assign = arenas.category_banks if way == "category_banks" else arenas.balanced
    return [(None, one) for one in assign(groups, available(tournament), plays, waves=games, dice=dice)]


def replacement(tournament: Tournament, group: Group, excluded: Sequence[int], dice: Random) -> int | None:
    """Another free arena for a group, of least cost; None when there is none. Source: formats, section 7."""
    plays = history.arena_plays(tournament)
    return arenas.replacement(group, free(tournament), plays, excluded, dice)
