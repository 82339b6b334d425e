"""If-Match with a revision that the database has lost and reached again: the change is refused."""

import pytest

import build
import going_back
from service.writing_endpoints import do, name_of
from silverball.store.database.engine import Store


@pytest.mark.parametrize("form", ["{tag}", "W/{tag}", '"7", {tag}'])
def test_a_tag_of_a_lost_revision_changes_nothing_although_the_number_is_the_same(
    store: Store, form: str
) -> None:
    user = build.a_user(store, role="organizer")
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/name"
    earlier = going_back.take_copy(store)
    _, _, lost = do(store, "PATCH", path, {"name": "lost"}, by=user)
    store.disconnect()
    earlier.bring_back()
    _, _, kept = do(store, "PATCH", path, {"name": "kept"}, by=user)
    assert lost["x-tournament-revision"] == kept["x-tournament-revision"] == "2"
    stale = form.format(tag=lost["x-tournament-tag"])
    status, _, headers = do(store, "PATCH", path, {"name": "stale"}, by=user, if_match=stale)
    assert (status, name_of(store, night.tournament_id)) == (412, "kept")
    assert headers["x-tournament-tag"] == kept["x-tournament-tag"]
    known = form.format(tag=kept["x-tournament-tag"])
    assert do(store, "PATCH", path, {"name": "new"}, by=user, if_match=known)[0] == 200


def test_tag_and_number_of_every_answer_go_on_matching(store: Store) -> None:
    user = build.a_user(store, role="organizer")
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/name"
    _, _, headers = do(store, "PATCH", path, {"name": "first"}, by=user)
    for number in range(3):
        for name in ("x-tournament-tag", "x-tournament-revision"):
            sent = {"name": f"{name} {number}"}
            status, _, headers = do(store, "PATCH", path, sent, by=user, if_match=headers[name])
            assert status == 200
    assert headers["x-tournament-tag"].startswith(f'"{headers["x-tournament-revision"]}-')


def test_a_tag_of_a_revision_before_the_copy_holds_after_it(store: Store) -> None:
    user = build.a_user(store, role="organizer")
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/name"
    _, _, shared = do(store, "PATCH", path, {"name": "shared"}, by=user)
    earlier = going_back.take_copy(store)
    do(store, "PATCH", path, {"name": "lost"}, by=user)
    store.disconnect()
    earlier.bring_back()
    tag = shared["x-tournament-tag"]
    assert do(store, "PATCH", path, {"name": "new"}, by=user, if_match=tag)[0] == 200
