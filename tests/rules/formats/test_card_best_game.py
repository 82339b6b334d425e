"""Cards of best games. Source: formats, sections 14.19, 15, 19 and 24; points read off the curves by hand."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night
from rules.properties import quick
from rules.single_player_night import newest_game, play_card, play_score, undo_all
from silverball.kit.errors import Conflict, Invalid, NotFound, WrongFormat
from silverball.kit.values import replace
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.outcome import AttemptOutcome
from silverball.rules.model.tournament import Card, SinglePlayerGame
from silverball.rules.ranking import bestgame
from silverball.rules.registry import FORMATS

KEYS = (
    "scorekeeping cardBestGameGamesPerCard cardBestGameCardsCounted cardBestGameGamesCounted "
    "cardBestGameScoring bestGameScoring bestGameOverallAttempts useQueues suggestions"
)


def card_night(players: int = 4, arenas: int = 4, **given: Any) -> Night:
    """A started night of cards of two games."""
    night = a_night(
        "card_best_game", players=players, arenas=arenas, **{"card_best_game_games_per_card": 2, **given}
    )
    night.start()
    return night


def points_of_card(night: Night, card: Card) -> list[int]:
    """Current points of a card's games, in their order."""
    marks = bestgame.game_marks(night.tournament)
    games = [game for game in night.tournament.single_player_games if game.card_id == card.card_id]
    return [int(marks[game.single_player_game_id].points) for game in games]


def current_card(night: Night, card: Card) -> Card:
    """The card as it is now."""
    return next(each for each in night.tournament.cards if each.card_id == card.card_id)


def standings_rows(night: Night) -> list[tuple[int, int, str]]:
    return [(row.position, row.player_id, str(row.points)) for row in night.standings()]


def void_card(night: Night, card: Card) -> None:
    night.apply(single_player_commands.void_card(night.tournament, card.card_id, night.now))


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    defaults = settings.default_values(FORMATS["card_best_game"].settings)
    assert list(defaults) == KEYS.split()
    assert defaults == {
        "scorekeeping": "user",
        "cardBestGameGamesPerCard": 5,
        "cardBestGameCardsCounted": 1,
        "cardBestGameGamesCounted": 0,
        "cardBestGameScoring": 0,
        "bestGameScoring": "bg_linear",
        "bestGameOverallAttempts": 0,
        "useQueues": False,
        "suggestions": "restricted",
    }


@pytest.mark.parametrize(
    "given", [{"cardBestGameGamesPerCard": 0}, {"cardBestGameScoring": 2}, {"cardBestGameCardsCounted": 0}]
)
def test_a_value_outside_its_limits_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=next(iter(given))):
        settings.read_settings(FORMATS["card_best_game"].settings, given)


def test_the_first_score_opens_a_card_and_the_last_one_completes_it() -> None:
    night = card_night()
    first = play_card(night, 1, {501: 900})
    assert (first.status, first.is_voided) == ("started", False)
    play_card(night, 1, {502: 800})
    assert current_card(night, first).status == "completed"
    second = play_card(night, 1, {501: 700})
    assert second.card_id != first.card_id
    games = night.tournament.single_player_games
    assert [(game.card_id, game.game_index) for game in games] == [
        (first.card_id, 0),
        (first.card_id, 1),
        (second.card_id, 0),
    ]


def test_every_game_of_a_completed_card_holds_a_rank_on_its_arena() -> None:
    night = card_night()
    mine = play_card(night, 1, {501: 900, 502: 100})
    other = play_card(night, 2, {501: 800, 502: 200})
    third = play_card(night, 1, {501: 850, 502: 50})
    assert points_of_card(night, mine) == [100, 99]
    assert points_of_card(night, other) == [98, 100]
    assert points_of_card(night, third) == [99, 98]
    assert standings_rows(night)[:2] == [(1, 1, "199.00"), (2, 2, "198.00")]
    marks = bestgame.is_best_by_card(night.tournament)
    assert marks == {mine.card_id: True, other.card_id: True, third.card_id: False}


def test_a_row_names_the_cards_that_count() -> None:
    night = card_night()
    mine = play_card(night, 1, {501: 900, 502: 100})
    play_card(night, 1, {503: 5})
    row = night.standings()[0]
    assert row.cards_counted is not None
    assert [
        (counted_card.card_id, counted_card.points, counted_card.count) for counted_card in row.cards_counted
    ] == [(mine.card_id, Decimal(200), 2)]
    assert (row.games_played, row.entries_played, row.points_list) == (3, 1, ("200.00",))
    assert row.tiebreakers == ("200.00",)


def test_a_card_in_progress_shows_what_it_would_get_and_moves_nobody() -> None:
    night = card_night()
    done = play_card(night, 1, {501: 500, 502: 500})
    going_on = play_card(night, 2, {501: 900})
    assert (points_of_card(night, going_on), points_of_card(night, done)) == ([100], [100, 100])
    going_on = play_card(night, 2, {502: 400})
    assert (points_of_card(night, going_on), points_of_card(night, done)) == ([100, 99], [99, 100])


def test_several_cards_may_count_or_only_the_best_games_of_a_card() -> None:
    night = card_night(card_best_game_cards_counted=2, card_best_game_games_counted=1)
    play_card(night, 1, {501: 900, 502: 100})
    play_card(night, 1, {501: 100, 502: 900})
    play_card(night, 1, {501: 500, 502: 500})
    play_card(night, 2, {501: 600, 502: 600})
    # Ranks of player 1: 1 and 4, 4 and 1, 3 and 3; the best game of the two best cards.
    assert standings_rows(night)[:2] == [(1, 1, "200.00"), (2, 2, "99.00")]


def test_only_the_newest_card_of_a_player_may_be_ranked() -> None:
    night = card_night(card_best_game_scoring=1)
    old = play_card(night, 1, {501: 900, 502: 900})
    other = play_card(night, 2, {501: 800, 502: 800})
    new = play_card(night, 1, {501: 700})
    # The new card would take the old one's place: nobody but player 2 is above it.
    assert (points_of_card(night, old), points_of_card(night, other), points_of_card(night, new)) == (
        [100, 100],
        [99, 99],
        [99],
    )
    play_card(night, 1, {502: 700})
    assert (points_of_card(night, old), points_of_card(night, other), points_of_card(night, new)) == (
        [0, 0],
        [100, 100],
        [99, 99],
    )
    void_card(night, new)
    assert (points_of_card(night, old), points_of_card(night, other)) == ([100, 100], [99, 99])


def test_a_voided_card_never_counts_takes_no_score_and_is_used_up() -> None:
    night = card_night(best_game_overall_attempts=1)
    card = play_card(night, 1, {501: 900})
    void_card(night, card)
    assert {game.is_voided for game in night.tournament.single_player_games} == {True}
    assert (points_of_card(night, card), standings_rows(night)[0]) == ([0], (1, 1, "0.00"))
    assert night.standings()[0].entries_played == 1
    with pytest.raises(Conflict, match="all 1 cards"):
        play_card(night, 1, {502: 800})
    night.apply(single_player_commands.unvoid_card(night.tournament, card.card_id, night.now))
    play_card(night, 1, {502: 800})
    assert points_of_card(night, card) == [100, 100]


def test_a_card_is_not_put_back_while_another_one_is_being_filled() -> None:
    night = card_night()
    first = play_card(night, 1, {501: 900})
    void_card(night, first)
    second = play_card(night, 1, {501: 800})
    with pytest.raises(Conflict, match=f"filling card {second.card_id}"):
        single_player_commands.unvoid_card(night.tournament, first.card_id, night.now)


def test_voiding_a_card_abandons_its_open_game() -> None:
    night = card_night()
    play_card(night, 1, {501: 900})
    play_score(night, 1, 502, None)
    void_card(night, night.tournament.cards[0])
    assert [game.status for game in night.tournament.single_player_games] == ["completed"]


def test_a_deleted_card_was_never_there() -> None:
    night = card_night(best_game_overall_attempts=1)
    card = play_card(night, 1, {501: 900, 502: 800})
    night.apply(single_player_commands.delete_card(night.tournament, card.card_id))
    assert (night.tournament.cards, night.tournament.single_player_games) == ((), ())
    assert play_card(night, 1, {501: 900}).status == "started"


def test_a_deleted_game_opens_its_card_and_the_last_one_takes_it_along() -> None:
    night = card_night()
    card = play_card(night, 1, {501: 900, 502: 800})
    for arena_id, cards in ((502, 1), (501, 0)):
        game = newest_game(night.tournament, 1, arena_id)
        night.apply(
            single_player_commands.delete_attempt(night.tournament, game.single_player_game_id, night.now)
        )
        assert len(night.tournament.cards) == cards
        assert all(each.status == "started" for each in night.tournament.cards)
    assert card not in night.tournament.cards


def test_a_card_is_not_opened_again_while_another_one_is_being_filled() -> None:
    night = card_night()
    play_card(night, 1, {501: 900, 502: 800})
    game = newest_game(night.tournament, 1, 502)
    play_card(night, 1, {503: 1})
    with pytest.raises(Conflict, match="cannot be opened again"):
        single_player_commands.delete_attempt(night.tournament, game.single_player_game_id, night.now)


def test_a_corrected_score_moves_the_ranks() -> None:
    night = card_night()
    card = play_card(night, 1, {501: 900, 502: 800})
    play_card(night, 2, {501: 700, 502: 700})
    game = newest_game(night.tournament, 1, 501)
    night.record(AttemptOutcome(single_player_game_id=game.single_player_game_id, score=600))
    assert points_of_card(night, card) == [99, 100]


def test_a_new_score_tells_which_games_and_cards_it_moves() -> None:
    night = card_night()
    mine = play_card(night, 1, {501: 900, 502: 800})
    play_card(night, 2, {501: 950})
    before = night.tournament
    other = play_card(night, 2, {502: 700})
    moved = [
        newest_game(night.tournament, 1, 501),
        newest_game(night.tournament, 2, 501),
        newest_game(night.tournament, 2, 502),
    ]
    assert bestgame.games_with_changed_marks(before, night.tournament) == [
        game.single_player_game_id for game in moved
    ]
    assert bestgame.cards_with_changed_marks(before, night.tournament) == [mine.card_id, other.card_id]


def test_an_arena_is_on_a_card_once() -> None:
    night = card_night(card_best_game_games_per_card=3)
    play_card(night, 1, {501: 900})
    with pytest.raises(Conflict, match="Arena 501 is on card"):
        play_card(night, 1, {501: 950})


def test_a_card_whose_last_game_is_being_played_has_no_room() -> None:
    night = card_night()
    play_card(night, 1, {501: 900})
    play_score(night, 1, 502, None)
    with pytest.raises(Conflict, match="has all its games"):
        play_score(night, 1, 503, 5)
    assert play_score(night, 1, 502, 5).status == "completed"


def test_entries_are_cards() -> None:
    night = card_night()
    entrants = tuple(replace(entrant, entries_bought=1) for entrant in night.tournament.entrants)
    night.tournament = replace(night.tournament, entrants=entrants, has_entry_limits=True)
    play_card(night, 1, {501: 900, 502: 800})
    row = night.standings()[0]
    assert (row.entries_played, row.entries_available) == (1, 0)
    with pytest.raises(Conflict, match="all 1 entries"):
        play_card(night, 1, {501: 5})


def test_a_player_waits_for_an_arena_and_plays_it_on_their_card() -> None:
    night = card_night(use_queues=True, suggestions="disabled")
    play_card(night, 1, {501: 900})
    with pytest.raises(Conflict, match="Arena 501 is on card"):
        single_player_commands.join_queue(night.tournament, 1, 501, night.now)
    night.apply(single_player_commands.join_queue(night.tournament, 1, 502, night.now))
    spot = night.tournament.queue[0].queue_id
    night.apply(single_player_commands.start_from_queue(night.tournament, spot, night.now))
    assert newest_game(night.tournament, 1, 502).card_id == night.tournament.cards[0].card_id


def test_single_games_of_a_card_are_not_voided_and_unknown_cards_are_not_found() -> None:
    night = card_night()
    game = play_score(night, 1, 501, 900)
    with pytest.raises(Conflict, match="Void card"):
        single_player_commands.void_attempt(night.tournament, game.single_player_game_id, night.now)
    with pytest.raises(NotFound):
        single_player_commands.void_card(night.tournament, 1, night.now)
    with pytest.raises(Conflict, match="is not voided"):
        single_player_commands.unvoid_card(night.tournament, night.tournament.cards[0].card_id, night.now)
    void_card(night, night.tournament.cards[0])
    with pytest.raises(Conflict, match="voided already"):
        void_card(night, night.tournament.cards[0])
    with pytest.raises(Invalid):
        play_score(night, 1, 502, -1)
    other = a_night("best_game")
    other.start()
    with pytest.raises(WrongFormat):
        single_player_commands.void_card(other.tournament, 1, other.now)


def test_queues_and_suggested_results_exclude_each_other() -> None:
    with pytest.raises(Conflict, match="exclude each other"):
        card_night(use_queues=True)


def test_completing_stores_the_points_of_the_cards() -> None:
    night = card_night()
    done = play_card(night, 1, {501: 900, 502: 800})
    play_card(night, 2, {501: 950})
    play_score(night, 3, 504, None)
    table = standings_rows(night)
    night.complete()
    assert [(game.points, game.is_best) for game in night.tournament.single_player_games] == [
        (Decimal(100), True),
        (Decimal(100), True),
        # A card that was never filled is worth nothing.
        (Decimal(0), False),
    ]
    assert bestgame.is_best_by_card(night.tournament)[done.card_id]
    # The card whose only game was being played is gone with it.
    assert [card.player_id for card in night.tournament.cards] == [1, 2]
    assert standings_rows(night) == table
    night.apply(tournament_commands.reopen(night.tournament))
    assert {game.points for game in night.tournament.single_player_games} == {None}


def test_undoing_everything_gives_the_planned_tournament_back() -> None:
    night = a_night("card_best_game", players=3, arenas=3, card_best_game_games_per_card=2)
    planned = night.tournament
    night.start()
    card = play_card(night, 1, {501: 900, 502: 800})
    play_card(night, 2, {501: 900})
    void_card(night, card)
    night.apply(single_player_commands.unvoid_card(night.tournament, card.card_id, night.now))
    night.apply(single_player_commands.delete_card(night.tournament, card.card_id))
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert undo_all(night) == planned


# A real card under a curve of 200: 200+141+149+123+173+42 = 828. Source: formats, 14.19.
REAL_RANKS = (1, 47, 39, 65, 15, 146)


def test_a_real_card_adds_up() -> None:
    night = card_night(
        players=147, arenas=6, card_best_game_games_per_card=6, best_game_scoring="bg_papa_200"
    )
    cards = tuple(Card(card_id=n, player_id=n, status="completed") for n in range(1, 148))
    games = tuple(
        SinglePlayerGame(
            single_player_game_id=10 * n + at,
            player_id=n,
            card_id=n,
            arena_id=501 + at,
            status="completed",
            # Card 1 has as many scores above it as its rank says.
            score=500 if n == 1 else 1000 + n if n <= rank else n,
        )
        for n in range(1, 148)
        for at, rank in enumerate(REAL_RANKS)
    )
    night.tournament = replace(night.tournament, cards=cards, single_player_games=games)
    assert points_of_card(night, cards[0]) == [200, 141, 149, 123, 173, 42]
    row = next(row for row in night.standings() if row.player_id == 1)
    assert row.points == "828.00"


@quick
@given(
    st.lists(st.tuples(st.integers(1, 4), st.lists(st.integers(0, 9), min_size=2, max_size=2)), max_size=12),
    st.sampled_from([0, 1]),
)
def test_a_game_of_a_ranked_card_is_worth_a_point_less_for_every_better_score(
    filled: list[tuple[int, list[int]]], ranked: int
) -> None:
    night = card_night(card_best_game_scoring=ranked)
    for player_id, scores in filled:
        play_card(night, player_id, {501: scores[0], 502: scores[1]})
    newest_of = {card.player_id: card for card in night.tournament.cards}
    cards = night.tournament.cards if ranked == 0 else tuple(newest_of.values())
    ids = {card.card_id for card in cards}
    games = [game for game in night.tournament.single_player_games if game.card_id in ids]
    for card in cards:
        own = [game for game in games if game.card_id == card.card_id]
        above = [
            sum(other.arena_id == game.arena_id and (other.score or 0) > (game.score or 0) for other in games)
            for game in own
        ]
        assert points_of_card(night, card) == [100 - count for count in above]
