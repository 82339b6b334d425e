"""A tournament as everybody may see it: the night, its stored standings, and where its channel stands.

Nothing here looks at a clock: a page is kept as long as the tournament's revision stands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import msgspec

from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.model.tournament import Game, QueueSpot, Round, SinglePlayerGame, Tournament
from silverball.rules.ranking import cutoffs
from silverball.service.arenas import reads as arena_reads
from silverball.service.core import enact
from silverball.service.parts import reads as parts
from silverball.service.players import reads as player_reads
from silverball.store import announcements
from silverball.store.announcements import ChannelHead
from silverball.store.engine import Store
from silverball.web.console.night import TournamentNight
from silverball.web.live import bracket_tree, movers
from silverball.web.live.bracket_tree import BracketHalf
from silverball.web.live.movers import Mover
from silverball.wire.standings import Standing
from silverball.wire.tournaments import Tournament as Shown

PARTS = parts.PartsQuery(include_location=True, include_series=True)
RESULTS_SHOWN_MAX = 20
MOVERS_SHOWN_MAX = 5


@dataclass(frozen=True)
class StandingRow:
    """A line of the standings, and the border that lies below it."""

    standing: Standing
    cutoff_text: str = ""


@dataclass(frozen=True)
class WaitingList:
    """Who waits at one place, first come first."""

    title: str
    players: Sequence[int]


@dataclass(frozen=True)
class HoleProgress:
    """Where everybody plays alone: what is played, and how many have."""

    round: Round
    waiting: Sequence[SinglePlayerGame]
    played: Sequence[SinglePlayerGame]


@dataclass(frozen=True, kw_only=True)
class PublicTournament:
    """Everything that the public pages of a tournament are made of."""

    night: TournamentNight
    api_tournament: Shown
    stored_standings: Mapping[int, str]
    # Where the channel stood when this was read: what follows is news.
    head: ChannelHead

    @property
    def tournament(self) -> Tournament:
        return self.night.tournament

    @property
    def is_completed(self) -> bool:
        return self.tournament.status == "completed"

    @cached_property
    def standings(self) -> list[Standing]:
        """By position, as the interface shows them; nothing before the start."""
        found = [msgspec.json.decode(row, type=Standing) for row in self.stored_standings.values()]
        return sorted(found, key=lambda one: (one.position, one.player_id))

    @cached_property
    def standing_rows(self) -> list[StandingRow]:
        """The standings, with a line below the last place of each band of a playoff."""
        listed = self.standings
        cuts: dict[int, str] = {}
        for band in getattr(self.tournament.settings, "playoffs_cutoffs", None) or ():
            (border,) = cutoffs.parse_cutoffs([band])
            inside = sum(one.position <= border.last_place for one in listed)
            if 0 < inside < len(listed):
                text = band["text"] if isinstance(band, Mapping) else band.text
                cuts[inside] = text or f"The first {border.last_place}"
        return [StandingRow(one, cuts.get(number, "")) for number, one in enumerate(listed, start=1)]

    @cached_property
    def movers(self) -> list[Mover]:
        """Who has moved most with the newest results."""
        return movers.find_movers(self.tournament, self.standings)[:MOVERS_SHOWN_MAX]

    # What is played now

    @property
    def open_games(self) -> list[Game]:
        return self.night.open_games

    @cached_property
    def waiting_lists(self) -> list[WaitingList]:
        """Who waits: for a machine, for a hole, or for any."""
        places: dict[tuple[int | None, int | None], list[QueueSpot]] = {}
        for spot in self.tournament.waiting_spots:
            places.setdefault((spot.arena_id, spot.round_id), []).append(spot)
        found = []
        for arena_id, round_id in sorted(places, key=lambda place: (place[0] or 0, place[1] or 0)):
            spots = self.night.queue_for(arena_id=arena_id, round_id=round_id)
            title = self.night.arena_name(arena_id) if arena_id else self.night.round_name(round_id)
            found.append(WaitingList(title or "Next", [one.player_id for one in spots]))
        return found

    @cached_property
    def holes(self) -> list[HoleProgress]:
        """The open rounds in which everybody plays alone."""
        if self.night.kind not in {"holes", "race"}:
            return []
        return [
            self.hole_progress(one) for one in self.tournament.rounds_in_order if one.status != "completed"
        ]

    def hole_progress(self, one: Round) -> HoleProgress:
        """A round with who is still to play, and who has."""
        attempts = self.tournament.attempts_by_round.get(one.round_id, ())
        played = [each for each in attempts if each.status == "completed" and not each.is_voided]
        played.sort(key=lambda each: self.night.player_name(each.player_id).lower())
        return HoleProgress(one, self.night.waiting_in_round(one.round_id), played)

    # Rounds

    def find_round(self, wanted: str) -> Round | None:
        """The round with this id; without one the open round that began last, else the newest."""
        rounds = self.tournament.rounds_in_order
        named = next((one for one in rounds if str(one.round_id) == wanted), None)
        if named is not None or not rounds:
            return named
        busy = [one for one in rounds if one.status != "completed"]
        if self.night.kind == "holes":
            return busy[0] if busy else rounds[-1]
        return busy[-1] if busy else rounds[-1]

    def games_of_round(self, one: Round) -> list[Game]:
        """Its games, as they are called out, without byes."""
        games = [game for game in self.tournament.games_by_round.get(one.round_id, ()) if not game.is_bye]
        return sorted(games, key=lambda game: (game.set_number, game.game_index or 0, game.game_id))

    def byes_of_round(self, one: Round) -> list[int]:
        """Who has nobody to play against."""
        games = self.tournament.games_by_round.get(one.round_id, ())
        return [game.player_ids[0] for game in games if game.is_bye]

    @cached_property
    def newest_results(self) -> list[Game]:
        """The newest results of games outside of rounds."""
        return [one for one in self.night.newest_results if one.round_id is None][:RESULTS_SHOWN_MAX]

    @cached_property
    def newest_scores(self) -> list[SinglePlayerGame]:
        """The newest scores of a best game night."""
        return self.night.newest_scores[:RESULTS_SHOWN_MAX] if self.night.kind == "scores" else []

    @cached_property
    def bracket_halves(self) -> list[BracketHalf]:
        """The bracket, in formats that have one."""
        return bracket_tree.bracket_halves(self.tournament)

    # Times

    @property
    def round_began_at(self) -> datetime | None:
        """When the open round began."""
        newest = self.tournament.newest_round
        is_open = newest is not None and newest.status != "completed" and self.night.opens_rounds
        return newest.created_at if newest is not None and is_open else None

    @property
    def clock_ends_at(self) -> datetime | None:
        """When the clock of a frenzy runs out, while it runs."""
        is_running = self.night.is_frenzy and not self.night.is_paused and not self.is_completed
        return self.tournament.state.clock_ends_at if is_running else None

    @property
    def seconds_paused(self) -> int:
        """What is left on the clock of a frenzy that is paused."""
        return frenzy_family.paused_seconds(self.tournament) if self.night.is_frenzy else 0


def load_public_tournament(store: Store, tournament_id: int, now: datetime) -> PublicTournament:
    """The tournament as nobody in particular sees it. Raises NotFound, and Conflict for an unknown format."""
    with store.read() as db:
        kept = enact.load_with_revision(db, tournament_id)
        head = announcements.channel_head(db, tournament_id)
        assert head is not None
        night = TournamentNight(
            tournament=kept.tournament,
            now=now,
            is_organizer=False,
            players={one.player_id: one.name for one in player_reads.entrants(db, tournament_id, None)},
            arenas={one.arena_id: one.name for one in arena_reads.lineup_arenas(db, tournament_id)},
        )
        about = parts.find_tournament(db, tournament_id, PARTS, None)
        return PublicTournament(night=night, api_tournament=about, stored_standings=kept.standings, head=head)


def points_text(points: object) -> str:
    """Points without the decimals that say nothing; nothing when there are none."""
    return "" if points is None else str(points).removesuffix(".00")


def motd_expires_at(text: object) -> str:
    """The moment that a message of the day ends, for programs; nothing when it names none."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return ""
    # Without a zone it is UTC, like every moment that is stored.
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
