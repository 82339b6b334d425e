"""Repeated events: half of the games rated already is too many. Source: ratings, A.8."""

from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import build
from service.submissions.sent_documents import (
    LIST,
    TRUSTED,
    URL,
    a_document,
    get_submission,
    send_request,
    submit_document,
)
from silverball.kit.errors import Conflict
from silverball.service.submissions import reads as submissions_reads
from silverball.service.submissions import states
from silverball.service.submissions import writes as submissions_writes
from silverball.service.submissions.states import ComparedEvent, ComparedPlayer
from silverball.store import tables
from silverball.store.database.engine import Store

DAY = date(2026, 3, 4)
AT = build.NOW - timedelta(hours=22)
ADA, BO, CY, DI = (ComparedPlayer(name, None, 100 + n) for n, name in enumerate(("Ada", "Bo", "Cy", "Di"), 1))


@pytest.mark.parametrize(
    ("games", "rated", "count"),
    [
        ([(ADA, BO)], [(ADA, BO)], 1),
        # Playing order and results do not matter.
        ([(ADA, BO)], [(BO, ADA)], 1),
        ([(ADA, BO), (CY, DI)], [(ADA, BO)], 1),
        ([(ADA, BO), (CY, DI), (ADA, CY)], [(ADA, BO)], None),
        ([(ADA, BO), (CY, DI), (ADA, CY)], [(ADA, BO), (CY, DI)], 2),
        # Three games of two players, who met only twice in the other event.
        ([(ADA, BO)] * 5, [(ADA, BO)] * 2, None),
        ([(ADA, BO)] * 4, [(ADA, BO)] * 2, 2),
        # A game of three players differs from a game of two of them.
        ([(ADA, BO)], [(ADA, BO, CY)], None),
        ([(ADA, BO)], [], None),
        # The same people, identified by number, name or account.
        ([(ADA, BO)], [(ComparedPlayer("ADA", 7, None), ComparedPlayer("Bö", None, None))], 1),
        ([(ADA, BO)], [(ComparedPlayer("Somebody", 7, 101), ComparedPlayer("bo", 8, None))], 1),
        ([(ADA, BO)], [(ComparedPlayer("Somebody", 7, None), ComparedPlayer("bo", 8, None))], None),
    ],
)
def test_repeated_games_are_counted(
    games: list[tuple[ComparedPlayer, ...]], rated: list[tuple[ComparedPlayer, ...]], count: int | None
) -> None:
    sentence = states.repeat_fault(games, [ComparedEvent("tournament 9", rated)])
    expected = f"{count} of its {len(games)} games are those of tournament 9 on the same day."
    assert sentence == (None if count is None else expected)


GAMES = st.lists(
    st.lists(st.sampled_from((ADA, BO, CY, DI)), min_size=2, max_size=4, unique=True), min_size=1
)


@given(GAMES, GAMES, st.randoms())
def test_an_event_repeats_itself_in_any_order_but_no_event_of_other_people(
    games: list[list[ComparedPlayer]], others: list[list[ComparedPlayer]], dice: Any
) -> None:
    mixed = [dice.sample(group, len(group)) for group in dice.sample(games, len(games))]
    assert states.repeat_fault(games, [ComparedEvent("it", mixed + others)]) is not None
    strangers = [
        [ComparedPlayer(f"{player.name} II", None, (player.ifpa_id or 0) + 100) for player in g]
        for g in others
    ]
    assert states.repeat_fault(games, [ComparedEvent("it", strangers)]) is None


def a_local_night(store: Store, organizer_id: int, **values: Any) -> int:
    """A tournament with the document's first three games and another one."""
    facts = {"type": "group_matchplay", "status": "completed", "completed_at": AT, **values}
    night = build.a_tournament(store, players=0, organizer_id=organizer_id, **facts)
    people = [
        build.a_player(store, organizer_id, name=f"{number}", ifpa_id=100 + number) for number in range(1, 5)
    ]
    for group in ([0, 1, 2, 3], [3, 1, 2, 0], [1, 0], [0, 3]):
        build.a_game(store, night.tournament_id, [people[name] for name in group], status="completed")
    return night.tournament_id


@pytest.mark.parametrize(
    ("values", "is_repeated"),
    [
        ({}, True),
        ({"completed_at": AT.replace(hour=0, minute=0)}, True),
        ({"completed_at": AT - timedelta(days=1)}, False),
        ({"completed_at": AT + timedelta(days=1)}, False),
        ({"status": "started", "completed_at": None}, False),
        ({"test": True}, False),
        ({"type": "best_game"}, False),
    ],
)
def test_a_tournament_of_this_site_is_not_rated_twice(
    store: Store, values: dict[str, Any], is_repeated: bool
) -> None:
    user_id = build.a_user(store, role="organizer")
    tournament_id = a_local_night(store, user_id, **values)
    data = submit_document(store, user_id, a_document())
    if is_repeated:
        fault = f"3 of its 4 games are those of tournament {tournament_id} on the same day."
        assert (data["status"], data["errors"]) == ("invalid", [fault])
    else:
        assert data["status"] == "ready"


@pytest.mark.both_databases
def test_an_approved_submission_is_not_rated_twice_but_a_waiting_one_may_be_repeated(
    store: Store,
) -> None:
    user_id, other = (build.a_user(store, name=name, role="organizer") for name in ("Olga", "Otto"))
    submit_document(store, user_id, a_document())
    copy = submit_document(store, other, a_document(name="A copy"), f"https://{TRUSTED}/copy")
    # The first is not approved yet, so the second counts.
    assert (copy["ratingSubmissionId"], copy["status"]) == (2, "approved")
    repeated = "4 of its 4 games are those of rating submission 2"
    with pytest.raises(Conflict, match=repeated), store.write() as transaction:
        submissions_writes.approve_submission(transaction.connection, 1, build.NOW)
    assert get_submission(store, 1)["status"] == "ready"
    again = submit_document(store, user_id, a_document(name="Another copy"), f"{URL}?again")
    assert again["errors"] == ["4 of its 4 games are those of rating submission 2 on the same day."]
    send_request(store, "DELETE", f"{LIST}/2", by=other)
    with store.write() as transaction:
        submissions_writes.approve_submission(transaction.connection, 1, build.NOW)
    assert get_submission(store, 1)["status"] == "approved"


@pytest.mark.both_databases
def test_a_correction_does_not_repeat_what_it_replaces(store: Store) -> None:
    user_id = build.a_user(store, role="organizer")
    url = f"https://{TRUSTED}/night"
    assert submit_document(store, user_id, a_document(), url)["status"] == "approved"
    assert submit_document(store, user_id, a_document(name="Corrected"), url)["status"] == "approved"
    assert get_submission(store, 1)["status"] == "superseded"


def test_the_ratings_get_the_approved_events_of_a_day(store: Store) -> None:
    user_id = build.a_user(store, name="Olga Ramp", role="organizer")
    bo = build.a_user_with_number(store, name="Bo", ifpa_id=102)
    submit_document(store, user_id, a_document(), f"https://{TRUSTED}/night")
    other_day = a_document(completedAt="2026-03-05T01:00:00Z")
    submit_document(store, user_id, other_day, f"https://{TRUSTED}/late")
    submit_document(store, user_id, a_document(games=[{"results": [[1], [4]]}]), URL)
    with store.read() as db:
        (event,) = submissions_reads.counting_events(db, DAY)
    assert (event.event_id, event.name, event.format) == (1, "Thursday at the Drain", "group_matchplay")
    assert (event.submitter_id, event.submitter_name, event.day) == (user_id, "Olga Ramp", DAY)
    assert [(player.name, player.user_id, player.ifpa_id) for player in event.players] == [
        ("Ada Quill", None, 101),
        ("Bo Larkin", bo, 102),
        ("Cy Fenn", None, 103),
        ("Di Marsh", None, 104),
    ]
    assert event.games == (
        ((0,), (1,), (2,), (3,)),
        ((1,), (0, 2), (3,)),
        ((0, 1),),
        ((2,), (3,)),
    )


@pytest.mark.both_databases
def test_the_players_settled_by_the_submitter_are_rated(store: Store) -> None:
    user_id = build.a_user(store, role="organizer")
    submit_document(store, user_id, a_document(), URL)
    settled = {"players": [{"index": 0, "ifpaId": None}, {"index": 1, "ifpaId": 777}]}
    send_request(store, "POST", f"{LIST}/1/ifpa", settled, by=user_id)
    with store.write() as transaction:
        submissions_writes.approve_submission(transaction.connection, 1, build.NOW)
        (event,) = submissions_reads.counting_events(transaction.connection, DAY)
    assert [player.ifpa_id for player in event.players] == [None, 777, 103, 104]


def test_an_event_stays_with_its_day_after_the_run(store: Store) -> None:
    user_id = build.a_user(store, role="organizer")
    submit_document(store, user_id, a_document(), f"https://{TRUSTED}/night")
    later: datetime = build.NOW + timedelta(days=7)
    with store.write() as transaction:
        submissions_writes.schedule_submission(transaction.connection, 1, later)
        submissions_writes.process_day(transaction.connection, DAY, later)
        assert [
            event.event_id for event in submissions_reads.counting_events(transaction.connection, DAY)
        ] == [1]
    data = get_submission(store, 1)
    assert (data["status"], data["ratingPeriod"]) == ("processed", "2026-03-04")
    row = build.row(store, tables.rating_submission, submitter_id=user_id, event_date="2026-03-04")
    with store.read() as db:
        assert [event.event_id for event in submissions_reads.counting_events(db, DAY)] == [1], row
