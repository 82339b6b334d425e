"""Draw previews: the next draw of a tournament, or the first draw of one that is only planned."""

from collections.abc import Callable, Mapping
from datetime import datetime
from random import Random

from msgspec import Struct, field

from silverball.kit.errors import Conflict, Names, Refusal
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Entrant, Game, LineupArena, Tournament
from silverball.service.core import commands
from silverball.service.money import reads as money_reads
from silverball.service.rounds import bodies
from silverball.service.rounds import writes as rounds
from silverball.service.tournaments import writes as tournaments_writes
from silverball.web import form_actions, site
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

PLAYERS_MIN, PLAYERS_MAX = 2, 64
PLAYERS_DEFAULT = 8
SAMPLE_MACHINES = 12
NO_GAMES = "Nothing is drawn in this format: games begin when somebody plays."


class DrawnAtStart(Conflict):
    """The start takes everybody who signed up and has a place, and draws them too."""

    sentence = "Signed up: {count}. They become players at the start, and the draw is made with them."


class DrawPreview(Struct, frozen=True, kw_only=True):
    """The games that would be drawn, or a sentence when there are none."""

    title: str = ""
    games: tuple[Game, ...] = ()
    sentence: str = ""
    players: Mapping[int, str] = field(default_factory=dict)
    arenas: Mapping[int, str] = field(default_factory=dict)

    def player_name(self, player_id: int) -> str:
        return self.players.get(player_id) or f"Player {player_id}"

    def arena_name(self, arena_id: int | None) -> str:
        return "" if arena_id is None else self.arenas.get(arena_id) or f"Machine {arena_id}"


def preview_next_draw(request: PageRequest, night: TournamentNight) -> DrawPreview:
    """The tournament's next draw; opening the round draws the same, if the roster stays as it is."""

    def draw() -> Tournament:
        with request.site.store.read() as db:
            call = form_actions.build_call(request, {TOURNAMENT: night.id}, bodies.NewRound(), db=db)
            # Somebody may have changed it since the page's data was read.
            current = commands.load_snapshot(call).tournament
            is_planned = current.status == "planned"
            untaken = money_reads.untaken(db, current)
            if places := sum(position is None for _, position in untaken):
                raise DrawnAtStart(count=places)
            draw_changes = (
                tournaments_writes.prepare_start(call) if is_planned else rounds.prepare_round(call)
            )
        # No transaction is open while it is drawn.
        drawn = apply_changes(current, draw_changes().decision.changes)
        return _with_first_round(drawn, call.now) if is_planned else drawn

    preview = _preview(draw, night.name_of)
    return replace(preview, players=night.players, arenas=night.arenas)


def preview_first_draw(type_: str, settings: TournamentSettings, players: int, now: datetime) -> DrawPreview:
    """The first draw of a tournament with these settings and so many sample players."""

    def draw() -> Tournament:
        dice = Random(players)  # noqa: S311  # a sample, and the same one each time
        planned = tournaments_writes.planned_tournament(
            type_, settings, tournaments_writes.blank_details(0, now), dice
        )
        filled = replace(
            planned,
            entrants=tuple(Entrant(player_id=n + 1, place=n, seed_value=n + 1) for n in range(players)),
            lineup=tuple(LineupArena(arena_id=n + 1, place=n) for n in range(SAMPLE_MACHINES)),
        )
        start_dice, _ = tournament_commands.dice_for(filled, "start")
        changes = tournament_commands.start(filled, start_dice, now)
        return _with_first_round(apply_changes(filled, changes), now)

    return _preview(draw)


def _with_first_round(started: Tournament, now: datetime) -> Tournament:
    """The tournament with its first round open, where the organizer opens rounds."""
    if not tournament_commands.format_of(started).can_open_rounds:
        return started
    dice, _ = tournament_commands.dice_for(started, tournament_commands.next_draw_name(started))
    return apply_changes(started, tournament_commands.open_round(started, dice, now))


def _no_names(_kind: str, _item_id: int) -> None:
    """No names: sample players have none."""


def _preview(draw: Callable[[], Tournament], names: Names = _no_names) -> DrawPreview:
    try:
        tournament = draw()
    except Refusal as refusal:
        return DrawPreview(sentence=site.refusal_text(refusal, names))
    newest = tournament.newest_round
    games = tuple(game for game in tournament.games if game.status != "completed" or game.is_bye)
    in_newest = tuple(game for game in games if newest is not None and game.round_id == newest.round_id)
    if newest is not None and in_newest:
        return DrawPreview(title=newest.name, games=in_newest)
    if games:
        return DrawPreview(title="The first games", games=games)
    if tournament.single_player_games:
        rounds_count, players_count = len(tournament.rounds), len(tournament.active_ids)
        sentence = f"{rounds_count} rounds for {players_count} players, each at their own pace."
        return DrawPreview(sentence=sentence)
    return DrawPreview(sentence=NO_GAMES)
