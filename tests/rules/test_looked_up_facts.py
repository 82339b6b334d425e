"""Facts looked up in the organizer's book are no part of the changes of a tournament."""

from silverball.kit.values import replace
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import ArenaChanged, Change, EntrantChanged, opposite_changes
from silverball.rules.model.tournament import Entrant, LineupArena, Tournament
from silverball.rules.registry import FORMATS


def test_a_claim_and_a_category_of_later_survive_an_undo() -> None:
    ann, arena = Entrant(player_id=1), LineupArena(arena_id=2)
    before = Tournament(
        tournament_id=1,
        type="matchplay",
        status="started",
        settings=FORMATS["matchplay"].settings(),
        entrants=(ann,),
        lineup=(arena,),
    )
    made: list[Change] = [
        EntrantChanged(ann, replace(ann, is_active=False)),
        ArenaChanged(arena, replace(arena, is_active=False)),
    ]
    after = apply_changes(before, made)
    claimed = replace(
        after,
        entrants=(replace(after.entrants[0], user_id=7),),
        lineup=(replace(after.lineup[0], category_id=4),),
    )
    back = apply_changes(claimed, opposite_changes(made))
    assert back == before
    assert (back.entrants[0].user_id, back.lineup[0].category_id) == (7, 4)
