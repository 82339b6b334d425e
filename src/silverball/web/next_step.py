"""The next step of a night: one line, and at most one thing to do about it."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.commands import tiebreaks
from silverball.rules.format import CountedIn, PlayKind, Rounds, never_over
from silverball.rules.model.settings_protocols import rounds_planned
from silverball.web import deciding_ties
from silverball.web.tournament_night import TournamentNight
from silverball_wire.finals import Final

ALL_PLAYED = "All games done"


class NextStep(Struct, frozen=True, kw_only=True):
    """The line, and the form or the page that its button leads to; no button where there is only to wait."""

    line: str
    button: str = ""
    # An action of the console, with the id of its form and its hidden fields.
    action: str = ""
    form_id: str = ""
    fields: Sequence[tuple[str, int]] = ()
    # A page of the console instead, `/standings`, or a card of this one, `#deciding-7`.
    path: str = ""
    # Whether it is the main thing to do, or only possible already.
    is_main: bool = True


def next_step(night: TournamentNight, finals: Sequence[Final] = ()) -> NextStep:
    """The next step, for the organizer; scorekeepers read the line alone."""
    status = night.tournament.status
    if status == "planned":
        step = _step_to_start(night)
    elif status == "completed":
        step = _step_to_final(night, finals) or NextStep(line="The results are final")
    else:
        step = (
            _step_for_results(night)
            or _step_to_break_tie(night)
            or (_step_to_end(night, finals) if is_played_out(night) else _step_to_go_on(night))
        )
    return step if night.is_organizer else replace(step, button="", action="", path="", fields=())


def _with_number(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _step_to_start(night: TournamentNight) -> NextStep:
    players, machines = len(night.active_entrants), len(night.active_arenas)
    missing = max(night.format.players_min, 2) - players
    if missing > 0:
        return NextStep(line=f"{_with_number(missing, 'more player')}, then it can start")
    start = NextStep(
        line=f"{players} players, {_with_number(machines, 'machine')}",
        button=f"Start with {players} players",
        action="start",
        form_id="start",
    )
    if machines:
        return start
    line = f"{players} players and no machine: games would not say where"
    return replace(start, line=line, button="Start without machines", is_main=False)


# Results that are missing


def _step_for_results(night: TournamentNight) -> NextStep | None:
    """The results that must come first; None where nothing waits for one."""
    games, attempts = len(night.open_games), _open_attempts(night)
    if night.kind is PlayKind.SCORES or not games + attempts:
        return None
    if night.format.has_match_requests:
        line = f"{_with_number(games, 'game')} open"
        return replace(_step_to_create_matches(), line=line, is_main=False)
    is_tiebreak = bool(games) and all(game.is_tiebreak for game in night.open_games)
    more = _with_number(games + attempts, "more result")
    return NextStep(line=f"{more} of the tiebreak" if is_tiebreak else f"{more}{_consequence(night)}")


def _open_attempts(night: TournamentNight) -> int:
    """The open single player games of open rounds."""
    open_ids = {each.round_id for each in night.tournament.rounds if each.status != "completed"}
    return sum(len(night.waiting_in_round(round_id)) for round_id in open_ids)


def _consequence(night: TournamentNight) -> str:
    """The words on what follows the open results, where that is certain: `, then round 5 can be drawn`."""
    tournament = night.tournament
    if night.format.rounds is Rounds.FIXED and night.format.bracket is None:
        return ", then all is played"
    if night.kind is PlayKind.RACE:
        return ", then the lowest is out"
    if not night.opens_rounds:
        return ""
    rounds, planned = len(tournament.rounds), rounds_planned(tournament.settings)
    if planned and rounds >= planned:
        return (
            f", then the {_final_word(night)} can be made" if _plans_finals(night) else ", then all is played"
        )
    return f", then round {rounds + 1} can be drawn" if _goes_on_surely(night) else ""


def _goes_on_surely(night: TournamentNight) -> bool:
    """Whether a round follows the open one, whatever its results are."""
    if rounds_planned(night.tournament.settings):
        return night.format.counted_in is CountedIn.POINTS and night.format.is_ranked_by_points
    in_round = night.tournament.games_by_round.get(night.open_round.round_id, ()) if night.open_round else ()
    # Each of several games of a knockout has somebody who stays in.
    return night.format.counted_in is CountedIn.STRIKES and len(in_round) > 1


def _plans_finals(night: TournamentNight) -> bool:
    return bool(night.tournament.state.planned_finals)


def _final_word(night: TournamentNight) -> str:
    return "finals" if len(night.tournament.state.planned_finals) > 1 else "final"


# All that could be played is played


def is_played_out(night: TournamentNight) -> bool:
    """Whether nothing more is to be played: by the rules of the format, by the clock, or by the plan."""
    tournament = night.tournament
    if night.is_over:
        return True
    if not (tournament.games or tournament.single_player_games) or tournament.open_games:
        return False
    if night.has_clock:
        return not night.is_paused and night.seconds_left == 0
    ends_at = tournament.details["end_utc"]
    if night.format.is_over is not never_over or tournament.started_attempts or ends_at is None:
        return False
    return datetime.fromisoformat(ends_at) <= night.now


def _step_to_break_tie(night: TournamentNight) -> NextStep | None:
    """The first tie that keeps the night from going on; shares of prizes can be divided."""
    waits = is_played_out(night) or night.format.tied_groups is not None
    ties = deciding_ties.ties_on_page(night) if waits else []
    tie = next((each for each in ties if each.decides != "prize"), None)
    if tie is None:
        return None
    card = f"#deciding-{tie.player_ids[0]}"
    return _play_tie(night, tie.title.partition("; ")[0], tie.player_ids, otherwise=card)


def _play_tie(night: TournamentNight, line: str, player_ids: Sequence[int], *, otherwise: str) -> NextStep:
    """A tiebreak of all of them; where they are too many for one, the page or card with the other ways."""
    if len(player_ids) > tiebreaks.most_players(night.tournament):
        return NextStep(line=line, button="Settle it", path=otherwise)
    fields = [("playerId", player_id) for player_id in player_ids]
    return NextStep(line=line, button="Play it", action="tie", form_id="play-tie", fields=fields)


def _step_to_final(night: TournamentNight, finals: Sequence[Final]) -> NextStep | None:
    """The first planned final that is not made; None where there is none."""
    step = next((each for each in finals if each.tournament_id is None), None)
    if step is None:
        return None
    if step.tied:
        line = f"Tied at the cut: {deciding_ties.listed_names(night, step.tied)}"
        if night.tournament.status == "started":
            return _play_tie(night, line, step.tied, otherwise="/standings")
        return NextStep(line=f"{line}. Reopen to play it", button="To the standings", path="/standings")
    line = f"{ALL_PLAYED}: {_with_number(len(step.qualified), 'player')} for the {step.name}"
    fields = [("final", step.index)]
    form_id = f"make-final-{step.index}"
    return NextStep(line=line, button="Make the final", action="playoffs", form_id=form_id, fields=fields)


def _step_to_end(night: TournamentNight, finals: Sequence[Final]) -> NextStep:
    final = _step_to_final(night, finals)
    if final is not None:
        return final
    is_over = night.is_over or night.has_clock
    line = ALL_PLAYED if is_over else "The planned end has passed, and nobody plays"
    return NextStep(line=line, button="Finish tournament", action="complete", form_id="complete-now")


# More can be played


def _step_to_go_on(night: TournamentNight) -> NextStep:
    tournament = night.tournament
    if night.opens_rounds:
        number, planned = len(tournament.rounds) + 1, rounds_planned(tournament.settings)
        line = f"Round {number}{f' of {planned}' if planned else ''} can be drawn"
        return NextStep(line=line, button=f"Open round {number}", action="round-open", form_id="round-open")
    if night.format.has_match_requests:
        return _step_to_create_matches()
    if night.kind is PlayKind.SCORES:
        played = sum(each.status == "completed" for each in tournament.single_player_games)
        return NextStep(line=f"{_with_number(played, 'score')} so far. Finish on Standings when nobody plays")
    if night.is_paused:
        return NextStep(line="The clock is paused")
    if night.has_clock and night.seconds_left:
        return NextStep(line="New games until the clock runs out")
    return NextStep(line="No game is open")


def _step_to_create_matches() -> NextStep:
    return NextStep(
        line="Whoever is free can play",
        button="Create the matches that can be played",
        action="matches",
        form_id="matches",
    )
