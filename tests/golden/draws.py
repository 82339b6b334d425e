"""The draws of small nights as digests: they may change only together with `DRAW_VERSION`.

    PYTHONPATH=src:tests .venv/bin/python tests/golden/draws.py

writes `draws.json` again, after the version was raised.
"""

import hashlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from rules.night import Night, a_night
from silverball.kit.errors import Refusal
from silverball.rules.commands import clocks
from silverball.rules.commands.draws import DRAW_VERSION
from silverball.rules.format import Rounds
from silverball.rules.registry import FORMATS

FILE = Path(__file__).with_name("draws.json")
ROUNDS, RESULTS = 4, 12
# With eleven there are byes and groups of three. Three formats start with other numbers only.
PLAYERS, FIELDS = 11, {"max_matchplay": 10, "group_bracket": 8, "golf_bracket": 8}
PAIRINGS = ("random", "balanced", "swiss", "strictswiss")
# Label -> format and settings by wire key: every format, and the ways to pair and to assign arenas.
NIGHTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{kind: (kind, {}) for kind in FORMATS},
    **{
        f"{kind}, {pairing}": (kind, {"pairing": pairing, "playerOrder": "random"})
        for kind in ("matchplay", "group_matchplay", "group_knockout")
        for pairing in PAIRINGS
    },
    **{
        f"matchplay, arenas {assignment}": ("matchplay", {"arenaAssignment": assignment, "gamesPerRound": 2})
        for assignment in ("balanced", "random")
    },
    **{
        f"group_matchplay, first {first}": ("group_matchplay", {"firstRoundPairing": first})
        for first in ("adjacent", "slaughter")
    },
    "group_matchplay, tiers": ("group_matchplay", {"pairing": "tiers", "duration": 5, "players": 18}),
}


@cache
def digests() -> dict[str, str]:
    """Label -> the digest of all that was drawn in this night."""
    return {label: _digest(kind, dict(given)) for label, (kind, given) in NIGHTS.items()}


def _digest(kind: str, given: dict[str, Any]) -> str:
    night = a_night(kind, players=given.pop("players", FIELDS.get(kind, PLAYERS)), **given)
    night.start()
    drawn: list[Any] = [_state_of_draws(night)]
    is_opened = FORMATS[kind].rounds is Rounds.OPENED
    for _ in range(ROUNDS if is_opened else RESULTS):
        try:
            if is_opened:
                night.play_round()
            else:
                _record_next(night)
        except Refusal as refusal:
            drawn.append(type(refusal).__name__)
            break
        drawn.append(_state_of_draws(night))
    return hashlib.sha256(json.dumps(drawn).encode()).hexdigest()[:16]


def _record_next(night: Night) -> None:
    """Record an open game, which may draw the next; where there is none, ask for matches."""
    games = [game for game in night.open_games() if not game.is_bye]
    if games:
        night.record_order(games[0], *sorted(games[0].player_ids))
    elif FORMATS[night.tournament.type].has_match_requests:
        night.apply(clocks.create_matches(night.tournament, night.dice(), night.now))


def _state_of_draws(night: Night) -> list[Any]:
    now = night.tournament
    return [
        [entrant.seed_rank for entrant in now.entrants],
        [[game.round_id, game.player_ids, game.arena_id, game.bank_id] for game in now.games],
        [[each.player_id, each.arena_id, each.round_id] for each in now.single_player_games],
        [spot.player_id for spot in now.queue],
        now.state.schedule,
    ]


def main() -> int:
    """Write the file; refuse draws that changed under the version that they had."""
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"draws": {}}
    found = digests()
    changed = [label for label, digest in stored["draws"].items() if found.get(label, digest) != digest]
    if changed and stored["version"] == DRAW_VERSION:
        sys.stderr.write(f"These draws changed: {'; '.join(changed)}. Raise DRAW_VERSION first.\n")
        return 1
    FILE.write_text(json.dumps({"version": DRAW_VERSION, "draws": found}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
