"""The public pages through the front door: headers, refusals, sizes, contents."""

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from html import unescape

import markupsafe
import pytest

import build
from silverball.kit.http.endpoints import Request
from silverball.service.journal.reads import verification
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements
from silverball.web import site
from silverball.web.live import pages, tournament_view, views
from silverball.web.live.views import VIEWS
from stories.hall import Hall
from web.public_visitor import PublicVisitor, names_that_are_taken

PLAYERS = " ".join(f"Player{n:02}" for n in range(60))
NAMES = "Ann Bea Cid Dot Eve Fay Gus Hal"
HTML_BYTES_MAX = 60_000
ASSETS_BYTES_MAX = 60_000
HOSTILE = "<script>alert(1)</script>"
FOREIGN = re.compile(
    r"<(svg|iframe|style|object|embed|math|form|base|video|audio|input|button|select|details|dialog|b |x )",
    re.IGNORECASE,
)
# The one form of the page, which looks back.
OWN_FORM = re.compile(r'<form method="get" action="/t/\d+">.*?</form>', re.DOTALL)
# The field to find oneself with, what opens, and icons.
OWN_FINDER = re.compile(
    r'<button type="button" class="quiet">Not you\?</button>|<input id="who" [^<>]*>'
    r"|<details>\s*<summary>(Show it on a page of yours|As it stood earlier|How this is computed)</summary>"
    r'|<svg class="icon" aria-hidden="true"><use href="#i-\w+"/></svg>'
)
# The wall's QR code, and the symbols of the icons.
OWN_CODE = re.compile(
    r'<svg [\w=":/. -]*><path [\w=":/#. -]*/></svg>'
    r"|<svg hidden>(<symbol [^<>]*>(<(path|circle) [^<>]*/>)*</symbol>)*</svg>"
)
CUTOFFS = [{"index": 0, "value": 4, "cumulative": 4, "text": "A final", "color": None}]


@pytest.fixture
def passer(store: Store) -> Iterator[PublicVisitor]:
    opened = PublicVisitor(store, rate_limit_per_minute=3)
    yield opened
    opened.close()


def a_night(store: Store, names: str = NAMES, rounds: int = 2) -> Hall:
    """A group match play after some rounds, with the next round open."""
    hall = Hall(store, "group_matchplay", names, arenas=15, duration=9, playoffsCutoffs=CUTOFFS)
    hall.start()
    hall.play_rounds(rounds, names)
    hall.open_round()
    return hall


def test_a_page_is_cached_until_something_happens(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    at = f"/t/{hall.tournament_id}"
    first = passer.get(at)
    assert passer.get(at, if_none_match=first.headers["etag"]).status == 304
    assert gzip.decompress(passer.get(at, accept_encoding="gzip").body) == first.body
    hall.finish_all(NAMES)
    second = passer.get(at, if_none_match=first.headers["etag"])
    assert second.status == 200
    assert second.body != first.body


def test_a_part_that_says_the_same_is_not_sent_again(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    part = f"/t/{hall.tournament_id}?part=standings"
    etag = passer.get(part).headers["etag"]
    hall.patch("", {"motdText": "Coffee at ten"})
    assert passer.get(part, if_none_match=etag).status == 304
    assert passer.get(f"/t/{hall.tournament_id}?part=head").status == 200


def test_public_pages_have_no_quota_and_ignore_tokens(store: Store, passer: PublicVisitor) -> None:
    at = f"/t/{a_night(store).tournament_id}"
    for _ in range(5):
        reply = passer.get(at, authorization="Bearer nonsense")
        assert reply.status == 200
        assert not [name for name in reply.headers if name.startswith(("x-ratelimit", "access-control"))]


@pytest.mark.parametrize("path", VIEWS)
def test_each_page_has_its_content_security_policy(store: Store, passer: PublicVisitor, path: str) -> None:
    reply = passer.get(path.format(tournament_id=a_night(store, rounds=0).tournament_id))
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "connect-src 'self' ws://silverball.test wss://silverball.test" in policy
    assert "unsafe" not in policy
    is_framed = path.endswith(("/embed", "/overlay"))
    assert ("frame-ancestors *" in policy) == is_framed
    assert ("x-frame-options" in reply.headers) == (not is_framed)
    html = reply.body.decode()
    assert not re.search(r"<style|style=|<script(?![^>]+src=)| on\w+=", html)


def test_a_completed_tournament_loads_no_script_and_may_be_cached(
    store: Store, passer: PublicVisitor
) -> None:
    hall = a_night(store)
    hall.finish_all(NAMES)
    hall.complete()
    for page in ("", "/embed"):
        reply = passer.get(f"/t/{hall.tournament_id}{page}")
        assert reply.headers["cache-control"] == "private, max-age=300"
        assert "script-src" not in reply.headers["content-security-policy"]
        assert b"<script" not in reply.body
    wall = passer.get(f"/t/{hall.tournament_id}/wall")
    assert wall.headers["cache-control"] == "no-cache"
    hall.post("/reopen")
    assert b"<script" in passer.get(f"/t/{hall.tournament_id}").body


@pytest.mark.parametrize("word", ["0", "99", "abc", "1.5", str(2**63), "9" * 30, "%00"])
def test_a_tournament_that_does_not_exist_is_a_page_that_says_so(passer: PublicVisitor, word: str) -> None:
    reply = passer.get(f"/t/{word}")
    assert reply.status == 404
    assert "Nothing is here" in reply.body.decode()


@pytest.mark.parametrize("part", ["nothing", "..%2Fbase", "movers", "%00", "now,movers"])
def test_a_part_that_the_page_does_not_have_is_not_there(
    store: Store, passer: PublicVisitor, part: str
) -> None:
    assert passer.get(f"/t/{a_night(store).tournament_id}?part={part}").status == 404


@pytest.mark.parametrize(
    "query", ["round=99", "round=%FF%00", "top=abc&show=,,x", "&".join("abcdefghij"), "round=" + "9" * 400]
)
def test_what_an_address_does_not_mean_changes_nothing_else(
    store: Store, passer: PublicVisitor, query: str
) -> None:
    at = f"/t/{a_night(store).tournament_id}"
    for path in VIEWS:
        assert passer.get(f"{path.format(tournament_id=at.split('/')[2])}?{query}").status == 200


def test_too_many_parameters_are_refused_in_words(store: Store, passer: PublicVisitor) -> None:
    many = "&".join(f"a{n}=1" for n in range(21))
    reply = passer.get(f"/t/{a_night(store).tournament_id}?{many}")
    assert reply.status == 400
    assert "more than 20 parameters" in reply.body.decode()


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        (b"fbclid=x&part=now&utm_source=y", b"part=now"),
        (b"top=3&show=head%2Cnow", b"show=head%2Cnow&top=3"),
        (b"part=head&part=now", b"part=now"),
        (b"round=%E2%98%83", b"round=%E2%98%83"),
        (b"v=1", b""),
    ],
)
def test_unknown_parameters_do_not_multiply_cached_pages(query: bytes, meant: bytes) -> None:
    assert views.meaningful_query(query) == meant
    assert views.meaningful_query(meant) == meant


def test_an_unknown_format_is_refused_with_a_sentence(store: Store, passer: PublicVisitor) -> None:
    night = build.a_tournament(store, type="flipoff")
    reply = passer.get(f"/t/{night.tournament_id}")
    assert reply.status == 409
    assert "flipoff" in reply.body.decode()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_night_of_sixty_is_small(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store, PLAYERS, rounds=8)
    for path, view in VIEWS.items():
        html = passer.get(path.format(tournament_id=hall.tournament_id)).body
        assert len(html) < HTML_BYTES_MAX, path
        files = {"silverball.css", "live.css", "ball.svg", "live.js", "morph.js", *view.modules}
        assets = sum(len(gzip.compress((site.STATIC / name).read_bytes())) for name in files)
        assert assets < ASSETS_BYTES_MAX


def test_the_line_of_the_cut_lies_below_the_last_place_that_is_in(
    store: Store, passer: PublicVisitor
) -> None:
    hall = a_night(store, rounds=3)
    html = passer.page(f"/t/{hall.tournament_id}?part=standings")
    above, line, below = html.partition('<li class="cut">')
    assert line
    inside = [position for position, _, _ in hall.table() if position <= 4]
    # Whom the draw brought together decides whether the cut goes through a tie.
    words = "A final" if len(inside) == 4 else f"{inside.count(inside[-1])} tied for"
    assert words in below.partition("</li>")[0]
    assert above.count('<li id="s') == len(inside)


@pytest.mark.parametrize(
    ("kind", "unit"), [("group_matchplay", "points"), ("knockout", "strikes"), ("golf", "strokes")]
)
def test_the_standings_name_their_unit(store: Store, passer: PublicVisitor, kind: str, unit: str) -> None:
    hall = Hall(store, kind, NAMES, arenas=15)
    hall.start()
    assert f'<span class="soft">{unit}</span></h2>' in passer.page(f"/t/{hall.tournament_id}?part=standings")


def test_the_page_says_who_plays_where_and_who_begins(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    text = passer.text(f"/t/{hall.tournament_id}?part=now")
    games = hall.open_games()
    assert len(games) == 2
    by_id = {player_id: name for name, player_id in hall.ids.items()}
    for game in games:
        in_order = " ".join(by_id[player_id] for player_id in game["playerIds"])
        assert in_order in text


def test_another_round_can_be_looked_at(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    first, *_ = sorted(hall.get("/rounds")["data"], key=lambda round_: round_["index"])
    assert "Round 3" in passer.text(f"/t/{hall.tournament_id}?part=rounds")
    older = passer.text(f"/t/{hall.tournament_id}?part=rounds&round={first['roundId']}")
    assert "Round 1 complete" in older


def test_the_biggest_movers_are_those_of_the_newest_round(store: Store, passer: PublicVisitor) -> None:
    hall = Hall(store, "group_matchplay", NAMES, duration=9)
    hall.start()
    hall.play_rounds(3, NAMES)
    before = {name: position for position, name, _ in hall.table()}
    hall.play_rounds(1, " ".join(reversed(NAMES.split())))
    after = {name: position for position, name, _ in hall.table()}
    text = passer.text(f"/t/{hall.tournament_id}/wall?part=movers")
    moved = {name: before[name] - after[name] for name in after if before[name] != after[name]}
    assert moved
    longest = max(abs(places) for places in moved.values())
    told = re.findall(r"(up|down) (\d+) (\w+)", text)
    assert int(told[0][1]) == longest
    for way, places, name in told:
        assert moved[name] == (int(places) if way == "up" else -int(places))


def test_there_are_no_movers_after_the_first_round(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store, rounds=1)
    assert "movers" not in passer.text(f"/t/{hall.tournament_id}/wall?part=movers")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_names_and_messages_are_text(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    hall.patch("", {"name": HOSTILE, "motdText": HOSTILE})
    names = names_that_are_taken()
    hall.post("/players", {"players": [{"name": name} for name in names]})
    for path in VIEWS:
        html = passer.page(path.format(tournament_id=hall.tournament_id))
        assert HOSTILE not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
        for own in (OWN_FORM, OWN_FINDER, OWN_CODE):
            html = own.sub("", html)
        assert FOREIGN.search(html) is None
        assert not re.search(r"<script(?! type=.module. src=./static/)", html)
        assert not re.search(r"<img(?! src=./static/)", html)
    standings = passer.page(f"/t/{hall.tournament_id}?part=standings")
    assert [name for name in names if str(markupsafe.escape(name)) not in standings] == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_code_to_embed_a_page_is_one_frame_whatever_the_name_is(
    store: Store, passer: PublicVisitor
) -> None:
    hall = a_night(store)
    name = f'"></iframe>{HOSTILE}&amp;'
    hall.patch("", {"name": name})
    page = passer.page(f"/t/{hall.tournament_id}")
    snippet = re.search(r'<textarea id="snippet"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert snippet is not None
    # Unescaped once, it is what a person copies out of the field.
    frame = re.fullmatch(r'<iframe src="[^"]+" title="([^"<>]+)" [^<>]*></iframe>', unescape(snippet[1]))
    assert frame is not None
    assert unescape(frame[1]) == name


def test_a_name_that_changes_is_shown_at_once(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    assert "Ann" in passer.text(f"/t/{hall.tournament_id}")
    hall.send("PATCH", f"/api/players/{hall.ids['Ann']}", {"name": "Anna Lund"})
    assert "Anna Lund" in passer.text(f"/t/{hall.tournament_id}?part=standings")


def test_a_page_follows_the_feed_from_the_moment_it_was_rendered(store: Store, passer: PublicVisitor) -> None:
    hall = a_night(store)
    html = passer.page(f"/t/{hall.tournament_id}")
    epoch = re.search(r'data-epoch="(\w+)"', html)
    seq = re.search(r'data-seq="(\d+)"', html)
    assert epoch is not None
    assert seq is not None
    with store.read() as db:
        stood = announcements.channel_head(db, hall.tournament_id)
        assert verification.verify_tournament(db, hall.tournament_id).faults == []
    assert stood is not None
    assert (stood.epoch, stood.seq) == (epoch[1], int(seq[1]))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-05T21:00:00Z", "2026-03-05T21:00:00+00:00"),
        ("2026-03-05 21:00:00", "2026-03-05T21:00:00+00:00"),
        ("2026-03-05T21:00:00+01:00", "2026-03-05T20:00:00+00:00"),
        ("when the pizza comes", ""),
        (None, ""),
    ],
)
def test_a_message_of_the_day_disappears_when_it_expires(text: str | None, at: str) -> None:
    assert tournament_view.motd_expires_at(text) == at


@pytest.mark.parametrize(
    ("apps", "origins", "key"),
    [
        ("silverball=plain,silverball-laravel=laravel", "", "silverball"),
        ("old=disabled,new=laravel", "", "new"),
        ("theirs=plain,ours=plain", "theirs=https://other.test", "ours"),
        ("ours=plain", "ours=http://silverball.test", "ours"),
        ("old=disabled", "", ""),
    ],
)
def test_the_pages_use_an_app_that_they_may_use(store: Store, apps: str, origins: str, key: str) -> None:
    settings = Settings(base_url="http://silverball.test", apps=apps, app_origins=origins)
    assert pages.build(store, settings).feed_key == key


def test_every_part_names_the_events_it_follows() -> None:
    parts = {part for view in VIEWS.values() for part in (*view.parts, *view.optional_parts)}
    assert parts == set(views.PART_EVENTS)


def test_the_pages_know_a_moment_only_by_what_they_were_given(store: Store) -> None:
    """The bytes of a page depend on the revision and not on the clock."""
    hall = a_night(store)
    made = []
    for year in (2026, 2036):
        clock = partial(datetime, year, 1, 1, tzinfo=UTC)
        built = pages.PublicPages(store, "http://silverball.test", "silverball", clock)
        made.append(
            [
                built.answer(Request(method="GET", path=path.format(tournament_id=hall.tournament_id))).body
                for path in VIEWS
            ]
        )
    assert made[0] == made[1]


def test_a_page_tells_how_each_round_was_drawn(store: Store, passer: PublicVisitor) -> None:
    text = passer.text(f"/t/{a_night(store).tournament_id}/draws")
    assert "How this was drawn" in text
    assert "the dice decide among equals" in text
    assert "Nobody looked at the draw before" in text
