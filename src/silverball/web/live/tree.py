"""Brackets drawn: rounds as columns, who meets whom in each match, who goes on.

All of it follows from the seeds and the results, as the formats read them; nothing is decided here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from silverball.kit.errors import Invalid
from silverball.rules import groupstages
from silverball.rules.brackets import BracketPlay, Match
from silverball.rules.formats import bracket, double_bracket, golf_bracket, group_bracket
from silverball.rules.groupstages import GroupStages
from silverball.rules.pairing import double_elimination
from silverball.rules.pairing.bracket_nodes import BRONZE_PLACE, FIFTH_PLACE, Key, Seed, WinnerOf
from silverball.rules.pairing.double_elimination import Bracket
from silverball.rules.pairing.groups import GROUP_SIZE, Group
from silverball.rules.ranking.group_rounds import RoundResult
from silverball.rules.tournament import Tournament

State: TypeAlias = Literal["", "won", "out"]
PAIRS: Mapping[str, BracketPlay] = {"bracket": bracket.PLAY, "double_bracket": double_bracket.PLAY}
GROUPS: Mapping[str, GroupStages] = {"group_bracket": group_bracket.PLAY, "golf_bracket": golf_bracket.PLAY}
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
class Seat:
    """A place in a match: who has it, or who will."""

    player_id: int | None = None
    # Who comes there, where the player is not known yet.
    waits_for: str = ""
    # Games won, points or strokes; empty where there is nothing to count.
    told: str = ""
    state: State = ""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A match, or a group."""

    number: int
    title: str
    seats: Sequence[Seat]
    # Where it is played at the moment.
    arena_id: int | None = None
    is_open: bool = False

    @property
    def is_known(self) -> bool:
        """Whether anybody is known to be in it."""
        return any(one.player_id for one in self.seats)


@dataclass(frozen=True)
class Column:
    """The matches of a round."""

    title: str
    boxes: Sequence[Box]


@dataclass(frozen=True)
class Half:
    """Columns that belong together: the whole bracket, or the winners', the losers' and the finals."""

    title: str
    columns: Sequence[Column]


def drawn(tournament: Tournament) -> list[Half]:
    """The bracket of this tournament; nothing in other formats, and before the start."""
    if tournament.status == "planned":
        return []
    try:
        if tournament.type in PAIRS:
            return _of_pairs(tournament, PAIRS[tournament.type])
        if tournament.type in GROUPS:
            return [Half("Bracket", _of_groups(tournament, GROUPS[tournament.type]))]
    except Invalid:
        # An import may have a size that no bracket has; its rounds are shown all the same.
        return []
    return []


# Two in a match


def _of_pairs(tournament: Tournament, play: BracketPlay) -> list[Half]:
    found = play.matches(tournament)
    if any(match.stale for match in found.values()):
        # It was drawn elsewhere, by another plan than ours.
        return []
    numbers = {key: number for number, key in enumerate(found, start=1)}
    by_round: dict[int, list[Match]] = {}
    for match in found.values():
        by_round.setdefault(match.node.key[0], []).append(match)
    halves: dict[str, list[Column]] = {}
    for index, matches in by_round.items():
        half, title = _named(tournament, index, sum(not match.node.is_extra for match in matches))
        # A deciding final that nobody needs and a match of nobody are not drawn.
        shown = [match for match in matches if not match.is_spared and match.order != ()]
        if shown:
            boxes = [_match_box(match, numbers, tournament) for match in shown]
            halves.setdefault(half, []).append(Column(title, boxes))
    return [
        Half(title, halves[title])
        for title in dict.fromkeys(("Bracket", *HALVES.values()))
        if title in halves
    ]


def _named(tournament: Tournament, index: int, matches: int) -> tuple[str, str]:
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


def _match_box(match: Match, numbers: Mapping[Key, int], tournament: Tournament) -> Box:
    wins = [game.result_positions[0] for game in match.games if game.status == "completed"]
    is_counted = int(getattr(tournament.settings, "games_per_round", 1)) > 1
    seats = []
    for source, player_id in zip(match.node.sources, match.seats, strict=True):
        if player_id:
            told = str(wins.count(player_id)) if is_counted and len(match.present) > 1 else ""
            seats.append(Seat(player_id=player_id, told=told, state=_state(match, player_id)))
        elif player_id is None:
            assert not isinstance(source, Seed)
            word = "Winner" if isinstance(source, WinnerOf) else "Loser"
            seats.append(Seat(waits_for=f"{word} of {numbers[source.node]}"))
        else:
            seats.append(Seat(waits_for="Nobody"))
    game = next((one for one in match.games if one.status != "completed"), None)
    return Box(
        number=numbers[match.node.key],
        title=PLACES.get(match.node.decides_from or 0, ""),
        seats=seats,
        arena_id=game.arena_id if game else None,
        is_open=game is not None,
    )


def _state(match: Match, player_id: int) -> State:
    if not match.order:
        return ""
    return "won" if match.order[0] == player_id else "out"


# Groups of four


def _of_groups(tournament: Tournament, play: GroupStages) -> list[Column]:
    rounds = tournament.rounds_in_order
    columns, number = [], 0
    for index, stage in enumerate(groupstages.stages(tournament)):
        is_final = stage.players == GROUP_SIZE
        result = play.result(tournament, rounds[index]) if index < len(rounds) else None
        unknown: Sequence[Group] = [()] * (stage.players // GROUP_SIZE)
        groups = result.groups if result is not None else unknown
        boxes = []
        for group in groups:
            number += 1
            seats = [Seat(waits_for="Four players")]
            if result is not None:
                seats = _group_seats(play, result, group, is_final=is_final)
            is_open = result is not None and group not in result.finished
            boxes.append(Box(number=number, title="" if is_final else "Group", seats=seats, is_open=is_open))
        columns.append(Column(GROUP_ROUNDS.get(stage.players, f"Round of {stage.players}"), boxes))
    return columns


def _group_seats(play: GroupStages, result: RoundResult, group: Group, *, is_final: bool) -> list[Seat]:
    """Best first, once there are scores."""
    ordered = sorted(group, key=result.key, reverse=True)
    undecided = {player_id for tie in result.tied() for player_id in tie}
    through = {ordered[0]} if is_final and group in result.finished else result.advancing()
    seats = []
    for player_id in ordered:
        state: State = "won" if player_id in through else "out"
        if group not in result.finished or (player_id in undecided and not is_final):
            state = ""
        score = play.shown(result.scores[player_id]) if player_id in result.scores else None
        seats.append(Seat(player_id=player_id, told=_plain(score), state=state))
    return seats


def _plain(score: Decimal | None) -> str:
    return "" if score is None else f"{score.normalize():f}"
