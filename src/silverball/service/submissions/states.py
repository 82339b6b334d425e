"""The states of a submission and their transitions. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from silverball.kit.errors import Conflict, Invalid, NotAllowed
from silverball.kit.security import addresses
from silverball.kit.security.addresses import AddressForbidden, AddressPolicy, AllowedAddress
from silverball.settings import Settings
from silverball.store.people import names
from silverball_wire.values import SubmissionStatus

# State -> the states that can follow.
NEXT_STATES: dict[SubmissionStatus, frozenset[SubmissionStatus]] = {
    "fetching": frozenset({"invalid", "needs_players", "ready", "withdrawn"}),
    "invalid": frozenset(),
    "needs_players": frozenset({"ready", "rejected", "withdrawn", "superseded"}),
    "ready": frozenset({"approved", "rejected", "withdrawn", "superseded"}),
    "approved": frozenset({"scheduled", "rejected", "withdrawn", "superseded"}),
    "scheduled": frozenset({"processed", "rejected", "withdrawn", "superseded"}),
    "processed": frozenset(),
    "rejected": frozenset(),
    "withdrawn": frozenset(),
    "superseded": frozenset(),
}
# The results count, or will when the rating period of their day runs.
COUNTING_STATES: tuple[SubmissionStatus, ...] = ("approved", "scheduled", "processed")
# A newer document from the same address replaces the submission.
REPLACEABLE_STATES: tuple[SubmissionStatus, ...] = ("needs_players", "ready", "approved", "scheduled")
# Players can still be settled.
OPEN_STATES: tuple[SubmissionStatus, ...] = ("needs_players", "ready")
# A submission in one of these states owns its document: the same document is refused elsewhere.
HOLDING_STATES: tuple[SubmissionStatus, ...] = (*REPLACEABLE_STATES, "processed", "rejected")


class WrongSubmissionState(Conflict):
    sentence = "Rating submission {submission_id} is {state} and cannot become {wanted}."


def require_transition(submission_id: int, now: SubmissionStatus, wanted: SubmissionStatus) -> None:
    """Raise Conflict when this state cannot follow."""
    if wanted not in NEXT_STATES[now]:
        raise WrongSubmissionState(
            submission_id=submission_id, state=now.replace("_", " "), wanted=wanted.replace("_", " ")
        )


class SubmissionsClosed(NotAllowed):
    sentence = (
        "This site takes no rating submissions. Its operator can allow them with SILVERBALL_SUBMISSION_HOSTS."
    )


def fetch_policy(settings: Settings) -> AddressPolicy:
    """Return the hosts from which documents may be fetched; in the demo this machine is one of them."""
    named = addresses.parse_hosts(settings.submission_hosts)
    hosts = None if addresses.EVERY_HOST in named else named | trusted_hosts(settings)
    own = addresses.url_host(settings.base_url)
    own_hosts = frozenset({own} - {""})
    if not settings.allow_loopback:
        return AddressPolicy(hosts=hosts, own_hosts=own_hosts)
    return AddressPolicy(
        hosts=hosts,
        own_hosts=own_hosts,
        schemes=("https", "http"),
        ports=addresses.EVERY_PORT,
        allows_loopback=True,
    )


def trusted_hosts(settings: Settings) -> frozenset[str]:
    """Hosts whose documents need no moderator; `*` is ignored here."""
    return addresses.parse_hosts(settings.submission_hosts_trusted) - {addresses.EVERY_HOST}


def require_target(url: str, settings: Settings) -> AllowedAddress:
    """The address in a body. Raises SubmissionsClosed, and Invalid when it may not be fetched."""
    policy = fetch_policy(settings)
    if policy.hosts == frozenset() and not policy.allows_loopback:
        raise SubmissionsClosed
    try:
        return addresses.parse_address(url, policy)
    except AddressForbidden as error:
        raise Invalid({"url": [error.sentence]}) from error


# Detect events that were submitted before under another name. Pure.


# From this share of equal games on, two events count as one.
SHARE_MAX = 0.5


class ComparedPlayer(Struct, frozen=True):
    """A player in a game, with everything that identifies them."""

    name: str
    user_id: int | None
    ifpa_id: int | None

    def aliases(self) -> list[tuple[str, int | str]]:
        """The keys that identify the player, most reliable first."""
        known: list[tuple[str, int | str | None]] = [
            ("ifpa", self.ifpa_id),
            ("user", self.user_id),
            ("name", names.fold(self.name)),
        ]
        return [(kind, value) for kind, value in known if value is not None]


class ComparedEvent(Struct, frozen=True):
    """An event that counts: a title for refusals, and the players of each game."""

    title: str
    games: Sequence[Sequence[ComparedPlayer]]


def repeat_fault(games: Sequence[Sequence[ComparedPlayer]], rated: Iterable[ComparedEvent]) -> str | None:
    """A sentence when half of these games are already those of another event on the same day."""
    own = {alias: player for players in games for player in players for alias in player.aliases()}
    groups = Counter(frozenset(players) for players in games)
    for event in rated:
        repeated_groups = Counter(_as_known_here(players, own) for players in event.games)
        # Players who meet three times here and twice there have two games in common.
        count = (groups & repeated_groups).total()
        if count >= SHARE_MAX * len(games):
            return f"{count} of its {len(games)} games are those of {event.title} on the same day."
    return None


def _as_known_here(
    players: Sequence[ComparedPlayer], own: dict[tuple[str, int | str], ComparedPlayer]
) -> frozenset[ComparedPlayer]:
    """The same people as the submitted event names them; unmatched players stay unchanged."""
    return frozenset(
        next((own[alias] for alias in player.aliases() if alias in own), player) for player in players
    )
