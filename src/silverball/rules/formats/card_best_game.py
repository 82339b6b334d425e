"""Cards of best games: a few arenas played once each, scored as one. Source: formats, 14.19."""

from datetime import datetime
from random import Random
from typing import Annotated, Literal

from silverball.kit.errors import Conflict
from silverball.rules.families import best_game as best_game_family
from silverball.rules.format import (
    DemoNight,
    Format,
    FormatGroup,
    PlayKind,
    ResultUnit,
    Rounds,
    never_over,
    no_wins_or_losses,
)
from silverball.rules.mechanics import attempts
from silverball.rules.mechanics.attempts import AttemptRules
from silverball.rules.model import settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, NewAttempt, Outcome
from silverball.rules.model.tournament import Entrant, SinglePlayerGame, Tournament
from silverball.rules.planning import nights, open_play, played
from silverball.rules.planning.nights import NightPlanning, NightShape, OpenEnd, values_of
from silverball.rules.ranking import bestgame, solo
from silverball.rules.ranking.bestgame import CardValue
from silverball.rules.ranking.solo import PlayerTally
from silverball.rules.ranking.standing import CountedCard, Standing, points_text
from silverball.rules.scoring.point_maps import curve_of_best_game
from silverball.rules.verify import best
from silverball.rules.verify.checks import FormatChecks, no_wins

GamesPerCard = Annotated[
    int,
    settings.setting(
        "Games per card", "Machines on a card, each played once.", "Number of games on a card.", ge=1, le=1000
    ),
]
CardsCounted = Annotated[
    int,
    settings.setting(
        "Cards counted", "A player's best so many count.", "Number of best cards that count.", ge=1, le=1000
    ),
]
GamesCounted = Annotated[
    int,
    settings.setting(
        "Games counted",
        "The best so many of a card count; 0 counts all.",
        "Number of best games of a card that count; 0 for all.",
        ge=0,
        le=1000,
    ),
]
CardScoring = Annotated[
    Literal[0, 1],
    settings.setting(
        "Cards ranked",
        "Which cards hold places on the machines.",
        "0 ranks all cards, 1 only each player's newest completed one.",
        accepts_text=True,
        words={"0": "Every completed card", "1": "The newest card of each player"},
    ),
]


class GameOnCardNotVoidable(Conflict):
    sentence = "A single game of a card cannot be voided. Void card {card}, or delete the game."


class CardBestGameSettings(settings.TournamentSettings, frozen=True, kw_only=True):
    """Settings of a card best game. Source: formats, sections 14.19 and 24."""

    scorekeeping: settings.Scorekeeping = "user"
    card_best_game_games_per_card: GamesPerCard = 5
    card_best_game_cards_counted: CardsCounted = 1
    card_best_game_games_counted: GamesCounted = 0
    card_best_game_scoring: CardScoring = 0
    best_game_scoring: settings.BestGameScoring = "bg_linear"
    best_game_overall_attempts: settings.BestGameOverallAttempts = 0
    use_queues: settings.UseQueues = False
    suggestions: settings.Suggestions = "restricted"


def settings_of(tournament: Tournament) -> CardBestGameSettings:
    """The settings of a card best game."""
    chosen = tournament.settings
    assert isinstance(chosen, CardBestGameSettings)
    return chosen


def open_attempt(tournament: Tournament, new_attempt: NewAttempt, now: datetime) -> list[Change]:
    """Record a score on the player's card, or start a game on it; a new card is opened when needed.

    Raises Conflict when no card is left or the arena is on the card already.
    """
    attempts.check_score(new_attempt.score)
    entrant = attempts.require_player(tournament, new_attempt.player_id)
    known = best_game_family.outcome_of_running_attempt(tournament, new_attempt)
    if known is not None:
        return record_score(tournament, known, now)
    attempts.require_arena(tournament, new_attempt.arena_id)
    require_card_left(tournament, entrant, new_attempt.arena_id)
    if new_attempt.score is None:
        best_game_family.require_player_and_arena_free(
            tournament, new_attempt.player_id, new_attempt.arena_id
        )
    card = best_game_family.card_in_progress(tournament, new_attempt.player_id)
    made = [] if card is not None else best_game_family.open_card(new_attempt.player_id, now)
    card_id = -1 if card is None else card.card_id
    on_card = best_game_family.games_on_card(tournament, card_id)
    index = max((attempt.game_index or 0 for attempt in on_card), default=-1) + 1
    made += best_game_family.create_attempt(tournament, new_attempt, now, card_id=card_id, game_index=index)
    return _update_card(tournament, made, card_id, now)


def require_card_left(tournament: Tournament, entrant: Entrant, arena_id: int) -> None:
    """Refuse an arena without room on the player's card, or a new card. Raises Conflict."""
    chosen = settings_of(tournament)
    card = best_game_family.card_in_progress(tournament, entrant.player_id)
    if card is not None:
        best_game_family.require_room_on_card(
            tournament, card, arena_id, games_per_card=chosen.card_best_game_games_per_card
        )
        return
    used = len(best_game_family.cards_of_player(tournament, entrant.player_id))
    attempts.require_entries_left(
        tournament, entrant, used, limit=chosen.best_game_overall_attempts, unit="cards"
    )


def record_score(tournament: Tournament, outcome: AttemptOutcome, now: datetime) -> list[Change]:
    """Record or correct a score on a card; the last one completes the card."""
    made = best_game_family.record_score(tournament, outcome, now)
    attempt = attempts.find_attempt(tournament, outcome.single_player_game_id)
    return _update_card(tournament, made, attempt.card_id, now)


def settle(tournament: Tournament, outcome: Outcome, _dice: Random, now: datetime) -> list[Change]:
    """Record or correct a score."""
    if isinstance(outcome, GameOutcome):
        return attempts.record_tiebreak_game(tournament, outcome, now)
    return record_score(tournament, outcome, now)


def _update_card(
    tournament: Tournament, made: list[Change], card_id: int | None, now: datetime
) -> list[Change]:
    assert card_id is not None
    games = settings_of(tournament).card_best_game_games_per_card
    return best_game_family.update_card(tournament, made, card_id, games_per_card=games, now=now)


def void_card_of_game(tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Void the card: who gives up one of its games gives up the card."""
    assert attempt.card_id is not None
    return best_game_family.void_card(tournament, attempt.card_id, now)


def refuse_to_void_game(_tournament: Tournament, attempt: SinglePlayerGame, _now: datetime) -> list[Change]:
    """Refuse: only whole cards are voided. Raises Conflict."""
    raise GameOnCardNotVoidable(card=attempt.card_id)


def delete_attempt(tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Delete a game from its card, which is open again; the card goes with its last game."""
    return _update_card(tournament, attempts.delete_attempt(attempt), attempt.card_id, now)


def at_close(tournament: Tournament, _now: datetime) -> list[Change]:
    """Delete cards that lost their only game by the closing; store the marks of the others."""
    changes = best_game_family.delete_empty_cards(tournament)
    return [*changes, *best_game_family.store_final_marks(apply_changes(tournament, changes))]


def rank(tournament: Tournament) -> list[Standing]:
    """The standings: the points of each player's counted cards. Source: formats, 14.19."""
    counted: dict[int, list[CardValue]] = {}
    for value in bestgame.card_values(tournament):
        if value.is_counted:
            counted.setdefault(value.player_id, []).append(value)
    games: dict[int, int] = {}
    for attempt in tournament.single_player_games:
        if attempt.status == "completed" and not attempt.is_voided:
            games[attempt.player_id] = games.get(attempt.player_id, 0) + 1
    tallies = {
        entrant.player_id: _tally(
            tournament, entrant, counted.get(entrant.player_id, []), games.get(entrant.player_id, 0)
        )
        for entrant in solo.listed_entrants(tournament)
    }
    return solo.rank(tournament, tallies)


def _tally(tournament: Tournament, entrant: Entrant, counted: list[CardValue], games: int) -> PlayerTally:
    total = sum((value.points for value in counted), solo.adjustment_total(entrant))
    used = best_game_family.cards_of_player(tournament, entrant.player_id)
    return PlayerTally(
        points=total,
        key=(total,),
        games_played=games,
        entries_played=sum(card.status == "completed" or card.is_voided for card in used),
        points_list=tuple(points_text(value.points) for value in counted),
        cards_counted=tuple(
            CountedCard(card_id=value.card_id, points=value.points, count=value.game_count)
            for value in counted
        ),
    )


def night_shape(chosen: settings.TournamentSettings, _players: int) -> NightShape:
    """The games on the cards that each player may play; no end without a limit."""
    assert isinstance(chosen, CardBestGameSettings)
    if not chosen.best_game_overall_attempts:
        return OpenEnd("Nothing limits the cards of a player: it ends when you close it.")
    return nights.turns(chosen.best_game_overall_attempts * chosen.card_best_game_games_per_card)


FORMAT = Format(
    type="card_best_game",
    title="Best game on cards",
    group=FormatGroup.SCORES,
    summary="A card is a few machines played once each; the best cards count.",
    form_settings=(
        "cardBestGameGamesPerCard",
        "cardBestGameCardsCounted",
        "bestGameScoring",
        "bestGameOverallAttempts",
        "useQueues",
        "suggestions",
    ),
    settings=CardBestGameSettings,
    demo=DemoNight(name="Card Best Game", settings={"cardBestGameGamesPerCard": 3}, games_per_player=6),
    planning=NightPlanning(
        shape=night_shape, choices=values_of("bestGameOverallAttempts", 1, 2, 3), unit="cards each"
    ),
    play=PlayKind.SCORES,
    players_per_game=1,
    result_unit=ResultUnit.SCORE,
    rated=False,
    has_cards=True,
    points_map=curve_of_best_game,
    win_loss_rule=no_wins_or_losses,
    rounds=Rounds.NONE,
    rank=rank,
    is_over=never_over,
    meaningful_games=open_play.cards_rule,
    meaningful_games_played=played.by_plan(open_play.cards_rule),
    verify=FormatChecks(standings=best.card_table, has_one_open_game=True, wins_by=no_wins),
    setting_faults=best_game_family.setting_faults,
    defaults_beside=best_game_family.defaults_beside,
    start=best_game_family.start,
    settle=settle,
    roster_changed=best_game_family.leave_queues_when_inactive,
    at_close=at_close,
    at_reopen=best_game_family.clear_marks,
    attempts=AttemptRules(
        open=open_attempt,
        start=attempts.start_pending_attempt,
        delete=delete_attempt,
        void=refuse_to_void_game,
        unvoid=refuse_to_void_game,
        give_up=void_card_of_game,
        check_entries_left=require_card_left,
    ),
    late_entry="at_once",
)
