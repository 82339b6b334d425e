"""Operations of `client.tournaments`."""

from collections.abc import Sequence
from typing import Literal, Unpack

from silverball_client.calling import M, Request, chosen, operation, paged
from silverball_client.operations.tournament_changes import TournamentChanges
from silverball_client.operations.tournament_lineup import TournamentLineup
from silverball_client.operations.tournament_reports import TournamentReports
from silverball_client.operations.tournament_roster import TournamentRoster
from silverball_client.operations.tournament_staff import TournamentStaff
from silverball_client.options import TournamentParts
from silverball_wire.finals import Finals
from silverball_wire.games import Game
from silverball_wire.plans import Forecast, TournamentEstimate
from silverball_wire.prizes import PrizeMoney, PrizeTable, SignUpList
from silverball_wire.queues import AmazingRaceState, ArenaQueues, FrenzyState
from silverball_wire.rounds import MaxMatchplayState, Round, TournamentDraws
from silverball_wire.singleplayer import Card
from silverball_wire.standings import EventResults, SentResults, Standing
from silverball_wire.tournaments import PairsApart, Tournament
from silverball_wire.webhooks import Webhook


class TournamentsResource(
    TournamentLineup[M], TournamentStaff[M], TournamentRoster[M], TournamentChanges[M], TournamentReports[M]
):
    """Operations of `client.tournaments`."""

    @operation
    def amazing_race(self, tournament_id: int) -> Request[AmazingRaceState]:
        """The current rounds, games and queues of an amazing race.

        `GET /api/tournaments/{tournamentId}/amazing-race`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "amazing-race"),
            AmazingRaceState,
        )

    @paged
    def cards(
        self,
        tournament_id: int,
        *,
        page: int = 1,
        limit: int | None = None,
        status: Literal["pending", "started", "completed"] | None = None,
        best_game: bool = False,
        voided: bool = False,
        player: int | None = None,
    ) -> Request[Card]:
        """Cards of a tournament, with their games.

        `GET /api/tournaments/{tournamentId}/cards`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "cards"),
            Card,
            query={
                "page": page,
                "limit": limit,
                "status": status,
                "bestGame": best_game,
                "voided": voided,
                "player": player,
            },
        )

    @operation
    def draws(self, tournament_id: int) -> Request[TournamentDraws]:
        """How a tournament was drawn: its seeds, and what was done to each draw by hand.

        `GET /api/tournaments/{tournamentId}/draws`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "draws"),
            TournamentDraws,
            in_data=True,
        )

    @operation
    def estimate(
        self, tournament_id: int, *, balls: int | None = None, hours: int | None = None
    ) -> Request[TournamentEstimate]:
        """The federation points that a planned, running or completed tournament gives, and why.

        `GET /api/tournaments/{tournamentId}/estimate`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "estimate"),
            TournamentEstimate,
            query={"balls": balls, "hours": hours},
        )

    @operation
    def federation_results(
        self, tournament_id: int, *, players: Sequence[int] | None = None
    ) -> Request[EventResults]:
        """Results of a finished tournament for the federation; a qualifying and its final are one event.

        `GET /api/tournaments/{tournamentId}/federation-results`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "federation-results"),
            EventResults,
            in_data=True,
            query={"players": players},
        )

    @operation
    def federation_results_sent(self, tournament_id: int) -> Request[SentResults]:
        """Results of an event as the federation was sent them, and the places that differ now.

        `GET /api/tournaments/{tournamentId}/federation-results/sent`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "federation-results", "sent"),
            SentResults,
            in_data=True,
        )

    @operation
    def finals(self, tournament_id: int) -> Request[Finals]:
        """The finals of the caller's tournament, who would go on, and how a final differs from its source.

        `GET /api/tournaments/{tournamentId}/finals`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "finals"),
            Finals,
            in_data=True,
        )

    @operation
    def forecast(self, tournament_id: int) -> Request[Forecast]:
        """The chances in a running tournament, and what is certain; 403 until the organizer switches it on.

        `GET /api/tournaments/{tournamentId}/forecast`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "forecast"),
            Forecast,
            in_data=True,
        )

    @operation
    def frenzy(self, tournament_id: int) -> Request[FrenzyState]:
        """The current games and queue of a frenzy.

        `GET /api/tournaments/{tournamentId}/frenzy`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "frenzy"),
            FrenzyState,
        )

    @operation
    def games(
        self,
        tournament_id: int,
        *,
        round: str | None = None,
        player: int | None = None,
        arena: int | None = None,
        bank: int | None = None,
        status: Literal["started", "completed"] | None = None,
        at: int | None = None,
    ) -> Request[tuple[Game, ...]]:
        """All games of a tournament; with `at` as they stood after that action of the journal.

        `GET /api/tournaments/{tournamentId}/games`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "games"),
            tuple[Game, ...],
            in_data=True,
            query={
                "round": round,
                "player": player,
                "arena": arena,
                "bank": bank,
                "status": status,
                "at": at,
            },
        )

    @operation
    def get(self, tournament_id: int, **options: Unpack[TournamentParts]) -> Request[Tournament]:
        """A tournament with the parts that the include flags ask for.

        `GET /api/tournaments/{tournamentId}`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id),
            Tournament,
            in_data=True,
            query=chosen(options, TournamentParts, TournamentParts),
        )

    @paged
    def list(
        self,
        *,
        page: int = 1,
        limit: int | None = None,
        owner: int | None = None,
        played: int | None = None,
        played_or_organized: int | None = None,
        status: Literal["planned", "started", "completed"] | None = None,
        series: int | None = None,
        type: str | None = None,
        date_interval: str | None = None,
    ) -> Request[Tournament]:
        """Tournaments by start, the furthest future first.

        `GET /api/tournaments`.
        """
        return Request(
            "GET",
            ("tournaments",),
            Tournament,
            query={
                "page": page,
                "limit": limit,
                "owner": owner,
                "played": played,
                "playedOrOrganized": played_or_organized,
                "status": status,
                "series": series,
                "type": type,
                "dateInterval": date_interval,
            },
        )

    @operation
    def max_matchplay(self, tournament_id: int) -> Request[MaxMatchplayState]:
        """The current games, players and remaining games of a max match play.

        `GET /api/tournaments/{tournamentId}/max-matchplay`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "max-matchplay"),
            MaxMatchplayState,
        )

    @operation
    def pairs_apart(self, tournament_id: int) -> Request[PairsApart]:
        """Pairs of players whom draws keep apart, for the organizer alone.

        `GET /api/tournaments/{tournamentId}/pairs-apart`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "pairs-apart"),
            PairsApart,
            in_data=True,
        )

    @operation
    def prize_table(self, tournament_id: int) -> Request[PrizeTable]:
        """Prizes by place; 403 until the organizer publishes it.

        `GET /api/tournaments/{tournamentId}/prize-table`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "prize-table"),
            PrizeTable,
            in_data=True,
        )

    @operation
    def prizes(self, tournament_id: int) -> Request[PrizeMoney]:
        """Prize money of the caller's tournament, and who was paid.

        `GET /api/tournaments/{tournamentId}/prizes`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "prizes"),
            PrizeMoney,
            in_data=True,
        )

    @operation
    def queues(self, tournament_id: int) -> Request[ArenaQueues]:
        """Queues of a best game, by arena.

        `GET /api/tournaments/{tournamentId}/queues`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "queues"),
            ArenaQueues,
        )

    @operation
    def rounds(self, tournament_id: int, *, at: int | None = None) -> Request[tuple[Round, ...]]:
        """Rounds of a tournament, newest first; with `at` as they stood after that action of the journal.

        `GET /api/tournaments/{tournamentId}/rounds`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "rounds"),
            tuple[Round, ...],
            in_data=True,
            query={"at": at},
        )

    @operation
    def sign_ups(self, tournament_id: int) -> Request[SignUpList]:
        """Sign-up list of the caller's tournament: who plays, who waits, who is here and who paid.

        `GET /api/tournaments/{tournamentId}/sign-ups`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "sign-ups"),
            SignUpList,
            in_data=True,
        )

    @operation
    def standings(self, tournament_id: int, *, at: int | None = None) -> Request[tuple[Standing, ...]]:
        """Standings of a tournament. While it runs, they may be fifteen seconds old.

        `GET /api/tournaments/{tournamentId}/standings`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "standings"),
            tuple[Standing, ...],
            query={"at": at},
        )

    @operation
    def webhooks(self, tournament_id: int) -> Request[tuple[Webhook, ...]]:
        """The webhooks of the caller's tournament, oldest first.

        `GET /api/tournaments/{tournamentId}/webhooks`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "webhooks"),
            tuple[Webhook, ...],
            in_data=True,
        )
