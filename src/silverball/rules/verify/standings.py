"""Checks of stored standings against standings computed again. Source: formats, section 13."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from itertools import permutations
from typing import Any, TypeAlias

from msgspec import UnsetType

from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.verify.checks import FormatChecks, Row, WinsBy

# Expected columns of the standings that follow from places and settings alone. Source: formats, 13.


ACTIVE_COLOR = "green"
NO_BUBBLE: Row = {"onCutoffBubble": None, "cutoffBubbleColor": None, "onCutoffBubble2": None}
# The columns of a row where the format has nothing else for them.
LIST_COLUMNS: Row = {
    "pointsWithTiebreaker": None,
    "gamesPlayed": 0,
    "entriesPlayed": 0,
    "entriesAvailable": 0,
    "strikeCount": 0,
    "cardsCounted": None,
    "adjustment": 0,
    "frenzyWins": None,
    "frenzyLosses": None,
    "pointsList": None,
    "onPaceBubble": None,
}
BRACKET_COLUMNS: Row = {
    **LIST_COLUMNS,
    **dict.fromkeys(("gamesPlayed", "entriesPlayed", "entriesAvailable", "strikeCount", "adjustment")),
}


def complete_rows(tournament: Tournament, listed_rows: Sequence[Row]) -> list[Row]:
    """The rows with every column that the standings show."""
    bubbles = _bubbles(tournament, {row["playerId"]: row["position"] for row in listed_rows})
    return [
        {
            # Brackets have no tiebreakers.
            **(BRACKET_COLUMNS if row["tiebreakers"] is None else LIST_COLUMNS),
            **row,
            **bubbles.get(row["playerId"], NO_BUBBLE),
            "activeGameColor": ACTIVE_COLOR if row["activeGames"] else None,
            "manualTiebreakerGroup": tournament.entrant_by_id[row["playerId"]].tie_group,
            **({"drawnByLot": True} if tournament.entrant_by_id[row["playerId"]].is_tie_drawn else {}),
        }
        for row in listed_rows
    ]


def _bubbles(tournament: Tournament, placed: Mapping[int, int]) -> dict[int, Row]:
    """Player id -> bubble columns, for players who share places on both sides of a band's end."""
    bands = playoff_bands_of(tournament.settings)
    counts = Counter(placed.values())
    shown: dict[int, Row] = {}
    for player_id, position in placed.items():
        last = position + counts[position] - 1
        cut = sorted(
            (band for band in bands if position <= band.cumulative < last), key=lambda band: band.cumulative
        )
        if cut:
            second = True if len(cut) > 1 else None
            shown[player_id] = {
                "onCutoffBubble": True,
                "cutoffBubbleColor": cut[0].color,
                "onCutoffBubble2": second,
            }
    return shown


def standings_faults(
    tournament: Tournament, checks: FormatChecks, stored: Mapping[int, Mapping[str, Any]]
) -> list[str]:
    """Differences between the standings computed here and the stored rows (player id -> wire row)."""
    faults = _table_faults(tournament, checks.standings, stored)
    earlier = checks.earlier_standings
    if faults and earlier is not None and not _table_faults(tournament, earlier, stored):
        return []
    return faults


def _table_faults(
    tournament: Tournament,
    table: Callable[[Tournament], list[Row]],
    stored: Mapping[int, Mapping[str, Any]],
) -> list[str]:
    wanted = (
        {}
        if tournament.status == "planned"
        else {standing["playerId"]: standing for standing in complete_rows(tournament, table(tournament))}
    )
    faults = [
        f"Player {player_id} has no row in the standings." for player_id in wanted if player_id not in stored
    ]
    faults += [
        f"Player {player_id} has a row in the standings, but no place in them."
        for player_id in stored
        if player_id not in wanted
    ]
    for player_id, row in wanted.items():
        if player_id in stored:
            faults += _row_faults(player_id, row, stored[player_id])
    return faults


def _row_faults(player_id: int, wanted: Row, stored: Mapping[str, Any]) -> list[str]:
    return [
        f"The standings show {name} {stored.get(name)!s} for player {player_id}, it should be {value!s}."
        for name, value in wanted.items()
        if _comparable_value(stored.get(name)) != _comparable_value(value)
    ] + [
        f"The standings show {name} for player {player_id}, which is no column."
        for name in stored
        if name not in wanted
    ]


def _comparable_value(value: Any) -> Any:
    """A value prepared for comparison: 10 and 10.0 are the same number, "10.00" is a text."""
    if isinstance(value, Decimal | int | float) and not isinstance(value, bool):
        return Decimal(str(value)).normalize()
    if isinstance(value, Mapping):
        return {name: _comparable_value(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_comparable_value(each) for each in value]
    return value


# Checks of a completed tournament's summaries, computed again. Source: formats, section 22.


# Key of a row -> its counts, in the order of the table's columns.
RowCounts: TypeAlias = dict[tuple[int, ...], list[int]]
# Table -> its rows.
SummaryCounts: TypeAlias = dict[str, RowCounts]
# Table -> the columns of its key, and those of its counts.
TABLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "arena_summary": (("arena_id",), ("games", "single_player_games")),
    "player_arena_summary": (
        ("arena_id", "player_id"),
        ("games", "single_player_games", "wins", "losses"),
    ),
    "match_summary": (("arena_id", "player_id", "opponent_id"), ("games", "wins", "losses")),
}


def summary_faults(
    tournament: Tournament, checks: FormatChecks, stored: Mapping[str, Sequence[Sequence[Any]]]
) -> list[str]:
    """Differences between the stored rows of the three summary tables and the sums computed here.

    Takes rows by table: the columns of the key, then those of the counts (`TABLES`).
    """
    wanted: SummaryCounts = (
        count_summaries(tournament, checks.wins_by(tournament)) if tournament.status == "completed" else {}
    )
    faults = []
    for table, (key_names, count_names) in TABLES.items():
        length = len(key_names)
        rows = {tuple(values[:length]): list(values[length:]) for values in stored[table]}
        counted = wanted.get(table, {})
        # Thousands of rows, nearly always equal: the sentences are made for the others only.
        for key in sorted(key for key in {*rows, *counted} if rows.get(key) != counted.get(key)):
            shown = ", ".join(f"{name} {value}" for name, value in zip(key_names, key, strict=True))
            faults.append(
                f"The {table} of {shown} {_difference(count_names, rows.get(key), counted.get(key))}"
            )
    return faults


def _difference(names: Sequence[str], stored: Sequence[int] | None, counted: Sequence[int] | None) -> str:
    if stored is None:
        return "is missing."
    if counted is None:
        return "is not expected."
    is_stored, is_counted = (dict(zip(names, counts, strict=True)) for counts in (stored, counted))
    return f"is stored as {is_stored}, counted again it is {is_counted}."


def count_summaries(tournament: Tournament, wins_by: WinsBy) -> SummaryCounts:
    """The rows of the three summary tables."""
    by_arena: RowCounts = {}
    by_player: RowCounts = {}
    by_opponent: RowCounts = {}
    for game in tournament.games:
        if game.status != "completed" or game.is_bye or game.arena_id is None:
            continue
        by_arena.setdefault((game.arena_id,), [0, 0])[0] += 1
        own_counts = {
            player_id: by_player.setdefault((game.arena_id, player_id), [0, 0, 0, 0])
            for player_id in game.player_ids
        }
        for tally in own_counts.values():
            tally[0] += 1
        if wins_by is WinsBy.NONE:
            continue
        ranks = _ranks(wins_by, game)
        for player_id, opponent_id in permutations(game.player_ids, 2):
            counts = by_opponent.setdefault((game.arena_id, player_id, opponent_id), [0, 0, 0])
            counts[0] += 1
            own, its = ranks[player_id], ranks[opponent_id]
            if own is not None and its is not None and own != its:
                is_loss = own < its
                counts[1 + is_loss] += 1
                own_counts[player_id][2 + is_loss] += 1
    for alone in tournament.single_player_games:
        if alone.status == "completed" and not alone.is_voided and alone.arena_id is not None:
            by_arena.setdefault((alone.arena_id,), [0, 0])[1] += 1
            by_player.setdefault((alone.arena_id, alone.player_id), [0, 0, 0, 0])[1] += 1
    return {"arena_summary": by_arena, "player_arena_summary": by_player, "match_summary": by_opponent}


def _ranks(wins_by: WinsBy, game: Game) -> Mapping[int, int | Decimal | None]:
    """Player id -> a number that is higher for who did better; None and equal numbers are no result."""
    if wins_by is WinsBy.FINISHING_ORDER and set(game.result_positions) == set(game.player_ids):
        return {player_id: -place for place, player_id in enumerate(game.result_positions) if player_id}
    return dict(zip(game.player_ids, game.result_points, strict=True))


# Checks of stored prize money. What was paid, to whom and when follows from the journal.


ALL_SHARES = 100 * 100


def prize_faults(tournament: Tournament) -> list[str]:
    """Shares that are not the whole purse, and payouts that cannot have been made."""
    plan = tournament.prizes
    if plan is None:
        return []
    faults = []
    if sum(plan.shares) != ALL_SHARES:
        faults.append(f"The shares of the prize money sum to {sum(plan.shares)}, not to {ALL_SHARES}.")
    entered = {entrant.player_id for entrant in tournament.entrants}
    for payout in plan.payouts:
        if payout.player_id not in entered:
            faults.append(f"Player {payout.player_id} was paid and is not in the tournament.")
        if payout.cents <= 0 or payout.cents % plan.rounding:
            faults.append(f"Player {payout.player_id} was paid {payout.cents}, which no prize can be.")
    return faults


def payout_faults(tournament: Tournament, places: Mapping[int, int], paid_ids: Collection[int]) -> list[str]:
    """Payouts that are not the prize of their player.

    Takes player id -> place, and the players who were paid since the plan and the results last changed.
    """
    plan = tournament.prizes
    if plan is None or tournament.status != "completed":
        return []
    counted = len(tournament.entrants) if plan.players_paid is None else plan.players_paid
    fees = plan.entry_fee * counted if isinstance(plan.payments, UnsetType) else plan.payments
    pot = fees + plan.extras
    rest = pot - min(plan.federation_fee * counted, pot)
    rest -= rest * plan.house_share // ALL_SHARES
    faults = []
    for payout in plan.payouts:
        place = places.get(payout.player_id)
        if payout.player_id not in paid_ids or place is None:
            continue
        equals = [other for other in places.values() if other == place]
        share = sum(plan.shares[place - 1 : place - 1 + len(equals)])
        prize = rest * share // (ALL_SHARES * len(equals) * plan.rounding) * plan.rounding
        if payout.cents != prize:
            faults.append(f"Player {payout.player_id} was paid {payout.cents}, their prize is {prize}.")
    return faults


# Checks of a stored sign-up list. Who paid what, and when, follows from the journal.


def sign_up_faults(tournament: Tournament) -> list[str]:
    """People who wait and play at once, places that are taken twice, and payments that cannot be."""
    faults = []
    entered = {entrant.player_id for entrant in tournament.entrants}
    places = [entry.waiting_place for entry in tournament.sign_ups if entry.waiting_place is not None]
    if len(places) != len(set(places)):
        faults.append("Two people have the same place on the waiting list.")
    for entry in tournament.sign_ups:
        waits = entry.waiting_place is not None
        if waits and entry.player_id in entered:
            faults.append(f"Player {entry.player_id} is in the tournament and waits for a place.")
        if not waits and entry.player_id not in entered and entry.payment is None:
            faults.append(f"Player {entry.player_id} is on the sign-up list and not in the tournament.")
        if entry.payment is not None and entry.payment.cents <= 0:
            faults.append(f"Player {entry.player_id} paid {entry.payment.cents} cents.")
    limit = (tournament.details.get("rsvp_configuration") or {}).get("playerLimit")
    playing = sum(entrant.is_active for entrant in tournament.entrants)
    if places and tournament.status == "planned" and (limit is None or playing < limit):
        faults.append("Somebody waits while a place is free.")
    return faults
