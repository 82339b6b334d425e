"""Brackets drawn: rounds as columns, who meets whom in each match, who goes on.

All of it follows from the seeds and the results, as the formats read them; nothing is decided here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from silverball.kit.errors import Invalid
from silverball.rules.families import group_stages
from silverball.rules.families.brackets import BracketMatch, BracketRules
from silverball.rules.families.group_stages import GroupStageRules
from silverball.rules.formats import bracket, double_bracket, golf_bracket, group_bracket
from silverball.rules.model.tournament import Tournament
from silverball.rules.pairing import double_elimination
from silverball.rules.pairing.bracket_nodes import (
    BRONZE_PLACE,
    FIFTH_PLACE,
    NodeKey,
    SeedSource,
    WinnerSource,
)
from silverball.rules.pairing.double_elimination import Bracket
from silverball.rules.pairing.groups import GROUP_SIZE, Group
from silverball.rules.ranking.group_rounds import GroupRoundResult

SeatState: TypeAlias = Literal["", "won", "out"]
MATCH_PLAYS: Mapping[str, BracketRules] = {"bracket": bracket.RULES, "double_bracket": double_bracket.RULES}
GROUP_PLAYS: Mapping[str, GroupStageRules] = {
    "group_bracket": group_bracket.RULES,
    "golf_bracket": golf_bracket.RULES,
}
# Players that a round begins with -> what it is called.
ROUNDS: Mapping[int, str] = {2: "Final", 4: "Semifinals", 8: "Quarterfinals"}
GROUP_ROUNDS: Mapping[int, str] = {4: "Final", 8: "Semifinals"}
PLACES: Mapping[int, str] = {BRONZE_PLACE: "For third place", FIFTH_PLACE: "For fifth place"}
HALVES: Mapping[Bracket, str] = {
    Bracket.WINNERS: "Winners",
    Bracket.LOSERS: "Losers",
    Bracket.GRAND_FINAL: "Finals",
    Bracket.RESET: "Finals",
}


@dataclass(frozen=True, kw_only=True)
class BracketSeat:
    """A place in a match: who has it, or who will."""

    player_id: int | None = None
    # Who comes there, where the player is not known yet.
    placeholder: str = ""
    # Games won, points or strokes; empty where there is nothing to count.
    result_text: str = ""
    state: SeatState = ""


@dataclass(frozen=True, kw_only=True)
class MatchBox:
    """A match, or a group."""

    number: int
    title: str
    seats: Sequence[BracketSeat]
    # Where it is played at the moment.
    arena_id: int | None = None
    is_open: bool = False

    @property
    def has_players(self) -> bool:
        """Whether anybody is known to be in it."""
        return any(one.player_id for one in self.seats)


@dataclass(frozen=True)
class BracketColumn:
    """The matches of a round."""

    title: str
    boxes: Sequence[MatchBox]


@dataclass(frozen=True)
class BracketHalf:
    """Columns that belong together: the whole bracket, or the winners', the losers' and the finals."""

    title: str
    columns: Sequence[BracketColumn]


def bracket_halves(tournament: Tournament) -> list[BracketHalf]:
    """The bracket of this tournament; nothing in other formats, and before the start."""
    if tournament.status == "planned":
        return []
    try:
        if tournament.type in MATCH_PLAYS:
            return _match_halves(tournament, MATCH_PLAYS[tournament.type])
        if tournament.type in GROUP_PLAYS:
            return [BracketHalf("Bracket", _group_columns(tournament, GROUP_PLAYS[tournament.type]))]
    except Invalid:
        # An import may have a size that no bracket has; its rounds are shown all the same.
        return []
    return []


# Two in a match


def _match_halves(tournament: Tournament, play: BracketRules) -> list[BracketHalf]:
    found = play.matches(tournament)
    if any(match.stale_games for match in found.values()):
        # It was drawn elsewhere, by another plan than ours.
        return []
    numbers = {key: number for number, key in enumerate(found, start=1)}
    by_round: dict[int, list[BracketMatch]] = {}
    for match in found.values():
        by_round.setdefault(match.node.key[0], []).append(match)
    halves: dict[str, list[BracketColumn]] = {}
    for index, matches in by_round.items():
        half, title = _half_and_title(tournament, index, sum(not match.node.is_extra for match in matches))
        # A deciding final that nobody needs and a match of nobody are not drawn.
        shown = [match for match in matches if not match.is_unneeded and match.finishing_order != ()]
        if shown:
            boxes = [_match_box(match, numbers, tournament) for match in shown]
            halves.setdefault(half, []).append(BracketColumn(title, boxes))
    return [
        BracketHalf(title, halves[title])
        for title in dict.fromkeys(("Bracket", *HALVES.values()))
        if title in halves
    ]


def _half_and_title(tournament: Tournament, index: int, matches: int) -> tuple[str, str]:
    """The half that a round belongs to, and what it is called there."""
    usual = ROUNDS.get(2 * matches, f"Round of {2 * matches}")
    if tournament.type == "bracket":
        return "Bracket", usual
    size = getattr(tournament.settings, "bracket_size", 0)
    part, number = double_elimination.round_order(size)[index]
    if part is Bracket.WINNERS:
        return HALVES[part], usual
    own = {Bracket.GRAND_FINAL: "Grand final", Bracket.RESET: "Deciding final"}
    return HALVES[part], own.get(part, f"Round {number}")


def _match_box(match: BracketMatch, numbers: Mapping[NodeKey, int], tournament: Tournament) -> MatchBox:
    wins = [game.result_positions[0] for game in match.games if game.status == "completed"]
    is_counted = int(getattr(tournament.settings, "games_per_round", 1)) > 1
    seats = []
    for source, player_id in zip(match.node.sources, match.seats, strict=True):
        if player_id:
            told = str(wins.count(player_id)) if is_counted and len(match.player_ids) > 1 else ""
            seats.append(
                BracketSeat(player_id=player_id, result_text=told, state=_seat_state(match, player_id))
            )
        elif player_id is None:
            assert not isinstance(source, SeedSource)
            word = "Winner" if isinstance(source, WinnerSource) else "Loser"
            seats.append(BracketSeat(placeholder=f"{word} of {numbers[source.node]}"))
        else:
            seats.append(BracketSeat(placeholder="Nobody"))
    game = next((one for one in match.games if one.status != "completed"), None)
    return MatchBox(
        number=numbers[match.node.key],
        title=PLACES.get(match.node.winner_place or 0, ""),
        seats=seats,
        arena_id=game.arena_id if game else None,
        is_open=game is not None,
    )


def _seat_state(match: BracketMatch, player_id: int) -> SeatState:
    if not match.finishing_order:
        return ""
    return "won" if match.finishing_order[0] == player_id else "out"


# Groups of four


def _group_columns(tournament: Tournament, play: GroupStageRules) -> list[BracketColumn]:
    rounds = tournament.rounds_in_order
    columns, number = [], 0
    for index, stage in enumerate(group_stages.planned_stages(tournament)):
        is_final = stage.player_count == GROUP_SIZE
        result = play.round_result(tournament, rounds[index]) if index < len(rounds) else None
        unknown: Sequence[Group] = [()] * (stage.player_count // GROUP_SIZE)
        groups = result.groups if result is not None else unknown
        boxes = []
        for group in groups:
            number += 1
            seats = [BracketSeat(placeholder="Four players")]
            if result is not None:
                seats = _group_seats(play, result, group, is_final=is_final)
            is_open = result is not None and group not in result.finished_groups
            boxes.append(
                MatchBox(number=number, title="" if is_final else "Group", seats=seats, is_open=is_open)
            )
        columns.append(
            BracketColumn(GROUP_ROUNDS.get(stage.player_count, f"Round of {stage.player_count}"), boxes)
        )
    return columns


def _group_seats(
    play: GroupStageRules, result: GroupRoundResult, group: Group, *, is_final: bool
) -> list[BracketSeat]:
    """Best first, once there are scores."""
    ordered = sorted(group, key=result.rank_key, reverse=True)
    undecided = {player_id for tie in result.tied_groups() for player_id in tie}
    through = {ordered[0]} if is_final and group in result.finished_groups else result.advancing_ids()
    seats = []
    for player_id in ordered:
        state: SeatState = "won" if player_id in through else "out"
        if group not in result.finished_groups or (player_id in undecided and not is_final):
            state = ""
        score = play.points_for_score(result.scores[player_id]) if player_id in result.scores else None
        seats.append(BracketSeat(player_id=player_id, result_text=_score_text(score), state=state))
    return seats


def _score_text(score: Decimal | None) -> str:
    return "" if score is None else f"{score.normalize():f}"
