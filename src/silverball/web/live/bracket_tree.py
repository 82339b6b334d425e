"""Brackets as columns of matches, derived from seeds and results by the rules of the format."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Literal, TypeAlias

from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.drawing import elimination
from silverball.rules.drawing.bracket_nodes import (
    BRONZE_PLACE,
    FIFTH_PLACE,
    NodeKey,
    SeedSource,
    Source,
    WinnerSource,
)
from silverball.rules.drawing.elimination import Bracket
from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE, Group, group_sizes
from silverball.rules.families import brackets, group_stages
from silverball.rules.families.brackets import BracketRules
from silverball.rules.families.group_stages import GroupStageRules
from silverball.rules.mechanics.call_ups import BracketMatch, Matches
from silverball.rules.model import settings_protocols
from silverball.rules.model.settings_protocols import HasBracketSize, has
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking.group_rounds import GroupRoundResult

SeatState: TypeAlias = Literal["", "won", "out"]
# Players at the start of a round -> its name.
ROUNDS: Mapping[int, str] = {2: "Final", 4: "Semifinals", 8: "Quarterfinals"}
GROUP_ROUNDS: Mapping[int, str] = {4: "Final", 8: "Semifinals"}
SIZES_IN_WORDS: Mapping[int, str] = {2: "Two", 3: "Three", 4: "Four"}
PLACES: Mapping[int, str] = {BRONZE_PLACE: "For third place", FIFTH_PLACE: "For fifth place"}
HALVES: Mapping[Bracket, str] = {
    Bracket.WINNERS: "Winners",
    Bracket.LOSERS: "Losers",
    Bracket.GRAND_FINAL: "Finals",
    Bracket.RESET: "Finals",
}


class BracketSeat(Struct, frozen=True, kw_only=True):
    """A place in a match: its player, or where the player will come from."""

    player_id: int | None = None
    # Where the bracket placed them; None where no seed led there.
    seed: int | None = None
    # Who comes there, where the player is not known yet.
    placeholder: str = ""
    # Games won, points or strokes; empty where there is nothing to count.
    result_text: str = ""
    state: SeatState = ""


class MatchBox(Struct, frozen=True, kw_only=True):
    """A match, or a group."""

    # The number of the match, or of the group; None for a bye.
    number: int | None
    title: str
    seats: Sequence[BracketSeat]
    # Its place in the column, from 0; byes leave places empty.
    slot: int = 0
    # Beside the bracket: a game for a place, which leads nowhere.
    is_extra: bool = False
    # Where it is played at the moment.
    arena_id: int | None = None
    is_open: bool = False
    # Counts all boxes of the bracket.
    box_number: int = 0


class BracketLink(Struct, frozen=True):
    """A line from a match to the one that its winner plays in, in the next column."""

    from_slot: int
    to_slot: int
    # Whether the match is over.
    is_decided: bool = False


class BracketColumn(Struct, frozen=True):
    """The matches of a round, and the lines to the next column."""

    title: str
    boxes: Sequence[MatchBox]
    slot_count: int = 0
    links: Sequence[BracketLink] = ()

    @property
    def is_halved(self) -> bool:
        """Whether two matches lead to one."""
        return any(link.from_slot != link.to_slot for link in self.links)

    @property
    def line_of_slot(self) -> dict[int, str]:
        """Slot -> the class of the line that leads on from it; none where matches lead elsewhere."""
        if any(
            link.to_slot != (link.from_slot // 2 if self.is_halved else link.from_slot) for link in self.links
        ):
            # Groups draw anew who meets.
            return {}
        return {link.from_slot: "goes" if link.is_decided else "goes open" for link in self.links}

    @property
    def reached_slots(self) -> set[int]:
        """The slots of the next column that lines reach."""
        return {link.to_slot for link in self.links} if self.line_of_slot else set()

    @property
    def slots(self) -> list[MatchBox | None]:
        """The matches from top to bottom, each at the height of those that lead to it."""
        by_slot = {box.slot: box for box in self.boxes if not box.is_extra}
        return [by_slot.get(slot) for slot in range(self.slot_count)]


class BracketHalf(Struct, frozen=True):
    """A titled part of the bracket: all of it, or the winners, the losers or the finals."""

    title: str
    columns: Sequence[BracketColumn]

    @property
    def extra_boxes(self) -> list[MatchBox]:
        """The games for places, beside the bracket."""
        return [box for column in self.columns for box in column.boxes if box.is_extra]


def bracket_halves(tournament: Tournament) -> list[BracketHalf]:
    """The tournament's bracket; empty in other formats, and before the start."""
    if tournament.status == "planned":
        return []
    format_ = tournament_commands.format_of(tournament)
    try:
        if format_.bracket is not None:
            return _match_halves(tournament, format_.bracket)
        if format_.group_stages is not None:
            return [BracketHalf("Bracket", _group_columns(tournament, format_.group_stages))]
    except Invalid:
        # An imported tournament may have a size that no bracket has; its rounds are shown elsewhere.
        return []
    return []


# Two in a match


def _match_halves(tournament: Tournament, rules: BracketRules) -> list[BracketHalf]:
    matches_by_key = rules.matches(tournament)
    if any(match.stale_games for match in matches_by_key.values()):
        # An imported bracket was drawn by another plan than ours.
        return []
    numbers = brackets.match_numbers(tournament, matches_by_key)
    box_numbers = {key: number for number, key in enumerate(matches_by_key, start=1)}
    seeds = {
        player_id: source.seed
        for match in matches_by_key.values()
        # A deciding final has no players before it is needed.
        for source, player_id in zip(match.node.sources, match.seats, strict=False)
        if isinstance(source, SeedSource) and player_id
    }
    by_round: dict[int, list[BracketMatch]] = {}
    for match in matches_by_key.values():
        by_round.setdefault(match.node.key[0], []).append(match)
    halves: dict[str, list[tuple[BracketColumn, list[BracketMatch]]]] = {}
    for index, matches in by_round.items():
        match_count = sum(not match.node.is_extra for match in matches)
        half, title = _half_and_title(tournament, rules, index, match_count)
        # An unneeded deciding final and a match without players are left out.
        needed = [match for match in matches if not match.is_unneeded and match.finishing_order != ()]
        if needed:
            boxes = [
                replace(
                    _match_box(match, matches_by_key, numbers, seeds, tournament),
                    box_number=box_numbers[match.node.key],
                )
                for match in needed
            ]
            halves.setdefault(half, []).append((BracketColumn(title, boxes, match_count), needed))
    return [
        BracketHalf(title, _linked_columns(halves[title]))
        for title in dict.fromkeys(("Bracket", *HALVES.values()))
        if title in halves
    ]


def _linked_columns(columns: Sequence[tuple[BracketColumn, list[BracketMatch]]]) -> list[BracketColumn]:
    """The columns of a half, each with the lines to the next one."""
    linked = []
    for number, (column, matches) in enumerate(columns, start=1):
        following = columns[number][1] if number < len(columns) else []
        winners = {match.node.key: (match.finishing_order or (None,))[0] for match in matches}
        links = [
            BracketLink(source.node[1], match.node.key[1], winners[source.node] is not None)
            for match in following
            for source in match.node.sources
            if isinstance(source, WinnerSource) and source.node in winners
        ]
        linked.append(replace(column, links=links))
    return linked


def _half_and_title(
    tournament: Tournament, rules: BracketRules, index: int, match_count: int
) -> tuple[str, str]:
    """The half that a round belongs to, and the round's name there."""
    usual_title = ROUNDS.get(2 * match_count, f"Round of {2 * match_count}")
    if not rules.has_losers_bracket:
        return "Bracket", usual_title
    assert has(tournament.settings, HasBracketSize)
    part, number = elimination.round_order(tournament.settings.bracket_size)[index]
    if part is Bracket.WINNERS:
        return HALVES[part], usual_title
    titles = {Bracket.GRAND_FINAL: "Grand final", Bracket.RESET: "Deciding final"}
    return HALVES[part], titles.get(part, f"Round {number}")


def _who_comes(source: Source, matches: Matches, numbers: Mapping[NodeKey, int]) -> str:
    """The words for an empty seat, by the number of the match that decides it: byes are passed over."""
    assert not isinstance(source, SeedSource)
    if source.node in numbers:
        word = "Winner" if isinstance(source, WinnerSource) else "Loser"
        return f"{word} of {numbers[source.node]}"
    before = matches[source.node]
    coming = [
        earlier
        for earlier, player_id in zip(before.node.sources, before.seats, strict=True)
        if player_id is None
    ]
    return _who_comes(coming[0], matches, numbers) if coming else "Nobody"


def _match_box(
    match: BracketMatch,
    matches: Matches,
    numbers: Mapping[NodeKey, int],
    seeds: Mapping[int, int],
    tournament: Tournament,
) -> MatchBox:
    game = match.game
    won: dict[int, str] = {}
    is_best_of = settings_protocols.wins_needed(tournament.settings) > 1 and len(match.seats) == PAIR_SIZE
    if is_best_of and game is not None and None in game.result_positions:
        slots = zip(game.player_ids, game.result_points, strict=True)
        won = {player_id: f"{points or 0:.0f}" for player_id, points in slots}
    seats = []
    for source, player_id in zip(match.node.sources, match.seats, strict=True):
        if player_id:
            state = _seat_state(match, player_id)
            text, seed = won.get(player_id, ""), seeds.get(player_id)
            seats.append(BracketSeat(player_id=player_id, seed=seed, result_text=text, state=state))
        elif player_id is None:
            seats.append(BracketSeat(placeholder=_who_comes(source, matches, numbers)))
        else:
            seats.append(BracketSeat(placeholder="Nobody"))
    is_open = game is not None and game.status != "completed"
    return MatchBox(
        number=numbers.get(match.node.key),
        title=PLACES.get(match.node.winner_place or 0, ""),
        seats=seats,
        slot=match.node.key[1],
        is_extra=match.node.is_extra,
        arena_id=game.arena_id if game is not None and is_open else None,
        is_open=is_open,
    )


def _seat_state(match: BracketMatch, player_id: int) -> SeatState:
    if not match.finishing_order:
        return ""
    return "won" if match.finishing_order[0] == player_id else "out"


# Groups of four


def _group_columns(tournament: Tournament, rules: GroupStageRules) -> list[BracketColumn]:
    rounds = tournament.rounds_in_order
    columns, number = [], 0
    for index, stage in enumerate(group_stages.planned_stages(tournament)):
        is_final = stage.player_count <= GROUP_SIZE
        result = rules.round_result(tournament, rounds[index]) if index < len(rounds) else None
        sizes = group_sizes(stage.player_count)[::-1]
        unknown_groups: Sequence[Group] = [()] * len(sizes)
        groups = result.groups if result is not None else unknown_groups
        boxes = []
        for slot, group in enumerate(groups):
            number += 1
            seats = [BracketSeat(placeholder=f"{SIZES_IN_WORDS[sizes[slot]]} players")]
            if result is not None:
                seats = _group_seats(rules, result, group, is_final=is_final)
            is_open = result is not None and group not in result.finished_groups
            title = "" if is_final else "Group"
            boxes.append(
                MatchBox(
                    box_number=number, number=number, title=title, seats=seats, slot=slot, is_open=is_open
                )
            )
        title = GROUP_ROUNDS.get(max(stage.player_count, GROUP_SIZE), f"Round of {stage.player_count}")
        columns.append(BracketColumn(title, boxes, len(boxes)))
    following = [*columns[1:], BracketColumn("", ())]
    return [
        replace(column, links=_links_of_groups(column, after))
        for column, after in zip(columns, following, strict=True)
    ]


def _links_of_groups(column: BracketColumn, after: BracketColumn) -> list[BracketLink]:
    """The ways that players have gone from group to group: nothing else says where a group leads."""
    group_of = {seat.player_id: box.slot for box in column.boxes for seat in box.seats if seat.player_id}
    ways = {
        (group_of[seat.player_id], box.slot)
        for box in after.boxes
        for seat in box.seats
        if seat.player_id in group_of
    }
    return [BracketLink(*way, is_decided=True) for way in sorted(ways)]


def _group_seats(
    rules: GroupStageRules, result: GroupRoundResult, group: Group, *, is_final: bool
) -> list[BracketSeat]:
    """The seats of a group, best first once there are scores."""
    ordered = sorted(group, key=result.rank_key, reverse=True)
    undecided = {player_id for tie in result.tied_groups() for player_id in tie}
    is_decided_final = is_final and group in result.finished_groups
    advancing = {ordered[0]} if is_decided_final else result.advancing_ids()
    seats = []
    for player_id in ordered:
        state: SeatState = "won" if player_id in advancing else "out"
        if group not in result.finished_groups or (player_id in undecided and not is_final):
            state = ""
        score = rules.points_for_score(result.scores[player_id]) if player_id in result.scores else None
        seats.append(BracketSeat(player_id=player_id, result_text=_score_text(score), state=state))
    return seats


def _score_text(score: Decimal | None) -> str:
    return "" if score is None else f"{score.normalize():f}"


# The pages of a bracket on a wall.


# A page of a wall has room for this many columns and lines of names.
PAGE_COLUMNS_MAX = 4
PAGE_NAMES_MAX = 16


class BracketPage(Struct, frozen=True):
    """A part of a bracket that fits a wall at once."""

    title: str
    columns: Sequence[BracketColumn]

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to play in it."""
        boxes = [box for column in self.columns for box in column.boxes]
        return all(any(seat.state for seat in box.seats) for box in boxes)


def wall_pages(halves: Sequence[BracketHalf]) -> list[BracketPage]:
    """The pages with matches that are left to play; that of the final too, when only lower places are."""
    pages_by_half = [list(_pages_of_half(half)) for half in halves]
    unfinished = [
        page
        for half, pages in zip(halves, pages_by_half, strict=True)
        for page in pages
        if not page.is_over or (_has_final(page, half) and not all(other.is_over for other in pages))
    ]
    if unfinished or not halves:
        return unfinished
    return [page for page in pages_by_half[-1] if _has_final(page, halves[-1])]


def _has_final(page: BracketPage, half: BracketHalf) -> bool:
    """Whether the last column of the half is on the page."""
    return any(column.title == half.columns[-1].title for column in page.columns)


def _pages_of_half(half: BracketHalf) -> Iterable[BracketPage]:
    columns = list(half.columns)
    columns += [
        BracketColumn(box.title, [replace(box, slot=0, is_extra=False)], 1) for box in half.extra_boxes
    ]
    while columns:
        seats = max((len(box.seats) for box in columns[0].boxes), default=1)
        sections = -(-columns[0].slot_count // max(1, PAGE_NAMES_MAX // seats))
        run = list(_columns_of_page(columns, sections))
        for section in range(sections):
            pairs = zip(run, [*run[1:], None], strict=True)
            yield BracketPage(half.title, [_cut(column, after, section, sections) for column, after in pairs])
        columns = columns[len(run) :]


def _columns_of_page(columns: Sequence[BracketColumn], sections: int) -> Iterable[BracketColumn]:
    """The first columns, as long as all of them can be cut at the same heights."""
    yield columns[0]
    if columns[0].slot_count % sections:
        return
    for column in columns[1:PAGE_COLUMNS_MAX]:
        if column.slot_count % sections:
            return
        yield column


def _cut(column: BracketColumn, after: BracketColumn | None, section: int, sections: int) -> BracketColumn:
    """One of the sections of a column, from top to bottom."""
    size = -(-column.slot_count // sections)
    first = section * size
    first_after = section * (after.slot_count // sections) if after else 0
    wanted = range(first, min(first + size, column.slot_count))
    boxes = [
        replace(box, slot=box.slot - first) for box in column.boxes if box.slot in wanted and not box.is_extra
    ]
    links = [
        BracketLink(link.from_slot - first, link.to_slot - first_after, link.is_decided)
        for link in column.links
        if link.from_slot in wanted and after is not None
    ]
    return BracketColumn(column.title, boxes, len(wanted), links)
