"""Forms with arbitrary input: they succeed or are refused with a sentence, and never fail."""

from contextlib import ExitStack
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hostile
from selection import SEED, examples
from service.kept_night import KINDS, STATES, KeptDatabase, kept_database, play_night
from silverball.kit.http.endpoints import collect_endpoints
from silverball.slices import ROUTE_MODULES
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.web.console import views as console_views
from silverball.web.console.actions import ACTIONS
from trials.figures import count_attempts
from web import page_forms
from web.director import FORM_TYPE, HERE, Director
from web.form_senders import FormSenders
from web.visitor import Visitor

__all__ = ["kept_database"]

THINGS = (
    "player_id arena_id bank_id user_id round_id game_id suggestion_id single_player_game_id card_id queue_id"
    " webhook_id webhook_delivery_id"
)
ENTERED = (
    "action name description motdText type players band names playerId withPlayerId strikes status seed of"
    " pointsAdjustment scoreAdjustment quantity arenaId redraw bestGameBlocked amazingRaceSeed score seen way"
    " first forfeit striking strike place-1 place-2 score-1 score-2 minutes strokes rolls roundId key form"
    " locationId seriesId startLocal endLocal timezone was-timezone tournamentId linkType linkedId limited"
    " automaticEntries price currency bundles playerLimit openAt selfCheckinStatus custom1 labels labelColor"
    " set-scoring set-3P set-4P set-curve url kind events isActive"
    " page then set-duration set-pairing set-playoffsCutoffs set-knockoutStrikeCount"
    " text leaves ruling gameId awayRounds openGame dissolveQueue removeScores line-1 line-x players-1 seen-1"
    " pairs taken shares entryFee extras federationFee houseShare rounding published paid"
)
FIELDS = [*THINGS.split(" "), *ENTERED.split(" ")]
NEW_FIELDS = [
    *("name", "startLocal", "timezone", "set-duration", "set-pairing", "preview", "sample", "key"),
    *("like", "playerId", "arenaId", "locationId", "seriesId"),
]
VALUES = st.one_of(
    st.sampled_from(["", "1", "2", "3", "0", "-1", "on", "active", "inactive", "started", "order", "forget"]),
    st.sampled_from(["matchplay", "bracket", "9" * 19, "9" * 30, "1.5", "1e9", "NaN", "Infinity", "1,000"]),
    st.sampled_from(["../..", "?round=1", "/players", "//evil.example", "\x00", "\ud800", "\n\n", "4 A\nx"]),
    st.sampled_from(hostile.PAYLOADS),
    st.text(max_size=20),
)
FEW = settings(
    max_examples=examples(12),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A director with a planned and several started tournaments, by path."""
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('forms') / 'forms.db'}")
    migrate.migrate(store)
    with Visitor(store) as visitor:
        director = Director(store, visitor)
        paths = []
        for type_ in ("group_knockout", "best_game", "golf", "frenzy", "amazingrace"):
            director.create(type_)
            director.start(6, 4)
            paths.append(director.at)
        director.create("matchplay")
        paths.append(director.at)
        yield director, paths
    store.close()


@pytest.mark.sample(30)
@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_an_action_succeeds_or_is_refused(nights: tuple[Director, list[str]], action: str) -> None:
    director, paths = nights
    csrf = director.visitor.csrf()
    if action == "delete":
        director.create("matchplay")
        paths = [director.at]

    @FEW
    @given(
        path=st.sampled_from(paths), fields=st.lists(st.tuples(st.sampled_from(FIELDS), VALUES), max_size=14)
    )
    def send(path: str, fields: list[tuple[str, str]]) -> None:
        body = urlencode([*fields, ("csrf", csrf)], errors="replace")
        answer = director.visitor.post(f"{path}/do/{action}", content=body, headers={**FORM_TYPE, **HERE})
        assert answer.status_code in {201, 303, 400, 403, 404, 409, 422}
        if answer.status_code == 201:
            # A link for a director needs nothing to be typed.
            assert "shown only this once" in answer.text
        elif answer.status_code == 303:
            assert answer.headers["location"].startswith(("/t/", "/run"))
            assert "//" not in answer.headers["location"]
        else:
            assert page_forms.alerts_on(answer.text)
            assert "<script>alert" not in answer.text

    send()


@pytest.mark.sample(6)
@pytest.mark.parametrize("view", console_views.VIEWS)
def test_a_page_is_shown_for_any_query(nights: tuple[Director, list[str]], view: str) -> None:
    director, paths = nights

    @FEW
    @given(
        path=st.sampled_from(paths),
        chosen=st.dictionaries(st.sampled_from(console_views.QUERY_FIELDS), VALUES),
    )
    def ask(path: str, chosen: dict[str, str]) -> None:
        address = f"{path}/{view}".rstrip("/") + f"?{urlencode(chosen, errors='replace')}"
        assert director.visitor.get(address).status_code == 200

    ask()


@pytest.mark.parametrize("type_", ["", "none", "matchplay", "golf"])
def test_a_new_tournament_is_made_or_refused(nights: tuple[Director, list[str]], type_: str) -> None:
    director, _ = nights
    csrf = director.visitor.csrf()

    @FEW
    @given(fields=st.lists(st.tuples(st.sampled_from(NEW_FIELDS), VALUES)))
    def send(fields: list[tuple[str, str]]) -> None:
        body = urlencode([*fields, ("type", type_), ("csrf", csrf)], errors="replace")
        answer = director.visitor.post("/run/new", content=body, headers={**FORM_TYPE, **HERE})
        assert answer.status_code in {200, 303, 409, 422}

    send()


@pytest.mark.sample(3)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_form_of_a_night_fails_in_any_format_or_state(
    kept_database: KeptDatabase, kind: str, state: str
) -> None:
    night = play_night(kept_database.store, kind, state)
    with ExitStack() as stack:
        senders = FormSenders(kept_database, night, stack)
        sent = list(senders.statuses(Random(f"{SEED} {kind} {state}")))
    assert {sender for _, sender, _, status in sent if status in (201, 303)} >= {"director"}
    assert [answer for answer in sent if answer[3] >= 500] == []
    count_attempts("forms of each format and state", len(sent))


def test_forms_prepare_what_the_interface_prepares() -> None:
    prepared = {endpoint.prepare for endpoint in collect_endpoints(*ROUTE_MODULES)} - {None}
    assert {action.prepare for action in ACTIONS.values()} - {None} == prepared
