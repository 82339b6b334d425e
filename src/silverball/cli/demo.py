"""silverball demo: serve real and invented tournaments to try everything with."""

import dataclasses
import json
import shlex
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random, SystemRandom

import click
from msgspec import Struct

from silverball import settings
from silverball.cli import database, federation, import_, public_address, server, side_server
from silverball.demo import files, live, nights, sandboxes
from silverball.demo.robots import WallClock
from silverball.jobs import rating_period
from silverball.kit import logs, passwords
from silverball.service.clubs import writes as clubs
from silverball.service.periods import rating_run as periods
from silverball.service.tokens import reads as token_reads
from silverball.service.tokens import writes as tokens
from silverball.service.users import reads as user_reads
from silverball.service.users import writes as users
from silverball.settings import Settings
from silverball.store import rating_days
from silverball.store.engine import Store
from silverball.store.time_limits import LONG_COMMANDS, REQUESTS

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
# An address that is documented as never in use: nothing is sent, the system only chooses a way to it.
ELSEWHERE = ("192.0.2.1", 9)
# A fixed seed, so that a demo looks the same everywhere.
DICE_SEED = "silver"
ORGANIZER_NAME = "Demo Organizer"
ORGANIZER_EMAIL = "demo@silverball.invalid"
# Letters that are not confused on paper.
CLEAR_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
PASSWORD_LENGTH = 12
APP_KEY = "silverball"


class DemoOwner(Struct, frozen=True):
    """The owner of the demo's data, and their token."""

    user_id: int
    token: str


class DemoFacts(Struct, frozen=True, kw_only=True):
    """Facts with which a person or a program uses a demo."""

    base_url: str
    # The address for other devices on the network; None when the demo listens on this machine only.
    lan_url: str | None
    token: str
    user_id: int
    email: str
    password: str

    @property
    def ws_url(self) -> str:
        """The base URL of the feed: wss when the site is served with TLS."""
        return self.base_url.replace("http", "ws", 1)


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; 0.0.0.0 lets phones on your network in.",
)
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
@click.option(
    "--data",
    default=".demo",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the demo's database, token and password; kept for the next start.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON when ready, for programs.")
@click.option("--no-robots", is_flag=True, help="Only serve the loaded data; no robots play.")
def demo(host: str, port: int, data: Path, *, as_json: bool, no_robots: bool) -> None:
    """Serve real and invented tournaments to try everything with.

    The first start takes some seconds: it loads 21 real knockout tournaments and ten invented ones, and
    robots play a tournament of each format. While it runs, robots play match play in tournament 1, and
    every twenty minutes an evening in another format.
    """
    listener = side_server.open_listener(host, port)
    folder = files.prepare_folder(data, ORGANIZER_EMAIL)
    bound = listener.getsockname()[1]
    lan_url = _lan_url(host, bound)
    configured = settings.load()
    demo_settings = dataclasses.replace(
        configured,
        database_url=f"sqlite:///{folder / files.DATABASE}",
        exports_folder=str(folder / files.EXPORTS),
        allow_loopback=True,
    )
    if lan_url is not None and not demo_settings.base_url:
        # Links and printed codes must work on phones too.
        demo_settings = dataclasses.replace(demo_settings, base_url=lan_url)
    demo_settings = public_address.with_base_url(demo_settings, host, bound)
    with database.open_database(url=demo_settings.database_url, may_create=True, limits=REQUESTS) as store:
        owner = _fill(store.with_limits(LONG_COMMANDS), demo_settings, folder, no_robots=no_robots)
        password = organizer_password(store, owner.user_id, folder / files.PASSWORD)
        facts = DemoFacts(
            base_url=demo_settings.base_url,
            lan_url=lan_url,
            token=owner.token,
            user_id=owner.user_id,
            email=ORGANIZER_EMAIL,
            password=password,
        )
        trials = sandboxes.load_trials(store, demo_settings, owner.user_id, folder / files.TRIALS)
        text = ready_json(facts) if as_json else ready_text(facts)
        # Only now: a line for each tournament that is loaded would bury what a reader is to paste.
        logs.configure()
        with _playing(store, demo_settings, owner.user_id) if not no_robots else nullcontext():
            server.run_server(
                store,
                demo_settings,
                listener,
                when_ready=lambda: click.echo(text),
                # The address for phones is a guess where the machine has several.
                follows_host=public_address.follows_host(configured, host),
                trials=trials,
            )


def _fill(store: Store, demo_settings: Settings, folder: Path, *, no_robots: bool) -> DemoOwner:
    """Load and play what is missing in the demo's database, and return its owner."""
    dice = Random(DICE_SEED)  # noqa: S311  # a game
    user_id = organizer_id(store)
    # The first tournament of all gets the number 1.
    live.reserve_tournament(store, demo_settings, user_id, dice)
    sandboxes.reserve_things(nights.organizer_client(store, demo_settings, user_id, WallClock()))
    owner = load_demo(store, folder / files.TOKEN)
    files.load_machines(store)
    live.play_first_rounds(store, demo_settings, owner.user_id, dice)
    if not no_robots:
        nights.play_nights(store, demo_settings, owner.user_id, dice)
    files.write_public_files(store, folder / files.EXPORTS)
    return owner


@contextmanager
def _playing(store: Store, demo_settings: Settings, user_id: int) -> Iterator[None]:
    play = live.LivePlay(store, demo_settings, user_id, SystemRandom())
    play.start()
    try:
        yield
    finally:
        play.stop()


def _lan_url(host: str, port: int) -> str | None:
    """The demo's address for other devices on the network; None when it listens on this machine only."""
    if host in LOOPBACK_HOSTS:
        return None
    if host not in public_address.WILDCARD_HOSTS:
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)
            return f"http://{probe.getsockname()[0]}:{port}"
        except OSError:
            # This machine is on no network.
            return None


def organizer_id(store: Store) -> int:
    """The id of the demo's organizer, who is created with a club on the first start."""
    now = datetime.now(UTC)
    with store.write() as transaction:
        user_id = user_reads.user_id_by_email(transaction.connection, ORGANIZER_EMAIL)
        if user_id is None:
            user_id = users.create_user(
                transaction.connection, name=ORGANIZER_NAME, email=ORGANIZER_EMAIL, role="organizer", now=now
            )
            about = "People who like the sound of a silver ball."
            clubs.create_club(
                transaction, user_id, name="The Lantern Flippers", description=about, location="Harbour Town"
            )
    return user_id


def load_demo(store: Store, token_file: Path) -> DemoOwner:
    """Load the demo's data, unless a working token exists. The token is written last."""
    stored = _stored_owner(store, token_file)
    if stored is not None:
        return stored
    click.echo("Loading the demo's tournaments ...", err=True)
    now, dice = datetime.now(UTC), SystemRandom()
    user_id = organizer_id(store)
    federation.import_records(store, files.FEDERATION)
    for file in sorted(files.DATA.glob("*.json")):
        import_.import_bundle(store, file, owner_id=user_id)
    # The loaded tournaments are long past; the robots' results are rated when they are due.
    periods.rate_days(
        store,
        rating_days.rating_day(now) - timedelta(days=1),
        rating_period.rating_parameters(settings.load()),
        now,
    )
    with store.write() as transaction:
        issued = tokens.create_token(
            transaction.connection, user_id, "demo", abilities=["manage"], now=now, dice=dice
        )
    files.write_secret(token_file, issued.text)
    return DemoOwner(user_id, issued.text)


def organizer_password(store: Store, user_id: int, file: Path) -> str:
    """The organizer's password, generated once and stored beside the token."""
    if file.exists():
        return file.read_text().strip()
    password = "".join(SystemRandom().choice(CLEAR_LETTERS) for _ in range(PASSWORD_LENGTH))
    password_hash = passwords.hash_password(password)
    with store.write() as transaction:
        users.set_password(transaction.connection, user_id, password_hash)
    files.write_secret(file, password)
    return password


def _stored_owner(store: Store, token_file: Path) -> DemoOwner | None:
    if not token_file.exists():
        return None
    text = token_file.read_text().strip()
    with store.read() as db:
        caller = token_reads.find_caller(db, f"Bearer {text}".encode(), datetime.now(UTC))
    return None if caller is None else DemoOwner(caller.user_id, text)


def ready_json(facts: DemoFacts) -> str:
    """One line of JSON for programs. `tournamentId` is the finished tournament, as in 0.1.0."""
    return json.dumps(
        {
            "baseUrl": facts.base_url,
            "wsUrl": facts.ws_url,
            "lanUrl": facts.lan_url,
            "appKey": APP_KEY,
            "token": facts.token,
            "userId": facts.user_id,
            "email": facts.email,
            "password": facts.password,
            "tournamentId": sandboxes.FINISHED_ID,
            "liveTournamentId": live.TOURNAMENT_ID,
        }
    )


def ready_text(facts: DemoFacts) -> str:
    """The lines for people, with commands to paste into another window."""
    base_url = facts.base_url
    lines = [
        "",
        f"  Live now       {base_url}/t/{live.TOURNAMENT_ID}",
        f"  Finished       {base_url}/t/{sandboxes.FINISHED_ID}",
        f"  Console        {base_url}/run  ({facts.email}, {facts.password})",
        f"  Interface      {base_url}/docs",
        f"  Base URL       {base_url}",
        f"  Websocket URL  {facts.ws_url}",
        f"  App key        {APP_KEY}",
        f"  Token          {facts.token}",
    ]
    if facts.lan_url is not None:
        warning = "everybody on this network can open it; changes need the token or the password"
        lines.append(f"  Phones         {facts.lan_url}/t/{live.TOURNAMENT_ID}  ({warning})")
    paths = (
        f"/api/tournaments/{live.TOURNAMENT_ID}/standings",
        f"/api/tournaments/{live.TOURNAMENT_ID}/games?status=started",
        f"/api/tournaments/{sandboxes.FINISHED_ID}?includePlayers=true",
        "/api/tournaments?status=completed&limit=5",
    )
    lines += ["", "  Paste into another window:", "", f"  export TOKEN={shlex.quote(facts.token)}"]
    lines += [f"  curl -s -H \"Authorization: Bearer $TOKEN\" '{base_url}{path}'" for path in paths]
    lines += [f"  curl -sN '{base_url}/api/tournaments/{live.TOURNAMENT_ID}/stream'"]
    return "\n".join([*lines, "", "  Press Ctrl-C to stop."])
