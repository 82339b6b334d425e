"""What must hold in nights of single player games, counted in another and slower way than the rules do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

from silverball.rules.mechanics import queues
from silverball.rules.model.tournament import Card, SinglePlayerGame, Tournament
from silverball.rules.ranking import bestgame, race
from silverball.rules.scoring import bowling, curves


def started(tournament: Tournament) -> bool:
    return tournament.status == "started"


def waiting(tournament: Tournament) -> list[SinglePlayerGame]:
    return [one for one in tournament.single_player_games if one.status != "completed"]


def over(tournament: Tournament) -> list[SinglePlayerGame]:
    return [one for one in tournament.single_player_games if one.status == "completed"]


def everybody_has_every_round(tournament: Tournament) -> None:
    """While it runs each active player has one game in each round, and nobody has two."""
    counts = Counter((one.player_id, one.round_id) for one in tournament.single_player_games)
    assert max(counts.values(), default=1) == 1
    if started(tournament):
        wanted = {(who, one.round_id) for who in tournament.active_ids for one in tournament.rounds}
        assert wanted <= set(counts)
        done = {one.round_id for one in tournament.rounds if one.status == "completed"}
        assert all(
            one.status == "completed" for one in tournament.single_player_games if one.round_id in done
        )


def golf_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """Strokes added up hole by hole; holes that were not played count the limit in the end."""
    limit = getattr(tournament.settings, "golf_stroke_limit", 0) or 10
    holes = getattr(tournament.settings, "golf_duration", 0)
    counted = getattr(tournament.settings, "golf_holes_counted", 0) or holes
    totals = {}
    for entrant in tournament.entrants:
        own = [one.points for one in over(tournament) if one.player_id == entrant.player_id]
        strokes = sorted(int(points or 0) for points in own)
        if tournament.status == "completed":
            strokes = sorted(strokes + [limit] * (holes - len(strokes)))
        totals[entrant.player_id] = sum(strokes[:counted]) + entrant.points_adjustment
    return totals


def bowling_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """The values of the frames that are decided, as they are stored."""
    totals = {one.player_id: one.points_adjustment for one in tournament.entrants}
    for one in over(tournament):
        totals[one.player_id] += one.points or 0
    return totals


def frames_are_counted(tournament: Tournament) -> None:
    """What is stored with a frame is its value with bonuses."""
    count = getattr(tournament.settings, "golf_duration", 0)
    for player_id in {one.player_id for one in over(tournament)}:
        own = {one.game_index: one for one in over(tournament) if one.player_id == player_id}
        frames = [own[index].rolls if index in own else () for index in range(count)]
        values = bowling.frame_values(frames, count)
        assert {index: one.points for index, one in own.items()} == {
            index: None if values[index or 0] is None else Decimal(values[index or 0] or 0) for index in own
        }


def queues_have_no_gaps(tournament: Tournament) -> None:
    """Places count from 0, everybody waits once; who plays does so on one arena with nobody else."""
    keys = {(one.arena_id, one.round_id) for one in tournament.queue}
    for arena_id, round_id in keys:
        queue = queues.waiting_spots(tournament, arena_id=arena_id, round_id=round_id)
        assert [one.queue_index for one in queue] == list(range(len(queue)))
    waits = Counter(one.player_id for one in tournament.queue if not one.is_done)
    assert max(waits.values(), default=1) == 1


def one_game_at_once(tournament: Tournament) -> None:
    playing = [one for one in tournament.single_player_games if one.status == "started"]
    assert len({one.player_id for one in playing}) == len(playing)
    assert len({one.arena_id for one in playing}) == len(playing)


def marks_are_those_of_a_slow_count(tournament: Tournament) -> None:
    """Every mark equals the one found by comparing each score with all others."""
    each = getattr(tournament.settings, "best_game_number_of_best_games", 1)
    valid = [one for one in over(tournament) if not one.is_voided]
    holding = []
    for one in valid:
        beside = [two for two in valid if (two.player_id, two.arena_id) == (one.player_id, one.arena_id)]
        better = [two for two in beside if _goes_before(two, one)]
        if len(better) < each:
            holding.append(one)
    expected = {one.single_player_game_id: bestgame.NO_MARK for one in over(tournament)}
    for one in holding:
        points = Decimal(curves.points_of_rank(_curve(tournament), _rank(one, holding)))
        expected[one.single_player_game_id] = bestgame.GameMark(points, True)
    assert bestgame.game_marks(tournament) == expected


def _goes_before(one: SinglePlayerGame, other: SinglePlayerGame) -> bool:
    return (-(one.score or 0), one.single_player_game_id) < (-(other.score or 0), other.single_player_game_id)


def _rank(one: SinglePlayerGame, field: Sequence[SinglePlayerGame]) -> int:
    return 1 + sum(two.arena_id == one.arena_id and (two.score or 0) > (one.score or 0) for two in field)


def _curve(tournament: Tournament) -> str:
    return str(getattr(tournament.settings, "best_game_scoring", ""))


def best_game_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """The best arenas of each player added up."""
    marks = bestgame.game_marks(tournament)
    counted = getattr(tournament.settings, "best_game_arenas_counted", 0) or None
    totals = {}
    for entrant in tournament.entrants:
        arenas: Counter[int | None] = Counter()
        for one in over(tournament):
            if one.player_id == entrant.player_id:
                arenas[one.arena_id] += int(marks[one.single_player_game_id].points)
        totals[entrant.player_id] = sum(sorted(arenas.values(), reverse=True)[:counted]) + (
            entrant.points_adjustment
        )
    return totals


def limits_hold(tournament: Tournament) -> None:
    """Nobody has more games than may be played, in all or on one arena."""
    overall = getattr(tournament.settings, "best_game_overall_attempts", 0)
    on_arena = getattr(tournament.settings, "best_game_attempts_on_arena", 0)
    counts = Counter(one.player_id for one in tournament.single_player_games)
    pairs = Counter((one.player_id, one.arena_id) for one in tournament.single_player_games)
    assert not overall or max(counts.values(), default=0) <= overall
    assert not on_arena or max(pairs.values(), default=0) <= on_arena


def cards_are_sound(tournament: Tournament) -> None:
    """One card in progress per player; no arena twice on a card; a card is over when it is full."""
    size = getattr(tournament.settings, "card_best_game_games_per_card", 0)
    filling = [one.player_id for one in tournament.cards if one.status == "started" and not one.is_voided]
    assert len(set(filling)) == len(filling)
    for card in tournament.cards:
        games = [one for one in tournament.single_player_games if one.card_id == card.card_id]
        # A card that was voided during its first game has none, and may be put back.
        assert games or card.status == "started"
        assert len({one.arena_id for one in games}) == len(games) <= size
        is_full = sum(one.status == "completed" for one in games) == size
        assert (card.status == "completed") == is_full
        assert all(one.is_voided == card.is_voided for one in games)
    most = getattr(tournament.settings, "best_game_overall_attempts", 0)
    counts = Counter(one.player_id for one in tournament.cards)
    assert not most or max(counts.values(), default=0) <= most


def card_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """Each player's best cards, every game ranked by comparing it with all others."""
    ranked = _ranked_cards(tournament)
    ids = {one.card_id for one in ranked}
    field = [one for one in over(tournament) if one.card_id in ids and not one.is_voided]
    games = getattr(tournament.settings, "card_best_game_games_counted", 0) or None
    cards = getattr(tournament.settings, "card_best_game_cards_counted", 1)
    values: dict[int, list[int]] = {}
    for card in ranked:
        own = [one for one in field if one.card_id == card.card_id]
        points = sorted(
            (curves.points_of_rank(_curve(tournament), _rank(one, field)) for one in own), reverse=True
        )
        values.setdefault(card.player_id, []).append(sum(points[:games]))
    return {
        one.player_id: one.points_adjustment
        + sum(sorted(values.get(one.player_id, []), reverse=True)[:cards])
        for one in tournament.entrants
    }


def _ranked_cards(tournament: Tournament) -> list[Card]:
    cards = [one for one in tournament.cards if one.status == "completed" and not one.is_voided]
    if getattr(tournament.settings, "card_best_game_scoring", 0) == 0:
        return cards
    return [
        one
        for one in cards
        if not any(two.player_id == one.player_id and two.card_id > one.card_id for two in cards)
    ]


def race_is_sound(tournament: Tournament) -> None:
    """Each round takes one out; who is in a round was safe in the one before; who is to play waits once."""
    before: set[int] | None = None
    for one in tournament.rounds_in_order:
        games = [game for game in tournament.single_player_games if game.round_id == one.round_id]
        members = tuple(dict.fromkeys(game.player_id for game in games))
        found = race.round_result(tournament, one, members)
        assert before is None or set(members) <= before
        assert len(members) <= (one.size or 0)
        assert found.eliminated_id not in found.safe_ids
        if started(tournament):
            assert before is None or set(members) == before
            is_done = found.eliminated_id is not None and len(members) == one.size
            assert (one.status == "completed") == is_done
            queue = queues.waiting_spots(tournament, round_id=one.round_id)
            assert sorted(spot.player_id for spot in queue) == sorted(
                game.player_id for game in games if game.status == "pending"
            )
        before = set(found.safe_ids)
    playing = Counter(game.player_id for game in waiting(tournament))
    assert max(playing.values(), default=1) == 1
    sizes = [one.size for one in tournament.rounds_in_order]
    assert sizes == list(range(sizes[0] or 0, 1, -1))[: len(sizes)] if sizes else True


def race_points(tournament: Tournament) -> Mapping[int, Decimal]:
    """Rounds in which somebody else was below."""
    totals = {one.player_id: one.points_adjustment for one in tournament.entrants}
    for one in tournament.rounds:
        games = [game for game in tournament.single_player_games if game.round_id == one.round_id]
        members = tuple(dict.fromkeys(game.player_id for game in games))
        for player_id in race.round_result(tournament, one, members).safe_ids:
            totals[player_id] += 1
    return totals
