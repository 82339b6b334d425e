"""Every GET route, page and filter that is timed on the big database.

A word in braces is an id or a text that differs from turn to turn; every second person, organizer and
number is the largest of its kind: the regular, the busiest organizer, the end of a list.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import big_world
from big_world import BigWorld

GUEST, ORGANIZER, REGULAR, ADMIN = "guest", "organizer", "regular", "admin"
# Computed for their own sake: they are reported, and no bound is theirs.
HAVE_FIGURES_OF_THEIR_OWN = ("/estimate", "/run/plan", "part=worth")
# A rare name, a common part of names, two words, letters in no name, one letter, one digit.
WORDS = ("Night+77", "magnus", "quist+night", "xyzzy", "a", "7")
STATUSES = ("completed", "started", "planned")
TYPES = ("matchplay", "knockout", "best_game")
EVERY_PART = (
    "includePlayers=true&includeArenas=true&includeBanks=true&includeScorekeepers=true&includeLocation=true"
    "&includeEvent=true&includeShortcut=true&includeSeries=true&includeLinkedTournaments=true"
)
# Ends of paths below a completed tournament, one of best game, and a running one.
COMPLETED = f"""
?{EVERY_PART} /arenas /players /journal /games /games?round=latest /games?status=completed
/games?player={{seat}} /rounds /standings /stats/matchplay /stats/rounds /stats/arenas /stats/players
/stats/matches /summary/arenas /summary/player-arenas /summary/matches /summary/matches?page=2 /webhooks
/estimate /draws /players/csv /games/csv /entries/csv /games/{{completed}}000 /games/{{completed}}000/legs
/players/resolve-unknown?players={{low}} /arenas/resolve-unknown?arenas={{low}}
"""
BEST_GAME = """
/single-player-games /single-player-games?orderBy=score /single-player-games/top-scores
/single-player-games/csv /cards /stats/bestgame /arenas/bgsummary /standings /queues
"""
RUNNING = "/standings /games /games?status=started /rounds /players /stats/players"
LISTS = """
/api/tournaments?page={far} /api/tournaments?owner={organizer} /api/tournaments?played={person}
/api/tournaments?playedOrOrganized={person} /api/tournaments?series={series} /api/tournaments?status={status}
/api/tournaments?type={type} /api/tournaments?owner=1&status=started&page={low}
/api/tournaments?dateInterval=2024-01-01;2024-02-{day}
/api/games?series={series}&player={seat} /api/games?series={series} /api/games?series={series}&arena={low}
/api/games?tournaments={completed} /api/games?series={series}&page={low}
/api/games?series={series}&status=started
/api/series/{series} /api/series/{series}?includeDetails=true /api/series/{series}/stats
/api/series/{series}/stats/attendance?count=3 /api/series?page={low} /api/series?played={person}
/api/series?owner={organizer} /api/events?page={low} /api/events/{event} /api/rating-periods?page={low}
/api/rating-periods/2022-03-{day} /api/players?page={low} /api/arenas?page={low} /api/banks?page={low}
/api/locations?page={low} /api/activity-logs?page={low} /api/rating-submissions?page={low}
/api/ratings?page={low} /api/dashboard /api/players/claims /api/tokens /api/opdb/changelog
/api/players/resolve-unknown?players={low} /api/arenas/resolve-unknown?arenas={low}
/api/opdb/entry/{machine} /api/opdb/entries/{machine} /api/pintips?opdbId={machine}
/api/search?type=tournaments&query={words} /api/search?type=users&query={words}
/api/search?type=series&query={words} /api/ratings/search?query={words}
"""
PEOPLE = """
/api/ratings/users/{person} /api/ratings/users/{person}/summary /api/ratings/users/{person}/chart.svg
/api/ratings/ifpa/{number} /api/ratings/ifpa/{number}/summary /api/ratings/ifpa/{number}/chart.svg
/api/ifpa/{number}/rating-history /api/ratings/ifpa?ifpaIds={number} /api/ratings?ifpaIds={number}
/api/ratings/ifpa?ifpaIds={number}&date=2022-03-05 /api/ratings?userIds={person}
/api/users/{person} /api/users/{person}?includeIfpa=true&includeCounts=true
/api/users/resolve-unknown?users={person} /api/ratings/compare?userIds={person},{other}
"""
# Pages of a tournament that anybody sees.
NIGHT = """
/wall /overlay /embed /draws ?part=standings ?part=worth /print /print/round /print/scores /print/names
"""
PUBLIC_PAGES = """
/ /users/{person} /users/{organizer} /users/{person}/rating.svg /users/{organizer}/calendar.ics /s/{series}
/machines/{machine} /t/{running}/players/1
"""
CONSOLE = "/draw /results /players /arenas /standings /settings /webhooks /journal"
ORGANIZER_PAGES = """
/ /run /run/new /run/plan /home /home/players /home/arenas /home/locations /home/series /home/players?q=magnus
/account /account/profile /account/data
"""
REGULAR_PAGES = "/ /account /account/entries /api/dashboard /api/users/profile"
ADMIN_PAGES = """
/account/audit /account/numbers /account/accounts /account/accounts?words=magnus
/api/audit?page={low} /api/federation-numbers?page={low}
"""


@dataclass(frozen=True)
class TimedRequest:
    """Requests that are reported as one line."""

    caller: str
    pattern: str
    values: Callable[[int], Mapping[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.caller} {self.pattern.replace(EVERY_PART, 'includeAll')}"

    @property
    def is_bounded(self) -> bool:
        return not any(part in self.pattern for part in HAVE_FIGURES_OF_THEIR_OWN)

    def address(self, n: int) -> str:
        """The n-th address."""
        return self.pattern.format_map(self.values(n))


def requests(world: BigWorld) -> list[TimedRequest]:
    """All timed requests, by kind of path."""
    below = {"completed": COMPLETED, "best_game": BEST_GAME, "running": RUNNING}
    patterns = {
        ORGANIZER: [
            *(f"/api/tournaments/{{{kind}}}{end}" for kind, ends in below.items() for end in _each(ends)),
            *LISTS.split(),
            *PEOPLE.split(),
            *ORGANIZER_PAGES.split(),
            *(f"/t/{{running}}/run{end}" for end in _each(CONSOLE)),
        ],
        GUEST: [
            *(f"/t/{{{kind}}}{end}" for kind in ("completed", "running") for end in _each(NIGHT)),
            *PUBLIC_PAGES.split(),
        ],
        REGULAR: REGULAR_PAGES.split(),
        ADMIN: ADMIN_PAGES.split(),
    }

    def values(n: int) -> Mapping[str, Any]:
        return _values(world, n)

    return [TimedRequest(caller, pattern, values) for caller, each in patterns.items() for pattern in each]


def _each(ends: str) -> list[str]:
    """The ends, and none."""
    return ["", *ends.split()]


def _values(world: BigWorld, n: int) -> dict[str, Any]:
    """The words in braces of turn n."""
    is_largest = n % 2 == 0
    hundred = n * 397 % (world.tournaments // 100) * 100
    return {
        # The busiest organizer's: group match play, best game, and a match play that runs.
        "completed": hundred + 10,
        "best_game": hundred + 27,
        "running": hundred + 60,
        "series": n * 37 % big_world.SERIES + 1,
        "seat": n % 100 + 1,
        "event": n % 30 * 30 + 1,
        "person": _person(world, n),
        "other": _person(world, n + 1),
        "organizer": 1 if is_largest else n * 41 % 20 + 1,
        "number": world.people + 1 if is_largest else n * 997 % world.people + 1,
        "far": 1 if is_largest else world.tournaments // 25 - n % 10,
        "low": n % 3 + 1,
        "day": f"{n % 28 + 1:02}",
        "machine": big_world.machine_id(n),
        "words": WORDS[n % len(WORDS)],
        "status": STATUSES[n % len(STATUSES)],
        "type": TYPES[n % len(TYPES)],
    }


def _person(world: BigWorld, n: int) -> int:
    if n % 2 == 0:
        return big_world.REGULAR_ID
    return big_world.FIRST_PERSON_ID + n * 997 % world.people
