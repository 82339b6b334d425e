"""Meaningful games of planned nights with a known number of games. Source: ratings, B.3."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb

from silverball.kit.values import replace
from silverball.rules.drawing import bracket_nodes, elimination, groups
from silverball.rules.drawing.bracket_nodes import NodeKey, SeedSource, Source, WinnerSource
from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE, group_sizes
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.settings_protocols import (
    HasGroupBracket,
    HasLadderType,
    HasMatchRequests,
    HasRoundRobinGroups,
    games_per_round,
    has,
    rounds_planned,
)
from silverball.rules.planning.answers import (
    ASK_THE_FEDERATION,
    PLAIN,
    Circumstances,
    MeaningfulGames,
    MeaningfulGamesRule,
    no_number,
    shown_number,
)

# The weight of a game by the size of its group. Source: ratings, B.3.


# A player alone plays one game, whoever else plays.
GAME_WEIGHTS = {1: Fraction(1), 2: Fraction(1), 3: Fraction(3, 2), 4: Fraction(2)}


def round_weight(sizes: Sequence[int]) -> Fraction:
    """Return the weight of each game of a round: that of the size most groups have.

    Where two sizes are equal in number the federation's rule is not settled (`is_weight_unsettled`), and
    the smaller one counts.
    """
    counts = Counter(sizes)
    commonest = min(counts, key=lambda size: (-counts[size], size))
    return GAME_WEIGHTS[commonest]


def is_weight_unsettled(sizes: Sequence[int]) -> bool:
    """Return whether two sizes are equally common, which leaves the weight open (7, 14, 21 players)."""
    counts = Counter(size for size in sizes if size <= GROUP_SIZE)
    most = max(counts.values(), default=0)
    return sum(count == most for count in counts.values()) > 1


ROUNDS_OPEN = "The number of rounds is open. With one, the meaningful games are known."
MADE_BY_HAND = "The organizer makes every game. The number is known once they are played."
TOO_FEW = "There are fewer than two players."
EQUAL_NUMBERS = "As many groups have one size as another; the smaller size counts here. " + ASK_THE_FEDERATION
BYES_BY_DESIGN = "Some seeds skip a round. " + ASK_THE_FEDERATION
BYES_WITHOUT_RULE = "Some seeds skip a round, and no published rule says what that is worth."
# Rounds of a group bracket by its players: (fewest players, rounds). Source: vectors tgp.json, groupBrackets.
GROUP_BRACKET_ROUNDS = ((2, 1), (6, 2), (12, 3), (23, 4), (46, 5), (92, 6))
# Two out of each game: (fewest players, games). Source: vectors tgp.json, unsettled.
FAST_LADDER_GAMES = ((4, 2), (5, 3), (7, 4))
FAST_LADDER_MAX = 64
LADDER_UNSETTLED = "The readings of the rule for ladders differ. " + ASK_THE_FEDERATION


def rounds_in_pairs(
    settings: TournamentSettings, players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return one meaningful game for each game of each planned round; the odd one out changes nothing."""
    return _planned_rounds(settings, players, (PAIR_SIZE,))


def rounds_in_fours(
    settings: TournamentSettings, players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the games of the planned rounds, weighted by the size that most groups have."""
    return _planned_rounds(settings, players, group_sizes(players) if players > 1 else ())


def _planned_rounds(settings: TournamentSettings, players: int, sizes: Sequence[int]) -> MeaningfulGames:
    rounds, games = rounds_planned(settings), games_per_round(settings)
    if players < PAIR_SIZE:
        return no_number(TOO_FEW)
    if not rounds:
        return no_number(ROUNDS_OPEN)
    weight = round_weight(sizes)
    total = rounds * games * weight
    origin = (
        f"By the federation's rule: {rounds} rounds of {games} "
        f"{'game' if games == 1 else 'games'}, each worth {shown_number(weight)}."
    )
    is_unsettled = is_weight_unsettled(sizes)
    return MeaningfulGames(
        games=total,
        origin="rule",
        notes=(origin, EQUAL_NUMBERS) if is_unsettled else (origin,),
        games_of_next_round=games * weight,
        is_unsettled=is_unsettled,
    )


def fixed_games(
    settings: TournamentSettings, players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the number of games that each player plays head to head."""
    assert has(settings, HasMatchRequests)
    if players < PAIR_SIZE:
        return no_number(TOO_FEW)
    games = Fraction(settings.max_matchplay_duration)
    each = _exact(games, f"By the federation's rule: {games} games head to head.")
    return replace(each, games_of_next_round=Fraction(1))


def made_by_hand(
    _settings: TournamentSettings, _players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return no number: the organizer makes every game."""
    return no_number(MADE_BY_HAND)


def round_robin_rule(*, is_double: bool) -> MeaningfulGamesRule:
    """Return the rule of a round robin: a meaningful game for each game that a player plays in the mean."""

    def meaningful_games(
        settings: TournamentSettings, players: int, _circumstances: Circumstances = PLAIN, /
    ) -> MeaningfulGames:
        """Return the games of a player: all others of the group, once or twice."""
        if players < PAIR_SIZE:
            return no_number(TOO_FEW)
        sizes = _round_robin_sizes(settings, players)
        meetings = sum(size * (size - 1) for size in sizes) * (2 if is_double else 1)
        games = Fraction(meetings, players)
        if len(set(sizes)) == 1:
            return _exact(games, f"By the federation's rule: {shown_number(games)} games head to head.")
        reason = f"Ours: players of groups of different sizes play {shown_number(games)} games in the mean."
        return MeaningfulGames(games=games, origin="ours", notes=(reason,))

    return meaningful_games


def _round_robin_sizes(settings: TournamentSettings, players: int) -> list[int]:
    size = settings.round_robin_group_size if has(settings, HasRoundRobinGroups) else 0
    groups = max(1, players // size) if size else 1
    return [players // groups + (number < players % groups) for number in range(groups)]


def single_elimination(
    settings: TournamentSettings, players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the expected games of the winner's matches between equals: 2.5 for a match of three."""
    if players < PAIR_SIZE:
        return no_number(TOO_FEW)
    if players & (players - 1):
        return no_number(BYES_WITHOUT_RULE, is_unsettled=True)
    rounds, best_of = players.bit_length() - 1, games_per_round(settings)
    each = expected_match_games(best_of)
    source = "By the federation's rule" if best_of <= 3 else "Ours, as the rule counts matches of three"
    origin = (
        f"{source}: {rounds} rounds, a match between equals takes {shown_number(each)} games in the mean."
    )
    return MeaningfulGames(
        games=rounds * each,
        origin="rule" if best_of <= 3 else "ours",
        notes=(origin,),
        last_players=PAIR_SIZE,
    )


def expected_match_games(best_of: int) -> Fraction:
    """Return the mean number of games of a match between equals, in which more than half of the games win."""
    needed = best_of // 2 + 1
    # The match ends with game number `last` if its winner has one win fewer after the game before.
    return sum(
        (Fraction(last * comb(last - 1, needed - 1), 2 ** (last - 1)) for last in range(needed, best_of + 1)),
        Fraction(0),
    )


def double_elimination(
    settings: TournamentSettings, players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the expected games of the winner between equals, with byes to the best seeds and the reset."""
    if players < PAIR_SIZE:
        return no_number(TOO_FEW)
    if players > elimination.SIZES[-1]:
        return no_number(f"A bracket takes at most {elimination.SIZES[-1]} players.")
    best_of = games_per_round(settings)
    matches, each = matches_of_double_winner(players), expected_match_games(best_of)
    source = "By the calculator that the federation's guide names"
    if best_of > 3:
        source = "Ours, as the rule counts matches of three"
    origin = (
        f"{source}: the winner plays {shown_number(matches)} matches in the mean where all are equal, and a "
        f"match takes {shown_number(each)} games."
    )
    has_byes = players != elimination.size_for(players)
    return MeaningfulGames(
        games=matches * each,
        origin="rule" if best_of <= 3 else "ours",
        notes=(origin, BYES_BY_DESIGN) if has_byes else (origin,),
        last_players=PAIR_SIZE,
        is_unsettled=has_byes,
    )


@cache
def matches_of_double_winner(players: int) -> Fraction:
    """Return the expected matches of the winner of a double elimination in which each match is even.

    Each winner is equally likely either of two players, whatever both played before.
    """
    # Matches that the players of a node have behind them, in the mean; nobody comes where there is a bye.
    seats: dict[NodeKey, list[Fraction]] = {}
    for node in bracket_nodes.double_elimination_nodes(elimination.size_for(players)):
        if node.reset_of is not None:
            first, second = seats[node.reset_of]
            # Who has not lost yet wins the final in half of all cases; else both play once more.
            return (first + 1) / 2 + ((first + second) / 2 + 2) / 2
        seats[node.key] = [
            matches for source in node.sources for matches in _matches_behind(source, seats, players)
        ]
    raise ValueError("a double elimination ends with the reset")


def _matches_behind(
    source: Source, seats: Mapping[NodeKey, Sequence[Fraction]], players: int
) -> list[Fraction]:
    """The matches that a player who comes from here has behind them; empty when nobody comes."""
    if isinstance(source, SeedSource):
        return [Fraction(0)] if source.seed <= players else []
    before = seats[source.node]
    if len(before) == PAIR_SIZE:
        return [sum(before, Fraction(0)) / PAIR_SIZE + 1]
    return list(before) if isinstance(source, WinnerSource) else []


def group_elimination(
    settings: TournamentSettings, _players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return two meaningful games for each game of a group of four, by the table of its rounds."""
    assert has(settings, HasGroupBracket)
    size, games = settings.bracket_size, games_per_round(settings)
    rounds = groups.SHORT_ROUNDS if settings.is_short else rounds_of_group_bracket(size)
    total = rounds * games * GAME_WEIGHTS[GROUP_SIZE]
    origin = f"By the federation's rule for {size} players: {rounds} rounds of {games} games in fours."
    has_double_byes = bool(settings.group_bracket_double_byes) and size in groups.DOUBLE_BYE_SIZES
    has_byes = (size > GROUP_SIZE and size not in groups.FULL_SIZES) or has_double_byes
    return MeaningfulGames(
        games=total,
        origin="rule",
        notes=(origin, BYES_BY_DESIGN) if has_byes else (origin,),
        last_players=last_of_group_bracket(size, is_short=settings.is_short),
        is_unsettled=has_byes,
    )


def rounds_of_group_bracket(players: int) -> int:
    """Return the rounds that the federation's table counts for this number of players, from 4 on."""
    return _from_table(GROUP_BRACKET_ROUNDS, players)


def last_of_group_bracket(size: int, *, is_short: bool = False) -> int:
    """Return how many players a group bracket comes down to: its final, or sixteen of forty."""
    last = groups.planned_rounds(size, is_short=is_short)[-1].player_count
    return last // 2 if is_short else last


def _from_table(table: Sequence[tuple[int, int]], players: int) -> int:
    return [number for fewest, number in table if fewest <= players][-1]


def ladder(
    settings: TournamentSettings, players: int, _circumstances: Circumstances = PLAIN, /
) -> MeaningfulGames:
    """Return the number of a ladder: by the guide's table where two are out, else by the last three games.

    Both are one reading of several. Source: vectors tgp.json, unsettled.
    """
    assert has(settings, HasLadderType)
    if players < PAIR_SIZE:
        return no_number(TOO_FEW)
    if settings.ladder_type == "fast" and players >= GROUP_SIZE:
        if players > FAST_LADDER_MAX:
            return no_number("The guide's table for ladders ends with 64 players.", is_unsettled=True)
        games = Fraction(_from_table(FAST_LADDER_GAMES, players))
        origin = f"By the guide's table for ladders: {shown_number(games)} games for {players} players."
    else:
        games = sum(
            (GAME_WEIGHTS[size] for size in range(PAIR_SIZE, min(players, GROUP_SIZE) + 1)), Fraction(0)
        )
        origin = f"By the sizes of the winner's last games: {shown_number(games)}."
    return MeaningfulGames(
        games=games,
        origin="rule",
        notes=(origin, LADDER_UNSETTLED),
        last_players=min(players, GROUP_SIZE),
        is_unsettled=True,
    )


def without_rule(reason: str) -> MeaningfulGamesRule:
    """Return the rule of a format that has none: no number, for this reason."""

    def no_meaningful_games(
        _settings: TournamentSettings, _players: int, _circumstances: Circumstances = PLAIN, /
    ) -> MeaningfulGames:
        """Return no number, and the reason."""
        return no_number(reason, is_unsettled=True)

    return no_meaningful_games


def _exact(games: Fraction, origin: str) -> MeaningfulGames:
    return MeaningfulGames(games=games, origin="rule", notes=(origin,))
