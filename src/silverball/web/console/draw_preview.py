"""Draws that are looked at and not made: of a tournament as it stands, and of one that is only thought of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

from silverball.kit.errors import Refusal
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Entrant, Game, LineupArena, Tournament
from silverball.service.rounds import bodies
from silverball.service.rounds import writes as rounds
from silverball.service.tournaments.writes import tournaments
from silverball.web.console import dispatch
from silverball.web.console.night import TournamentNight
from silverball.web.page_request import PageRequest

PLAYERS_MIN, PLAYERS_MAX = 2, 64
PLAYERS_DEFAULT = 8
SAMPLE_MACHINES = 12
NO_GAMES = "Nothing is drawn in this format: games begin when somebody plays."


@dataclass(frozen=True, kw_only=True)
class DrawPreview:
    """What would be drawn, or the sentence that says why nothing can be."""

    title: str = ""
    games: tuple[Game, ...] = ()
    sentence: str = ""
    players: Mapping[int, str] = field(default_factory=dict)
    arenas: Mapping[int, str] = field(default_factory=dict)

    def player_name(self, player_id: int) -> str:
        return self.players.get(player_id) or f"Player {player_id}"

    def arena_name(self, arena_id: int | None) -> str:
        return "" if arena_id is None else self.arenas.get(arena_id) or f"Machine {arena_id}"


def preview_next_draw(visit: PageRequest, night: TournamentNight) -> DrawPreview:
    """The next draw of this tournament: it will be just this one while nobody comes or goes."""

    def drawn() -> Tournament:
        with visit.site.store.read() as db:
            call = dispatch.build_call(visit, {TOURNAMENT: night.id}, bodies.NewRound(), db=db)
            if night.tournament.status == "planned":
                begun = apply_changes(night.tournament, tournaments.prepare_start(call).decision.changes)
                return _with_first_round(begun, call.now)
            return apply_changes(night.tournament, rounds.prepare_round(call).decision.changes)

    shown = _preview_from(drawn)
    return replace(
        shown, sentence=night.with_names(shown.sentence), players=night.players, arenas=night.arenas
    )


def preview_first_draw(type_: str, settings: TournamentSettings, players: int, now: datetime) -> DrawPreview:
    """The first draw of a tournament with these settings, if so many invented players came."""

    def drawn() -> Tournament:
        dice = Random(players)  # noqa: S311  # an example, and the same one each time
        planned = tournaments.planned_tournament(type_, settings, tournaments.blank_details(0, now), dice)
        filled = replace(
            planned,
            entrants=tuple(Entrant(player_id=n + 1, place=n, seed_value=n + 1) for n in range(players)),
            lineup=tuple(LineupArena(arena_id=n + 1, place=n) for n in range(SAMPLE_MACHINES)),
        )
        start, _ = tournament_commands.dice_for(filled, "start")
        return _with_first_round(apply_changes(filled, tournament_commands.start(filled, start, now)), now)

    return _preview_from(drawn)


def _with_first_round(begun: Tournament, now: datetime) -> Tournament:
    form = tournament_commands.format_of(begun)
    if not form.can_open_rounds:
        return begun
    dice, _ = tournament_commands.dice_for(begun, tournament_commands.next_draw_name(begun))
    return apply_changes(begun, tournament_commands.open_round(begun, dice, now))


def _preview_from(drawn: Callable[[], Tournament]) -> DrawPreview:
    try:
        after = drawn()
    except Refusal as refused:
        return DrawPreview(sentence=refused.message)
    newest = after.newest_round
    games = tuple(one for one in after.games if one.status != "completed" or one.is_bye)
    if newest is not None and any(one.round_id == newest.round_id for one in games):
        return DrawPreview(
            title=newest.name, games=tuple(one for one in games if one.round_id == newest.round_id)
        )
    if games:
        return DrawPreview(title="The first games", games=games)
    if after.single_player_games:
        count, people = len(after.rounds), len(after.active_ids)
        return DrawPreview(sentence=f"{count} rounds for {people} players, each at his own pace.")
    return DrawPreview(sentence=NO_GAMES)
