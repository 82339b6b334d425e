"""The draw of the next round, by the tournament's own settings. Source: formats, sections 5 and 6."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.drawing import apart, balanced, swiss, tiers
from silverball.rules.drawing.groups import PAIR_SIZE, Draw
from silverball.rules.mechanics import lineups, seeding
from silverball.rules.model import settings_protocols
from silverball.rules.model.settings_protocols import HasFirstRoundPairing, HasPairing, has
from silverball.rules.model.tournament import Tournament


class PairingField(Struct, frozen=True, kw_only=True):
    """The players of a draw, and the facts that it may use."""

    # Best seed first.
    player_ids: tuple[int, ...]
    # Higher is better: points, or strikes with the sign reversed.
    scores: Mapping[int, Decimal]
    # Best standing first.
    ranking: tuple[int, ...]
    group_size: int
    # Whether groups of three are at the bottom of the table, as in strikes, instead of at any level.
    keeps_threes_low: bool = False
    # Player id -> score as the tournament stood before one of its rounds.
    scores_of: Callable[[Tournament], Mapping[int, Decimal]]


def draw_groups(tournament: Tournament, field: PairingField, dice: Random) -> Draw:
    """The groups and byes of the next round, with the pairs apart that should not meet.

    Tiers decide the first round too; otherwise it goes by `firstRoundPairing`, and every later one by
    `pairing`.
    """
    draw = _draw_as_set(tournament, field, dice)
    if not tournament.state.apart:
        return draw
    settings = tournament.settings
    facts = apart.ApartFacts(
        pairs=frozenset(tournament.state.apart),
        past=lineups.pairing_history(tournament),
        scores=field.scores,
        is_by_score=has(settings, HasPairing) and settings.pairing in {"swiss", "strictswiss", "tiers"},
    )
    return apart.keep_apart(draw, facts)


def _draw_as_set(tournament: Tournament, field: PairingField, dice: Random) -> Draw:
    settings = tournament.settings
    pairing = settings.pairing if has(settings, HasPairing) else "balanced"
    if pairing == "tiers" and field.group_size != PAIR_SIZE:
        return _draw_tiers(tournament, field, dice)
    if not any(round_.status == "completed" for round_ in tournament.rounds):
        return _draw_first_round(tournament, field, dice)
    if field.group_size == PAIR_SIZE:
        return _draw_pairs(tournament, field, pairing, dice)
    return _draw_groups_of_four(tournament, field, pairing, dice)


def _draw_first_round(tournament: Tournament, field: PairingField, dice: Random) -> Draw:
    settings = tournament.settings
    first_pairing = settings.first_round_pairing if has(settings, HasFirstRoundPairing) else "random"
    if field.group_size == PAIR_SIZE:
        return tiers.draw_pairs(first_pairing, field.player_ids, dice)
    return tiers.draw_groups(first_pairing, field.player_ids, dice)


def _draw_pairs(tournament: Tournament, field: PairingField, pairing: str, dice: Random) -> Draw:
    past = lineups.pairing_history(tournament, with_series=pairing == "balanced_series")
    if pairing == "random":
        return balanced.draw_random_pairs(field.player_ids, past, dice)
    rounds = len(tournament.rounds)
    if pairing == "swiss":
        # A night without a number of rounds counts as if everybody could meet everybody.
        planned = settings_protocols.rounds_planned(tournament.settings) or len(field.player_ids)
        is_first_half = 2 * rounds < planned
        return swiss.draw_swiss_pairs(field.scores, past, dice, rounds=rounds, avoids_repeats=is_first_half)
    if pairing == "strictswiss":
        past = replace(past, floats=_floats(tournament, field))
        return swiss.draw_strict_swiss_pairs(field.scores, past, dice, rounds=rounds)
    past = apart.with_meetings(past, frozenset(tournament.state.apart))
    return balanced.draw_balanced_pairs(field.player_ids, past, dice)


def _floats(tournament: Tournament, field: PairingField) -> Counter[int]:
    """Player id -> opponents who had another score before the round, by the results of now."""
    floats: Counter[int] = Counter()
    for number, round_ in enumerate(tournament.rounds_in_order):
        earlier = tournament.rounds_in_order[:number]
        earlier_ids = {each.round_id for each in earlier}
        games = tuple(game for game in tournament.games if game.round_id in earlier_ids)
        scores = field.scores_of(replace(tournament, rounds=tuple(earlier), games=games))
        for group in lineups.groups_in_games(tournament.games_by_round.get(round_.round_id, ())):
            if len({scores.get(player_id, Decimal(0)) for player_id in group}) > 1:
                floats.update(group)
    return floats


def _draw_groups_of_four(tournament: Tournament, field: PairingField, pairing: str, dice: Random) -> Draw:
    past = lineups.pairing_history(tournament, with_series=pairing == "balanced_series")
    if pairing == "random":
        return balanced.draw_random_groups(field.player_ids, dice)
    if pairing in {"swiss", "strictswiss"}:
        return swiss.draw_groups(field.scores, past, dice, keeps_threes_low=field.keeps_threes_low)
    past = apart.with_meetings(past, frozenset(tournament.state.apart))
    return balanced.draw_balanced_groups(field.player_ids, past, dice)


def _draw_tiers(tournament: Tournament, field: PairingField, dice: Random) -> Draw:
    rounds = settings_protocols.rounds_planned(tournament.settings)
    index = len(tournament.rounds)
    if not tiers.has_round(rounds, index, len(field.player_ids)):
        return _draw_groups_of_four(tournament, field, "balanced", dice)
    ranking = field.player_ids if index == 0 else field.ranking
    return tiers.tier_groups(ranking, rounds, index)


def rank_by_score(scores: Mapping[int, Decimal], player_ids: Sequence[int], dice: Random) -> tuple[int, ...]:
    """Player ids by score, highest first, ties drawn."""
    drawn = dice.sample(list(player_ids), len(player_ids))
    return tuple(sorted(drawn, key=lambda player_id: -scores.get(player_id, Decimal(0))))


def sort_by_seed(tournament: Tournament, player_ids: Sequence[int]) -> tuple[int, ...]:
    """These players, best seed first."""
    wanted = set(player_ids)
    return tuple(player_id for player_id in seeding.ids_by_seed(tournament) if player_id in wanted)
