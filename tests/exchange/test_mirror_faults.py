"""A mirror whose other side fails: a sentence for each fault, the copy as it was, and then it goes on."""

import json
import queue
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

import build
from exchange import pull_world
from exchange.pull_world import NAME, StoppedClock
from exchange.test_hostile_source import HTML, JSON
from exchange.test_mirror import answers
from silverball.cli.main import silverball_group
from silverball.demo import nights as demo_nights
from silverball.demo.robots import SteppedClock, TournamentPlan
from silverball.exchange import mirror
from silverball.exchange.mirror import COMPARE_SECONDS, STANDINGS_SECONDS, Heard, KnownParts, MirrorRun
from silverball.exchange.pull.source import Answer, ConnectionLost, PullSource, RequestPace
from silverball.service.journal.reads import verification
from silverball.service.moving import reads as moving_reads
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

# Whatever the clock of the loop says, no test waits for it.
CUT = Heard("", None, 0.0)


@dataclass
class FollowedNight:
    """A night there, its mirror here, and a source that fails as long as there is a fault."""

    local: Store
    there: Store
    real: Callable[[str], Answer]
    robot: Any
    copy: mirror.MirrorCopy = field(init=False)
    run: MirrorRun = field(init=False)
    pace: StoppedClock = field(default_factory=StoppedClock)
    sentences: list[str] = field(default_factory=list)
    fault: Answer | Exception | None = None
    seconds: float = 0.0
    wall_clock: datetime = datetime(2026, 3, 5, 22, 41, tzinfo=UTC)

    def __post_init__(self) -> None:
        reader = PullSource(
            NAME, self._ask, RequestPace(now=self.pace.now, sleep=self.pace.sleep), tries_max=2
        )
        reader.tournament_bytes_max = 2_000_000
        known = KnownParts(reader, self.robot.tournament_id)
        known.read_everything()
        self.copy = mirror.begin(self.local, NAME, known.raw, build.NOW, Random(1))
        heard: queue.Queue[Heard] = queue.Queue()
        self.run = MirrorRun(
            self.copy, known, heard, lambda: self.wall_clock, lambda: self.seconds, self.sentences.append
        )
        self.run.wait_seconds = 0
        reader.pace.sleep = lambda seconds: self.run.pause(seconds, self.pace.sleep)
        self.run.begin()

    def _ask(self, target: str) -> Answer:
        if isinstance(self.fault, Exception):
            raise self.fault
        return self.fault or self.real(target)

    def play(self) -> None:
        """Play on there, and hear what is announced."""
        with self.there.read() as db:
            head = announcements.channel_head(db, self.robot.tournament_id)
        assert head is not None
        self.robot.step()
        with self.there.read() as db:
            events = announcements.load_since(db, self.robot.tournament_id, head.epoch, head.seq, 1_000)
        assert events
        for event in events:
            self.run.heard.put(Heard(event.name, json.loads(event.data), self.seconds))

    def lost_at(self) -> datetime | None:
        with self.local.read() as db:
            mirror = moving_reads.find_mirror(db, self.copy.tournament_id)
        assert mirror is not None
        return mirror.lost_at

    def is_equal(self) -> bool:
        here = answers(self.local, self.copy.tournament_id)
        there = answers(self.there, self.robot.tournament_id)
        return all(here[part] == sent for part, sent in there.items())

    def journal_length(self) -> int:
        rows = select(func.count()).where(tables.journal.c.tournament_id == self.copy.tournament_id)
        with self.local.read() as db:
            return int(db.execute(rows).scalar_one())


@pytest.fixture
def followed(tmp_path: Path, empty_sqlite: Path) -> Iterator[FollowedNight]:
    file = tmp_path / "source.db"
    file.write_bytes(empty_sqlite.read_bytes())
    local = pull_world.new_store(empty_sqlite, tmp_path / "local.db")
    with pull_world.site(file) as source:
        client = demo_nights.organizer_client(
            source.store, Settings(), source.owner_id, SteppedClock(build.NOW)
        )
        plan = TournamentPlan(name="Followed", type="matchplay", players=4, settings={"duration": 9})
        robot = demo_nights.start_night(client, plan, demo_nights.load_book_ids(client), Random(3))
        yield FollowedNight(local, source.store, source.ask, robot)
    local.close()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (Answer(502, HTML, b"<html>Bad gateway"), "in 2 tries. It answers with status 502."),
        (Answer(429, {"retry-after": "3"}, b"{}"), "in 2 tries. It answers with status 429."),
        (Answer(429, {"retry-after": "90000"}, b"{}"), "wants to be left alone for 90000 seconds"),
        (Answer(200, HTML, b"<html>We are back soon"), "with a page, not with JSON"),
        (Answer(200, JSON, b'{"data": ['), "broken JSON"),
        (Answer(200, JSON, b'{"data": []}' + b" " * 3_000_000), "is more than a tournament can be"),
        (Answer(401, JSON, b"{}"), "does not accept the token"),
        (Answer(403, JSON, b"{}"), "does not show it to this token"),
        (Answer(302, {"location": "http://169.254.169.254/"}, b""), "on to another address"),
        (ConnectionLost("The host closed the connection or did not speak HTTP."), "closed the connection"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_fault_is_one_sentence_and_ends_with_the_fault(
    followed: FollowedNight, fault: Answer | Exception, sentence: str
) -> None:
    followed.play()
    followed.run.step()
    assert followed.is_equal()
    before, journal = answers(followed.local, followed.copy.tournament_id), followed.journal_length()
    followed.fault = fault
    for _ in range(3):
        followed.play()
        followed.run.step()
    assert sentence in followed.sentences[0]
    assert len(followed.sentences) == 1
    assert "\n" not in followed.sentences[0]
    assert followed.lost_at() == datetime(2026, 3, 5, 22, 41, tzinfo=UTC)
    assert (answers(followed.local, followed.copy.tournament_id), followed.journal_length()) == (
        before,
        journal,
    )
    followed.fault = None
    followed.seconds += COMPARE_SECONDS
    followed.run.step()
    assert followed.sentences[1:] == ["The other service answers again."]
    assert followed.lost_at() is None
    assert followed.is_equal()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "body", [b'{"data": 17}', b'{"data": {}}', b'{"data": [{}]}', b"{}", b"[17]", b'{"queue": 5}']
)
def test_an_answer_in_an_unknown_form_changes_nothing(followed: FollowedNight, body: bytes) -> None:
    followed.play()
    followed.run.step()
    journal = followed.journal_length()
    followed.fault = Answer(200, JSON, body)
    followed.play()
    followed.run.step()
    followed.run.heard.put(CUT)
    followed.run.step()
    assert followed.sentences
    assert followed.journal_length() == journal
    followed.fault = None
    followed.seconds += COMPARE_SECONDS
    followed.run.step()
    assert followed.is_equal()


def test_a_cut_is_followed_by_a_comparison(followed: FollowedNight) -> None:
    followed.play()
    while not followed.run.heard.empty():
        followed.run.heard.get()
    assert not followed.is_equal()
    followed.run.heard.put(CUT)
    followed.run.step()
    assert followed.is_equal()
    assert followed.sentences == []


def test_events_that_come_twice_are_written_once(followed: FollowedNight) -> None:
    followed.play()
    events = list(followed.run.heard.queue)
    followed.run.step()
    journal = followed.journal_length()
    for event in [*events, *events[::-1]]:
        followed.run.heard.put(event)
    followed.run.step()
    assert followed.journal_length() == journal
    assert followed.is_equal()


def test_an_event_that_names_nothing_or_nonsense_changes_nothing(followed: FollowedNight) -> None:
    journal = followed.journal_length()
    nonsense: list[Any] = [None, 17, [], {}, {"gameId": "x"}, {"gameIds": 5}, {"gameId": 10**30}]
    for name in ("GameCreatedOrUpdated", "GamesDeleted", "RoundCreatedOrUpdated", "QueueChanged", "New"):
        for data in nonsense:
            followed.run.heard.put(Heard(name, data, 0.0))
            followed.run.step()
    assert followed.journal_length() == journal
    assert followed.is_equal()


def test_a_long_pause_is_said_while_it_lasts(followed: FollowedNight) -> None:
    seen = []
    sleep = followed.pace.sleep

    def look(seconds: float) -> None:
        seen.append(followed.lost_at())
        sleep(seconds)

    followed.run.pause(14.0, look)
    followed.run.pause(60.0, look)
    assert seen == [None, followed.wall_clock]
    assert followed.sentences == ["The other service asks for a pause of 60 seconds."]
    followed.seconds += COMPARE_SECONDS
    followed.run.step()
    assert followed.lost_at() is None


def test_who_leaves_lets_pages_say_of_when_they_are(followed: FollowedNight) -> None:
    followed.run.leave()
    assert followed.lost_at() == followed.wall_clock
    followed.run.begin()
    assert followed.lost_at() is None


def change_standings(followed: FollowedNight, by: int) -> None:
    """Let the service count so many points more for the first player of its standings."""
    real = followed.real

    def ask(target: str) -> Answer:
        answer = real(target)
        if not target.endswith("/standings"):
            return answer
        rows = json.loads(answer.body)
        listed = rows["data"] if isinstance(rows, dict) else rows
        listed[0]["points"] = float(listed[0]["points"]) + by
        return Answer(answer.status, answer.headers, json.dumps(rows).encode())

    followed.real = ask


def quiet_quarter_minute(followed: FollowedNight) -> None:
    followed.seconds += STANDINGS_SECONDS
    followed.run.heard_at = followed.run.compared_at = followed.seconds
    followed.run.step()


def test_standings_that_differ_twice_are_said_until_they_are_the_same(followed: FollowedNight) -> None:
    honest = followed.real
    followed.play()
    followed.run.step()
    change_standings(followed, 3)
    quiet_quarter_minute(followed)
    # It may be a matter of time.
    assert followed.sentences == []
    # No second request within fifteen seconds.
    followed.run.step()
    assert followed.sentences == []
    quiet_quarter_minute(followed)
    (sentence,) = followed.sentences
    assert re.fullmatch(
        r"The standings differ: .+ has place 1 with (.+) points here, has place 1 with .+ points there\.",
        sentence,
    )
    with followed.local.read() as db:
        report = verification.verify_tournament(db, followed.copy.tournament_id)
    assert report.faults == []
    assert report.mirror is not None
    assert (report.mirror.host, report.mirror.standings_differ) == (NAME, 1)
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": followed.local.url.render_as_string(hide_password=False)})
    verified = run.invoke(silverball_group, ["verify", str(followed.copy.tournament_id)])
    assert f"is run at {NAME}: what came from there was verified" in verified.stdout
    assert "Its standings there differ for 1 player." in verified.stdout
    followed.real = honest
    followed.play()
    followed.run.step()
    quiet_quarter_minute(followed)
    assert followed.sentences[1:] == ["The standings are the same again as there."]
    with followed.local.read() as db:
        mirror = moving_reads.find_mirror(db, followed.copy.tournament_id)
    assert mirror is not None
    assert mirror.standings_differ == 0


def test_standings_that_cannot_be_read_are_a_loss_like_any_other(followed: FollowedNight) -> None:
    followed.play()
    followed.run.step()
    followed.fault = Answer(200, HTML, b"<html>We are back soon")
    quiet_quarter_minute(followed)
    assert "with a page, not with JSON" in followed.sentences[0]
    assert followed.lost_at() is not None
