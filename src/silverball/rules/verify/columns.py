"""Expected columns of the standings that follow from places and settings alone. Source: formats, 13."""

from collections import Counter
from collections.abc import Mapping, Sequence

from silverball.rules.model.settings_protocols import playoff_bands_of
from silverball.rules.model.tournament import Tournament
from silverball.rules.verify.rows import Row

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
