"""Detection of illegal draws. Source: formats, sections 3, 7 and 9."""

from collections.abc import Sequence

import pytest

from rules.night import Night, a_night
from silverball.kit.values import replace
from silverball.rules.commands import clocks
from silverball.rules.drawing import groups
from silverball.rules.model.changes import Change, GameOpened, RoundOpened
from silverball.rules.model.tournament import Game
from silverball.rules.registry import FORMATS
from silverball.rules.verify import replay


def _draw_round(night: Night) -> tuple[replay.ReplayState, list[Change]]:
    """Open a round; the state before it and the changes."""
    before = replay.stored_state(night.tournament)
    night.open_round()
    return before, night.journal[-1]


def _with(changes: Sequence[Change], **values: object) -> list[Change]:
    """The changes with these fields in every game."""
    return [
        GameOpened(replace(change.subject, **values)) if isinstance(change, GameOpened) else change  # type: ignore[arg-type]  # fields of Game
        for change in changes
    ]


def _faults(kind: str, before: replay.ReplayState, changes: Sequence[Change]) -> list[str]:
    return replay.draw_faults(FORMATS[kind].verify, before, changes, 5)


def _night(kind: str, players: int) -> Night:
    night = a_night(kind, players=players, arenas=8)
    night.start()
    return night


@pytest.mark.sample(8)
@pytest.mark.parametrize("kind", ["knockout", "group_knockout", "matchplay", "group_matchplay", "target"])
@pytest.mark.parametrize("players", [5, 7, 8, 9])
def test_draws_of_the_rules_have_no_faults(kind: str, players: int) -> None:
    night = _night(kind, players)
    for _ in range(3):
        before, changes = _draw_round(night)
        assert any(isinstance(change, RoundOpened) for change in changes)
        assert _faults(kind, before, changes) == []
        night.finish_round()


@pytest.mark.parametrize("players", range(1, 161))
def test_group_sizes_are_those_of_the_table(players: int) -> None:
    assert replay.expected_group_sizes(players) == sorted(groups.group_sizes(players))


def test_an_arena_given_twice_is_found() -> None:
    before, changes = _draw_round(_night("matchplay", 4))
    assert _faults("matchplay", before, _with(changes, arena_id=501)) == [
        "Round 1, drawn by action 5, has arena 501 twice at once."
    ]


def test_groups_of_the_wrong_size_are_found() -> None:
    before, changes = _draw_round(_night("group_matchplay", 8))
    games = [change.subject for change in changes if isinstance(change, GameOpened)]
    uneven = [games[0].player_ids[:2], (*games[0].player_ids[2:], *games[1].player_ids)]
    moved = [GameOpened(replace(game, player_ids=seats)) for game, seats in zip(games, uneven, strict=True)]
    assert _faults("group_matchplay", before, [*changes[:1], *moved]) == [
        "Round 1, drawn by action 5, has groups of [2, 6] for 8 players, not [4, 4]."
    ]


def test_a_player_drawn_twice_is_found() -> None:
    before, changes = _draw_round(_night("matchplay", 4))
    seats = next(change.subject.player_ids for change in changes if isinstance(change, GameOpened))
    faults = _faults("matchplay", before, _with(changes, player_ids=seats))
    assert faults == [f"Round 1, drawn by action 5, has player {min(seats)} twice."]


def test_a_second_bye_before_others_had_one_is_found() -> None:
    night = _night("matchplay", 5)
    night.play_round()
    first = next(game.player_ids for game in night.tournament.games if game.is_bye)
    before, changes = _draw_round(night)
    byes = [change.subject for change in changes if isinstance(change, GameOpened) and change.subject.is_bye]
    games = [change for change in changes if not (isinstance(change, GameOpened) and change.subject in byes)]
    others = _swapped(games, first[0], byes[0])
    (fault,) = _faults("matchplay", before, others)
    assert fault == (
        f"Round 2, drawn by action 5, gives player {first[0]} bye number 2 while others have had 0."
    )


def test_a_player_drawn_into_a_second_game_at_once_is_found() -> None:
    night = _night("max_matchplay", 6)
    night.apply(clocks.create_matches(night.tournament, night.dice(), night.now))
    first, *_ = night.open_games()
    night.record_order(first, *first.player_ids)
    before = replay.stored_state(night.tournament)
    busy = night.open_games()[0].player_ids[0]
    again = replace(first, game_id=-1, player_ids=(first.player_ids[0], busy), status="started")
    assert _faults("max_matchplay", before, [GameOpened(again)]) == [
        f"Action 5 draws player {busy} into a second game at once."
    ]
    free = replace(again, player_ids=first.player_ids)
    assert _faults("max_matchplay", before, [GameOpened(free)]) == []


def _swapped(games: Sequence[Change], player_id: int, bye: Game) -> list[Change]:
    """Give the bye to this player, whose place the previous holder of the bye takes."""
    made: list[Change] = []
    for game in games:
        if isinstance(game, GameOpened):
            seats = tuple(
                bye.player_ids[0] if seat == player_id else seat for seat in game.subject.player_ids
            )
            made.append(GameOpened(replace(game.subject, player_ids=seats)))
        else:
            made.append(game)
    return [*made, GameOpened(replace(bye, player_ids=(player_id,)))]


def test_a_game_that_the_loser_of_the_one_before_does_not_start_is_found() -> None:
    night = a_night("group_matchplay", players=4, games_per_round=2, player_order="loser")
    night.start()
    first, second = night.open_round()
    before = replay.stored_state(night.tournament)
    last = second.player_ids[-1]
    order = (*second.player_ids[:-1], last)
    night.record_order(first, *order)
    changes = night.journal[-1]
    assert _faults("group_matchplay", before, changes) == []
    starter = second.player_ids[0]
    assert _faults("group_matchplay", before, changes[:-1]) == [
        f"Action 5 lets player {starter} start game {second.game_id}, not the last of game {first.game_id}."
    ]
