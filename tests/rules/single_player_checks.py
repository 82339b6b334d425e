"""Checks of single player formats, computed in a simpler and slower way than in the rules."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

from silverball.rules.mechanics import queues
from silverball.rules.model.tournament import Card, Round, SinglePlayerGame, Tournament
from silverball.rules.ranking import bestgame, solo
from silverball.rules.scoring import curves, pingolf


def is_started(tournament: Tournament) -> bool:
    return tournament.status == "started"


def pending_games(tournament: Tournament) -> list[SinglePlayerGame]:
    return [game for game in tournament.single_player_games if game.status != "completed"]


def completed_games(tournament: Tournament) -> list[SinglePlayerGame]:
    return [game for game in tournament.single_player_games if game.status == "completed"]


def everybody_has_every_round(tournament: Tournament) -> None:
    """Check that each active player has exactly one game in each round of a running tournament."""
    counts = Counter((game.player_id, game.round_id) for game in tournament.single_player_games)
    assert max(counts.values(), default=1) == 1
    if is_started(tournament):
        wanted = {
            (player_id, round_.round_id)
            for player_id in tournament.active_ids
            for round_ in tournament.rounds
        }
        assert wanted <= set(counts)
        done = {round_.round_id for round_ in tournament.rounds if round_.status == "completed"}
        assert all(
            game.status == "completed" for game in tournament.single_player_games if game.round_id in done
        )


def golf_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """Player id -> strokes, added hole by hole; missing holes count the limit in the end."""
    limit = getattr(tournament.settings, "golf_stroke_limit", 0) or 10
    holes = getattr(tournament.settings, "golf_duration", 0)
    counted = getattr(tournament.settings, "golf_holes_counted", 0) or holes
    totals = {}
    for entrant in tournament.entrants:
        own = [hole.points for hole in completed_games(tournament) if hole.player_id == entrant.player_id]
        strokes = sorted(int(points or 0) for points in own)
        if tournament.status == "completed":
            strokes = sorted(strokes + [limit] * (holes - len(strokes)))
        totals[entrant.player_id] = sum(strokes[:counted]) + entrant.points_adjustment
    return totals


def bowling_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """Player id -> sum of the stored values of decided frames."""
    totals = {entrant.player_id: entrant.points_adjustment for entrant in tournament.entrants}
    for frame in completed_games(tournament):
        totals[frame.player_id] += frame.points or 0
    return totals


def frames_are_counted(tournament: Tournament) -> None:
    """Check that stored values of frames include their bonuses."""
    count = getattr(tournament.settings, "golf_duration", 0)
    for player_id in {frame.player_id for frame in completed_games(tournament)}:
        own = {
            frame.game_index: frame for frame in completed_games(tournament) if frame.player_id == player_id
        }
        frames = [own[index].rolls if index in own else () for index in range(count)]
        values = pingolf.frame_values(frames, count)
        assert {index: frame.points for index, frame in own.items()} == {
            index: None if values[index or 0] is None else Decimal(values[index or 0] or 0) for index in own
        }


def queues_have_no_gaps(tournament: Tournament) -> None:
    """Check that queue places count from 0 without gaps and that players wait in one queue at most."""
    keys = {(spot.arena_id, spot.round_id) for spot in tournament.queue}
    for arena_id, round_id in keys:
        queue = queues.waiting_spots(tournament, arena_id=arena_id, round_id=round_id)
        assert [spot.queue_index for spot in queue] == list(range(len(queue)))
    waits = Counter(spot.player_id for spot in tournament.queue if not spot.is_done)
    assert max(waits.values(), default=1) == 1


def one_game_at_once(tournament: Tournament) -> None:
    playing = [game for game in tournament.single_player_games if game.status == "started"]
    assert len({game.player_id for game in playing}) == len(playing)
    assert len({game.arena_id for game in playing}) == len(playing)


def marks_are_those_of_a_slow_count(tournament: Tournament) -> None:
    """Check marks against a comparison of each score with all others."""
    each = getattr(tournament.settings, "best_game_number_of_best_games", 1)
    valid = [game for game in completed_games(tournament) if not game.is_voided]
    holding = []
    for game in valid:
        beside = [
            other for other in valid if (other.player_id, other.arena_id) == (game.player_id, game.arena_id)
        ]
        better = [other for other in beside if _goes_before(other, game)]
        if len(better) < each:
            holding.append(game)
    expected = {game.single_player_game_id: bestgame.NO_MARK for game in completed_games(tournament)}
    for game in holding:
        points = Decimal(curves.points_of_rank(_curve(tournament), _rank(game, holding)))
        expected[game.single_player_game_id] = bestgame.GameMark(points, True)
    assert bestgame.game_marks(tournament) == expected


def _goes_before(game: SinglePlayerGame, other: SinglePlayerGame) -> bool:
    return (-(game.score or 0), game.single_player_game_id) < (
        -(other.score or 0),
        other.single_player_game_id,
    )


def _rank(game: SinglePlayerGame, field: Sequence[SinglePlayerGame]) -> int:
    return 1 + sum(
        other.arena_id == game.arena_id and (other.score or 0) > (game.score or 0) for other in field
    )


def _curve(tournament: Tournament) -> str:
    return str(getattr(tournament.settings, "best_game_scoring", ""))


def best_game_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """Player id -> sum of the points of the best arenas."""
    marks = bestgame.game_marks(tournament)
    counted = getattr(tournament.settings, "best_game_arenas_counted", 0) or None
    totals = {}
    for entrant in tournament.entrants:
        arenas: Counter[int | None] = Counter()
        for game in completed_games(tournament):
            if game.player_id == entrant.player_id:
                arenas[game.arena_id] += int(marks[game.single_player_game_id].points)
        totals[entrant.player_id] = sum(sorted(arenas.values(), reverse=True)[:counted]) + (
            entrant.points_adjustment
        )
    return totals


def limits_hold(tournament: Tournament) -> None:
    """Check the limits of attempts, in all and on one arena."""
    overall = getattr(tournament.settings, "best_game_overall_attempts", 0)
    on_arena = getattr(tournament.settings, "best_game_attempts_on_arena", 0)
    counts = Counter(game.player_id for game in tournament.single_player_games)
    pairs = Counter((game.player_id, game.arena_id) for game in tournament.single_player_games)
    assert not overall or max(counts.values(), default=0) <= overall
    assert not on_arena or max(pairs.values(), default=0) <= on_arena


def cards_are_sound(tournament: Tournament) -> None:
    """Check that players fill one card at a time, with distinct arenas, until it is full."""
    size = getattr(tournament.settings, "card_best_game_games_per_card", 0)
    filling = [card.player_id for card in tournament.cards if card.status == "started" and not card.is_voided]
    assert len(set(filling)) == len(filling)
    for card in tournament.cards:
        games = [game for game in tournament.single_player_games if game.card_id == card.card_id]
        # A card voided during its first game has no games, and may be unvoided.
        assert games or card.status == "started"
        assert len({game.arena_id for game in games}) == len(games) <= size
        is_full = sum(game.status == "completed" for game in games) == size
        assert (card.status == "completed") == is_full
        assert all(game.is_voided == card.is_voided for game in games)
    most = getattr(tournament.settings, "best_game_overall_attempts", 0)
    counts = Counter(card.player_id for card in tournament.cards)
    assert not most or max(counts.values(), default=0) <= most


def card_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """Player id -> points of the best cards, each game ranked by comparison with all others."""
    ranked = _ranked_cards(tournament)
    ids = {game.card_id for game in ranked}
    field = [game for game in completed_games(tournament) if game.card_id in ids and not game.is_voided]
    games = getattr(tournament.settings, "card_best_game_games_counted", 0) or None
    cards = getattr(tournament.settings, "card_best_game_cards_counted", 1)
    values: dict[int, list[int]] = {}
    for card in ranked:
        own = [game for game in field if game.card_id == card.card_id]
        points = sorted(
            (curves.points_of_rank(_curve(tournament), _rank(game, field)) for game in own), reverse=True
        )
        values.setdefault(card.player_id, []).append(sum(points[:games]))
    return {
        entrant.player_id: entrant.points_adjustment
        + sum(sorted(values.get(entrant.player_id, []), reverse=True)[:cards])
        for entrant in tournament.entrants
    }


def _ranked_cards(tournament: Tournament) -> list[Card]:
    cards = [card for card in tournament.cards if card.status == "completed" and not card.is_voided]
    if getattr(tournament.settings, "card_best_game_scoring", 0) == 0:
        return cards
    return [
        card
        for card in cards
        if not any(other.player_id == card.player_id and other.card_id > card.card_id for other in cards)
    ]


def race_is_sound(tournament: Tournament) -> None:
    """Check that each round puts somebody out, has safe players of the one before, and queues once."""
    before: set[int] | None = None
    size = None
    for round_ in tournament.rounds_in_order:
        games = [game for game in tournament.single_player_games if game.round_id == round_.round_id]
        members = race_members(tournament, round_)
        found = solo.round_result(tournament, round_, members)
        assert before is None or set(members) <= before
        assert len(members) <= (round_.size or 0)
        assert size in {None, round_.size}
        assert not set(found.out_ids) & found.safe_ids
        if is_started(tournament):
            assert before is None or set(members) == before
            is_done = bool(found.out_ids) and len(members) == round_.size
            assert (round_.status == "completed") == is_done
            queue = queues.waiting_spots(tournament, round_id=round_.round_id)
            assert sorted(spot.player_id for spot in queue) == sorted(
                game.player_id for game in games if game.status == "pending"
            )
        before = set(found.safe_ids)
        # All who left the same round are out in it.
        size = (round_.size or 0) - max(1, len(found.out_ids))
    playing = Counter(game.player_id for game in pending_games(tournament))
    assert max(playing.values(), default=1) == 1


def race_members(tournament: Tournament, round_: Round) -> tuple[int, ...]:
    """Ids of the players with a game or a bye in a round."""
    games = [game for game in tournament.single_player_games if game.round_id == round_.round_id]
    waiting = solo.bye_ids(tournament, round_.round_index, round_.size or 0)
    return tuple(dict.fromkeys([*(game.player_id for game in games), *sorted(waiting)]))


def race_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """Player id -> number of rounds survived."""
    totals = {entrant.player_id: entrant.points_adjustment for entrant in tournament.entrants}
    for round_ in tournament.rounds:
        members = race_members(tournament, round_)
        for player_id in solo.round_result(tournament, round_, members).safe_ids:
            totals[player_id] += 1
    return totals
