"""Sentences for chats, in hand-checked cases; and no name has an effect in a chat."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostile
from silverball.service.webhooks import message_text
from silverball.service.webhooks.message_text import CHARACTERS_MAX, ChatState, NewsItem, SentenceFacts

PLANNED = ChatState()
RUNNING = ChatState("started", None, 3)
NAMES = {1: "Pat", 2: "Sam", 3: "Kim", 4: "Lee"}
NIGHT = SentenceFacts(tournament="Thursday Strikes", players=NAMES)
TABLE = {"name": "Medieval Madness"}


def a_tournament(status: str, motd: str | None = None) -> dict[str, Any]:
    return {"status": status, "motdText": motd}


def a_game(*order: int | None, bye: bool = False, status: str = "completed", **more: Any) -> dict[str, Any]:
    players = sorted(player_id for player_id in order if player_id is not None)
    return {
        "gameId": 7,
        "status": status,
        "bye": bye,
        "playerIds": players,
        "resultPositions": list(order),
        "resultPoints": [None] * len(players),
        **more,
    }


def a_struck(*points: str | None) -> dict[str, Any]:
    """A game that stores only the strikes."""
    players = list(range(1, len(points) + 1))
    positions = [None, None, None, 1]
    return a_game(*positions, playerIds=players, resultPoints=list(points), arena=TABLE)


def a_round(round_id: int = 4, status: str = "started") -> dict[str, Any]:
    return {"roundId": round_id, "status": status, "name": "Round 3"}


TOURNAMENT, ROUND, GAME = "TournamentUpdated", "RoundCreatedOrUpdated", "GameCreatedOrUpdated"


@pytest.mark.parametrize(
    ("event", "data", "state", "expected"),
    [
        (TOURNAMENT, a_tournament("started"), PLANNED, NewsItem("status", "planned started")),
        (TOURNAMENT, a_tournament("started"), RUNNING, None),
        (TOURNAMENT, a_tournament("planned"), RUNNING, None),
        (TOURNAMENT, a_tournament("completed"), RUNNING, NewsItem("status", "started completed")),
        (
            TOURNAMENT,
            a_tournament("started"),
            ChatState("completed"),
            NewsItem("status", "completed started"),
        ),
        (TOURNAMENT, a_tournament("started", "Food!"), RUNNING, NewsItem("motd", "")),
        (TOURNAMENT, a_tournament("started", "Food!"), ChatState("started", "Food!"), None),
        (TOURNAMENT, a_tournament("started", None), ChatState("started", "Food!"), None),
        (ROUND, a_round(4), RUNNING, NewsItem("round 4", "started")),
        (ROUND, a_round(3), RUNNING, None),
        (ROUND, a_round(4, "completed"), RUNNING, None),
        (ROUND, a_round(4, "planned"), RUNNING, None),
        (GAME, a_game(1, 2), RUNNING, NewsItem("game 7", "1,2")),
        (GAME, a_game(4, 2, 3, 1), RUNNING, NewsItem("game 7", "4,2,3,1")),
        (GAME, a_game(1, 2, status="started"), RUNNING, None),
        (GAME, a_game(1, None, playerIds=[1, 2]), RUNNING, None),
        (GAME, a_struck("1.00", "0.00", "1.00", "0.00"), RUNNING, NewsItem("game 7", "strikes 2,4")),
        (GAME, a_struck("1.00", "1.00", "1.00", "1.00"), RUNNING, None),
        (GAME, a_struck("7.00", "0.00", "5.00", "1.00"), RUNNING, None),
        (GAME, a_struck(None, "0.00", None, None), RUNNING, None),
        (GAME, a_game(1, bye=True), RUNNING, None),
        (GAME, a_game(1, 2, bye=True), RUNNING, None),
        ("PlayersChanged", {"playerIds": [1]}, RUNNING, None),
        ("QueueChanged", {}, RUNNING, None),
    ],
)
def test_what_is_new_in_an_event(
    event: str, data: dict[str, Any], state: ChatState, expected: NewsItem | None
) -> None:
    assert message_text.find_news(event, data, state)[0] == expected


def test_known_news_is_not_repeated() -> None:
    state = PLANNED
    for event, data in (
        (TOURNAMENT, a_tournament("started", "Food!")),
        (TOURNAMENT, a_tournament("started", "Beer!")),
        (ROUND, a_round(4)),
        (TOURNAMENT, a_tournament("completed", "Beer!")),
    ):
        first, state = message_text.find_news(event, data, state)
        again, state = message_text.find_news(event, data, state)
        assert (first is None, again) == (False, None)


def test_a_start_after_an_undone_start_is_news_again() -> None:
    _, state = message_text.find_news(TOURNAMENT, a_tournament("planned"), RUNNING)
    assert message_text.find_news(TOURNAMENT, a_tournament("started"), state)[0] == NewsItem(
        "status", "planned started"
    )


URL = "https://pinball.example.org/t/42"
CASES: list[tuple[str, dict[str, Any], NewsItem, dict[str, Any], str]] = [
    (
        TOURNAMENT,
        a_tournament("started"),
        NewsItem("status", "planned started"),
        {"player_count": 16},
        "Started with 16 players.",
    ),
    (
        TOURNAMENT,
        a_tournament("started"),
        NewsItem("status", "planned started"),
        {"player_count": 1, "url": URL},
        f"Started with 1 player. {URL}",
    ),
    (
        TOURNAMENT,
        a_tournament("completed"),
        NewsItem("status", "started completed"),
        {"places": [(1, 3), (2, 1), (3, 2)], "url": URL},
        f"Completed. 1. Kim, 2. Pat, 3. Sam {URL}",
    ),
    (
        TOURNAMENT,
        a_tournament("completed"),
        NewsItem("status", "started completed"),
        {"places": [(1, 3), (1, 1), (3, 2), (3, 4)]},
        "Completed. 1. Kim, 1. Pat, 3. Sam, 3. Lee",
    ),
    (
        TOURNAMENT,
        a_tournament("completed"),
        NewsItem("status", "started completed"),
        {"places": [(1, 1)] * 10},
        f"Completed. {', '.join(['1. Pat'] * 8)} and 2 more",
    ),
    (TOURNAMENT, a_tournament("completed"), NewsItem("status", "started completed"), {}, "Completed."),
    (
        TOURNAMENT,
        a_tournament("started"),
        NewsItem("status", "completed started"),
        {},
        "Reopened: play continues.",
    ),
    (
        TOURNAMENT,
        a_tournament("started", "Food is\nready"),
        NewsItem("motd", ""),
        {},
        "Food is ready",
    ),
    (ROUND, a_round(), NewsItem("round 4", "started"), {"game_count": 8}, "Round 3 is drawn: 8 games."),
    (ROUND, a_round(), NewsItem("round 4", "started"), {"game_count": 1}, "Round 3 is drawn: 1 game."),
    (ROUND, a_round(), NewsItem("round 4", "started"), {}, "Round 3 is open."),
    (GAME, a_game(1, 2, arena=TABLE), NewsItem("game 7", "1,2"), {}, "Pat beat Sam on Medieval Madness."),
    (GAME, a_game(1, 2, arena=None), NewsItem("game 7", "1,2"), {}, "Pat beat Sam."),
    (GAME, a_game(1, 2), NewsItem("game 7", "2,1"), {"is_corrected": True}, "Corrected: Sam beat Pat."),
    (
        GAME,
        a_game(4, 2, 3, 1, arena=TABLE),
        NewsItem("game 7", "4,2,3,1"),
        {},
        "Result on Medieval Madness: 1. Lee, 2. Sam, 3. Kim, 4. Pat.",
    ),
    (GAME, a_game(1, 9), NewsItem("game 7", "1,9"), {}, "Pat beat Player 9."),
    (
        GAME,
        a_struck("1.00", "0.00", "1.00", "0.00"),
        NewsItem("game 7", "strikes 2,4"),
        {},
        "Strikes on Medieval Madness: Sam, Lee.",
    ),
    (
        GAME,
        a_struck("1.00", "1.00", "1.00", "0.00"),
        NewsItem("game 7", "strikes 4"),
        {"is_corrected": True},
        "Corrected: A strike on Medieval Madness: Lee.",
    ),
]


@pytest.mark.parametrize(("event", "data", "news", "facts", "sentence"), CASES)
def test_a_sentence(
    event: str, data: dict[str, Any], news: NewsItem, facts: dict[str, Any], sentence: str
) -> None:
    known = SentenceFacts(**{"tournament": "Thursday Strikes", "players": NAMES, **facts})
    assert message_text.render_sentence(event, data, news, known) == f"Thursday Strikes \u00b7 {sentence}"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Pat", "Pat"),
        ("Tom & Jerry", "Tom & Jerry"),
        ("O'Brien (Jr)", "O'Brien (Jr)"),
        ("J. R. Lee", "J. R. Lee"),
        ("Åsa 王", "Åsa 王"),
        ("@everyone", "\uff20everyone"),
        ("@here", "\uff20here"),
        ("<!channel>", "\u2039!channel\u203a"),
        ("<@123>", "\u2039\uff20123\u203a"),
        ("<https://evil.example|Pat>", "\u2039https:\u200b//evil.\u200bexample\u2223Pat\u203a"),
        ("[Pat](https://evil.example)", "\uff3bPat\uff3d(https:\u200b//evil.\u200bexample)"),
        ("evil.example", "evil.\u200bexample"),
        ("http://localhost", "http:\u200b//localhost"),
        ("*bold* _it_ ~st~ `code`", "\u2217bold\u2217 \uff3fit\uff3f \u223cst\u223c \u02cbcode\u02cb"),
        ("||spoiler||", "\u2223\u2223spoiler\u2223\u2223"),
        ("# Title", "\uff03 Title"),
        ("> quote", "\u203a quote"),
        ("a\\*b", "a\uff3c\u2217b"),
        ("two\nlines\tand  more", "two lines and more"),
    ],
)
def test_a_name_stays_plain_text(name: str, shown: str) -> None:
    assert message_text.plain_text(name) == shown


@given(st.one_of(st.sampled_from(hostile.PAYLOADS), st.text(max_size=200)))
def test_no_name_has_an_effect_in_a_chat(name: str) -> None:
    facts = SentenceFacts(tournament=name, players={1: name, 2: name})
    sentence = message_text.render_sentence(
        GAME, a_game(1, 2, arena={"name": name}), NewsItem("game 7", "1,2"), facts
    )
    assert not set(sentence) & set("<>@*_~`|\\#[]\n\r")
    assert "://" not in sentence


def test_a_long_message_is_cut_where_the_strictest_service_would_refuse_it() -> None:
    sentence = message_text.render_sentence(
        TOURNAMENT, a_tournament("started", "x " * 5000), NewsItem("motd", ""), NIGHT
    )
    assert len(sentence) == CHARACTERS_MAX
    assert sentence.endswith("\u2026")


def test_the_longest_names_fit_into_a_result() -> None:
    wide = SentenceFacts(tournament="W" * 100, players=dict.fromkeys(NAMES, "W" * 100))
    game = a_game(1, 2, 3, 4, arena={"name": "W" * 100})
    sentence = message_text.render_sentence(GAME, game, NewsItem("game 7", "1,2,3,4"), wide)
    assert sentence.endswith("W.")
