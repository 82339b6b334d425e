"""Operations of `client.tournaments`: lists and statistics."""

from collections.abc import Sequence
from typing import Literal

from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.events import EventsPage
from silverball_wire.queues import BestGameDetails, BestGameSummaryRow
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.standings import (
    ArenaStats,
    ArenaSummary,
    BestGameStats,
    MatchplayStats,
    MatchStats,
    MatchSummary,
    PlayerArenaSummary,
    PlayerStats,
    RoundStats,
)
from silverball_wire.tournaments import JournalAction


class TournamentReports(Resource[M]):
    """Operations of `client.tournaments`: lists and statistics."""

    @operation
    def best_game_arena(self, tournament_id: int, arena_id: int) -> Request[BestGameDetails]:
        """One arena of a best game with its games.

        `GET /api/tournaments/{tournamentId}/arenas/{arenaId}/bgdetails`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "arenas", arena_id, "bgdetails"),
            BestGameDetails,
        )

    @operation
    def best_game_arenas(self, tournament_id: int) -> Request[tuple[BestGameSummaryRow, ...]]:
        """Arenas of a best game, each with queue and best score.

        `GET /api/tournaments/{tournamentId}/arenas/bgsummary`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "arenas", "bgsummary"),
            tuple[BestGameSummaryRow, ...],
        )

    @operation
    def entries_csv(self, tournament_id: int) -> Request[str]:
        """Entries of a tournament as CSV.

        `GET /api/tournaments/{tournamentId}/entries/csv`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "entries", "csv"),
            str,
        )

    @operation
    def events(
        self,
        tournament_id: int,
        *,
        after: int | None = None,
        epoch: str | None = None,
        limit: int | None = None,
        wait: int | None = None,
    ) -> Request[EventsPage]:
        """The feed events after a number, oldest first; waits for new ones if asked to.

        `GET /api/tournaments/{tournamentId}/events`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "events"),
            EventsPage,
            query={"after": after, "epoch": epoch, "limit": limit, "wait": wait},
        )

    @operation
    def federation_results_csv(
        self, tournament_id: int, *, players: Sequence[int] | None = None
    ) -> Request[str]:
        """Results of a finished tournament for the federation as CSV.

        `GET /api/tournaments/{tournamentId}/federation-results/csv`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "federation-results", "csv"),
            str,
            query={"players": players},
        )

    @operation
    def games_csv(
        self,
        tournament_id: int,
        *,
        round: str | None = None,
        player: int | None = None,
        arena: int | None = None,
        bank: int | None = None,
        status: Literal["started", "completed"] | None = None,
        at: int | None = None,
    ) -> Request[str]:
        """Games of a tournament as CSV, one row per player and game.

        `GET /api/tournaments/{tournamentId}/games/csv`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "games", "csv"),
            str,
            query={
                "round": round,
                "player": player,
                "arena": arena,
                "bank": bank,
                "status": status,
                "at": at,
            },
        )

    @paged
    def journal(self, tournament_id: int, *, page: int = 1) -> Request[JournalAction]:
        """The actions in the caller's tournament with actor, time and source, newest first.

        `GET /api/tournaments/{tournamentId}/journal`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "journal"),
            JournalAction,
            query={"page": page},
        )

    @operation
    def players_csv(self, tournament_id: int) -> Request[str]:
        """Players of a tournament as CSV.

        `GET /api/tournaments/{tournamentId}/players/csv`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "players", "csv"),
            str,
        )

    @operation
    def prizes_csv(self, tournament_id: int) -> Request[str]:
        """Prizes and payouts of the caller's tournament as CSV.

        `GET /api/tournaments/{tournamentId}/prizes/csv`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "prizes", "csv"),
            str,
        )

    @operation
    def sign_ups_csv(self, tournament_id: int) -> Request[str]:
        """Sign-up list of the caller's tournament as CSV, with payments.

        `GET /api/tournaments/{tournamentId}/sign-ups/csv`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "sign-ups", "csv"),
            str,
        )

    @paged
    def single_player_games(
        self,
        tournament_id: int,
        *,
        status: Literal["pending", "started", "completed"] | None = None,
        best_game: bool = False,
        voided: bool = False,
        round: int | None = None,
        player: int | None = None,
        arena: int | None = None,
        order_by: Literal["score"] | None = None,
        page: int = 1,
        limit: int | None = None,
        ids: Sequence[int] | None = None,
    ) -> Request[SinglePlayerGame]:
        """Single player games of a tournament.

        `GET /api/tournaments/{tournamentId}/single-player-games`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "single-player-games"),
            SinglePlayerGame,
            query={
                "status": status,
                "bestGame": best_game,
                "voided": voided,
                "round": round,
                "player": player,
                "arena": arena,
                "orderBy": order_by,
                "page": page,
                "limit": limit,
                "ids": ids,
            },
        )

    @operation
    def single_player_games_csv(
        self,
        tournament_id: int,
        *,
        status: Literal["pending", "started", "completed"] | None = None,
        best_game: bool = False,
        voided: bool = False,
        round: int | None = None,
        player: int | None = None,
        arena: int | None = None,
        order_by: Literal["score"] | None = None,
    ) -> Request[str]:
        """Single player games of a tournament as CSV.

        `GET /api/tournaments/{tournamentId}/single-player-games/csv`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "single-player-games", "csv"),
            str,
            query={
                "status": status,
                "bestGame": best_game,
                "voided": voided,
                "round": round,
                "player": player,
                "arena": arena,
                "orderBy": order_by,
            },
        )

    @operation
    def stats_arenas(self, tournament_id: int) -> Request[tuple[ArenaStats, ...]]:
        """Length of the games on each arena.

        `GET /api/tournaments/{tournamentId}/stats/arenas`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "stats", "arenas"),
            tuple[ArenaStats, ...],
        )

    @operation
    def stats_bestgame(self, tournament_id: int) -> Request[BestGameStats]:
        """Numbers of single player games and cards, valid and voided.

        `GET /api/tournaments/{tournamentId}/stats/bestgame`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "stats", "bestgame"),
            BestGameStats,
        )

    @operation
    def stats_matches(self, tournament_id: int) -> Request[tuple[MatchStats, ...]]:
        """Games, wins and losses of each player against each opponent.

        `GET /api/tournaments/{tournamentId}/stats/matches`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "stats", "matches"),
            tuple[MatchStats, ...],
        )

    @operation
    def stats_matchplay(self, tournament_id: int) -> Request[MatchplayStats]:
        """Number of games, in all and per player.

        `GET /api/tournaments/{tournamentId}/stats/matchplay`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "stats", "matchplay"),
            MatchplayStats,
        )

    @operation
    def stats_players(self, tournament_id: int) -> Request[PlayerStats]:
        """Frequencies of places, arenas and opponents of each player.

        `GET /api/tournaments/{tournamentId}/stats/players`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "stats", "players"),
            PlayerStats,
        )

    @operation
    def stats_rounds(self, tournament_id: int) -> Request[tuple[RoundStats, ...]]:
        """Length of each round.

        `GET /api/tournaments/{tournamentId}/stats/rounds`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "stats", "rounds"),
            tuple[RoundStats, ...],
        )

    @paged
    def summary_arenas(self, tournament_id: int, *, page: int = 1) -> Request[ArenaSummary]:
        """Number of games on each arena, after completion.

        `GET /api/tournaments/{tournamentId}/summary/arenas`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "summary", "arenas"),
            ArenaSummary,
            query={"page": page},
        )

    @paged
    def summary_matches(self, tournament_id: int, *, page: int = 1) -> Request[MatchSummary]:
        """Results by player, opponent and arena, from both sides.

        `GET /api/tournaments/{tournamentId}/summary/matches`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "summary", "matches"),
            MatchSummary,
            query={"page": page},
        )

    @paged
    def summary_player_arenas(self, tournament_id: int, *, page: int = 1) -> Request[PlayerArenaSummary]:
        """Results of each player on each arena, after completion.

        `GET /api/tournaments/{tournamentId}/summary/player-arenas`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "summary", "player-arenas"),
            PlayerArenaSummary,
            query={"page": page},
        )

    @operation
    def top_scores(self, tournament_id: int) -> Request[tuple[SinglePlayerGame, ...]]:
        """The five best scores on each arena.

        `GET /api/tournaments/{tournamentId}/single-player-games/top-scores`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "single-player-games", "top-scores"),
            tuple[SinglePlayerGame, ...],
            in_data=True,
        )
