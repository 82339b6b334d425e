"""Places of a qualifying and its finals as one event, and who counts. Source: ratings, B.3; pages, 4."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median_low

from msgspec import Struct

from silverball.rules.model.settings_protocols import HasBestGames, has
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import ties

FINALS, QUALIFYING = 0, 1


class ParticipationShare(Struct, frozen=True):
    """The rounds, machines or games that a player played, and those that a whole night has."""

    played: int
    possible: int

    @property
    def is_below_half(self) -> bool:
        return 2 * self.played < self.possible


class EventPlace(Struct, frozen=True):
    """A player of an event. Who never played has no position."""

    player_id: int
    position: int | None
    is_finalist: bool
    is_below_half: bool


def event_places(
    player_ids: Iterable[int],
    qualifying: Mapping[int, int],
    finals: Mapping[int, int],
    shares: Mapping[int, ParticipationShare],
) -> tuple[EventPlace, ...]:
    """Each player once: finalists by the final, then the others by the qualifying, ties kept.

    Takes player id -> position in the qualifying and in the final of the best. Reaching the final counts as
    having played enough.
    """
    keys = {player_id: (QUALIFYING, position) for player_id, position in qualifying.items()}
    keys |= {player_id: (FINALS, position) for player_id, position in finals.items()}
    positions = ties.positions(keys, highest_first=False)
    everybody = dict.fromkeys((*player_ids, *keys))
    places = [
        EventPlace(
            player_id=player_id,
            position=positions.get(player_id),
            is_finalist=player_id in finals,
            is_below_half=player_id not in finals and player_id in shares and shares[player_id].is_below_half,
        )
        for player_id in everybody
    ]
    return tuple(sorted(places, key=_place_key))


def _place_key(place: EventPlace) -> tuple[bool, int, int]:
    return place.position is None, place.position or 0, place.player_id


def places_among(places: Sequence[EventPlace], player_ids: Collection[int]) -> dict[int, int]:
    """Player id -> position among these players alone; who has no position is left out."""
    keys = {
        place.player_id: place.position
        for place in places
        if place.position is not None and place.player_id in player_ids
    }
    return ties.positions(keys, highest_first=False)


def participation_shares(tournament: Tournament, *, players_go_out: bool) -> dict[int, ParticipationShare]:
    """Player id -> share of the qualifying, for the entrants who could have played all of it.

    Where players go out, who stayed until then played all. Rounds count where there are rounds, machines
    where players play alone, else games, compared with the median player.
    """
    measured = [entrant for entrant in tournament.entrants if not (players_go_out and entrant.is_active)]
    played = _played_parts(tournament)
    counts = {entrant.player_id: len(played[entrant.player_id]) for entrant in tournament.entrants}
    possible = _possible_parts(tournament, list(counts.values()))
    return {
        entrant.player_id: ParticipationShare(counts[entrant.player_id], possible) for entrant in measured
    }


def _played_parts(tournament: Tournament) -> defaultdict[int, set[tuple[str, int]]]:
    """Player id -> the rounds, machines or games in which they have a result."""
    played: defaultdict[int, set[tuple[str, int]]] = defaultdict(set)
    for game in tournament.games:
        if game.status == "completed" and not game.is_tiebreak:
            part = ("game", game.game_id) if game.round_id is None else ("round", game.round_id)
            for player_id in game.player_ids:
                played[player_id].add(part)
    for attempt in tournament.single_player_games:
        if attempt.status == "completed" and not attempt.is_voided:
            part = ("arena", attempt.arena_id or 0)
            if attempt.round_id is not None:
                part = ("round", attempt.round_id)
            played[attempt.player_id].add(part)
    return played


def _possible_parts(tournament: Tournament, counts: Sequence[int]) -> int:
    rounds = {
        game.round_id for game in tournament.games if game.status == "completed" and not game.is_tiebreak
    }
    rounds |= {attempt.round_id for attempt in tournament.single_player_games}
    rounds -= {None}
    if rounds:
        return len(rounds)
    if tournament.single_player_games:
        settings, most = tournament.settings, max(counts, default=0)
        counted = settings.best_game_arenas_counted if has(settings, HasBestGames) else 0
        return min(most, counted) if counted else most
    return median_low(counts) if counts else 0
