"""silverball demo: serve real and invented tournaments to try everything with."""

import dataclasses
import json
import os
import shlex
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random, SystemRandom

import click
from msgspec import Struct

from silverball.cli import database, import_, server, user
from silverball.demo import live as demo_live
from silverball.demo import nights as demo_nights
from silverball.demo import sandboxes as demo_sandboxes
from silverball.demo.robots import WallClock
from silverball.kit import logs
from silverball.kit.security import passwords
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.periods import rating_run as periods
from silverball.service.players import writes as players_writes
from silverball.service.users import reads as user_reads
from silverball.service.users import writes as users
from silverball.settings import Settings, with_quotas
from silverball.store.database.deadlines import LONG_COMMANDS, REQUESTS
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.people import rating_days, site_values

# The folder of a demo: its database, bulk files and secrets, and the layout that it was made with.


# The layout of the data that this version makes; a folder with another one is made anew.
LAYOUT = "4"
LAYOUT_FILE = "layout"
DATABASE = "silverball.db"
TOKEN = "token"  # noqa: S105  # the name of a file
PASSWORD = "password"  # noqa: S105  # the name of a file
EXPORTS = "exports"
TRIALS = "trials.json"
OLDER = "older"
# The site's value that says that all files were loaded.
LOADED = "demo-loaded"
DATABASE_FILES = (
    *(f"{DATABASE}{ending}" for ending in ("", "-wal", "-shm", ".secret")),
    *(f"{DATABASE}-counts{ending}" for ending in ("", "-wal", "-shm")),
)
MADE = (*DATABASE_FILES, TOKEN, PASSWORD, EXPORTS, TRIALS, LAYOUT_FILE)


def prepare_folder(data: Path, organizer_email: str) -> Path:
    """Return the folder, ready to be filled or filled by this version.

    The files of an older version's demo are moved to `older` inside it. Raises ClickException for a folder
    that cannot be made, or with a database that no demo made.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        folder = data.resolve()
        if (folder / DATABASE).exists() and _layout(folder) != LAYOUT:
            if not _is_demo(folder / DATABASE, organizer_email):
                raise click.ClickException(f"The database in {data} is not a demo's. Choose another folder.")
            _set_aside(folder)
            sentence = f"{data} is from another version and is made anew; its files are in {data / OLDER}."
            click.echo(sentence, err=True)
        (folder / LAYOUT_FILE).write_text(LAYOUT + "\n")
    except OSError as error:
        raise click.ClickException(f"{data} cannot be created: {error.strerror}.") from error
    return folder


def write_secret(file: Path, text: str) -> None:
    """Write a file that from its creation on no other user of this machine can read."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text + "\n")


def _layout(folder: Path) -> str:
    file = folder / LAYOUT_FILE
    return file.read_text().strip() if file.exists() else ""


def _is_demo(database: Path, organizer_email: str) -> bool:
    """Whether the database, of any version, has the demo's organizer."""
    store = Store(f"sqlite:///{database}")
    try:
        with store.read() as db:
            return user_reads.user_id_by_email(db, organizer_email) is not None
    except DatabaseFault:
        return False
    finally:
        store.close()


def _set_aside(folder: Path) -> None:
    older = folder / OLDER
    shutil.rmtree(older, ignore_errors=True)
    older.mkdir()
    for name in MADE:
        if (folder / name).exists():
            (folder / name).rename(older / name)


# The demo's facts as it prints them, for people and for programs.


APP_KEY = "silverball"
# A tournament that goes on while the demo runs, and one of the real, finished ones.
LIVE_ID = 1
FINISHED_ID = 244501


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


def ready_json(facts: DemoFacts) -> str:
    """One line of JSON for programs. `tournamentId` is the finished tournament."""
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
            "tournamentId": FINISHED_ID,
            "liveTournamentId": LIVE_ID,
        }
    )


def ready_text(facts: DemoFacts) -> str:
    """The lines for people, with commands to paste into another window."""
    base_url = facts.base_url
    lines = [
        "",
        f"  Live now       {base_url}/t/{LIVE_ID}",
        f"  Finished       {base_url}/t/{FINISHED_ID}",
        f"  Console        {base_url}/run  ({facts.email}, {facts.password})",
        f"  Interface      {base_url}/docs",
        f"  Base URL       {base_url}",
        f"  Websocket URL  {facts.ws_url}",
        f"  App key        {APP_KEY}",
        f"  Token          {facts.token}",
    ]
    if facts.lan_url is not None:
        warning = "everybody on this network can open it; changes need the token or the password"
        lines.append(f"  Phones         {facts.lan_url}/t/{LIVE_ID}  ({warning})")
    paths = (
        f"/api/tournaments/{LIVE_ID}/standings",
        f"/api/tournaments/{LIVE_ID}/games?status=started",
        f"/api/tournaments/{FINISHED_ID}?includePlayers=true",
        "/api/tournaments?status=completed&limit=5",
    )
    lines += ["", "  Paste into another window:", "", f"  export TOKEN={shlex.quote(facts.token)}"]
    lines += [f"  curl -s -H \"Authorization: Bearer $TOKEN\" '{base_url}{path}'" for path in paths]
    lines += [f"  curl -sN '{base_url}/api/tournaments/{LIVE_ID}/stream'"]
    return "\n".join([*lines, "", "  Press Ctrl-C to stop."])


LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
# An address that is documented as never in use: nothing is sent, the system only chooses a way to it.
ELSEWHERE = ("192.0.2.1", 9)
BUNDLES = demo_nights.DATA
# Invented federation records of all players with a federation number.
FEDERATION = BUNDLES / "federation.csv"
# A fixed seed, so that a demo looks the same everywhere.
DICE_SEED = "silver"
ORGANIZER_NAME = "Demo Organizer"
ORGANIZER_EMAIL = "demo@silverball.invalid"
# Letters that are not confused on paper.
CLEAR_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
PASSWORD_LENGTH = 12


class DemoOwner(Struct, frozen=True):
    """The owner of the demo's data, and their token."""

    user_id: int
    token: str


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
@click.option("--show", "is_shown", is_flag=True, help="Print the token and the password again, and end.")
@click.option("--no-limits", is_flag=True, hidden=True)
def demo(
    host: str, port: int, data: Path, *, as_json: bool, no_robots: bool, is_shown: bool, no_limits: bool
) -> None:
    """Serve real and invented tournaments to try everything with.

    It has settings of its own, whatever those of the machine are.

    The first start takes some seconds: it loads 21 real knockout tournaments and ten invented ones, and
    robots play a tournament of each format. While it runs, robots play match play in tournament 1, and
    every twenty minutes an evening in another format.
    """
    if is_shown:
        _show(data)
        return
    listener = server.open_listener(host, port)
    folder = prepare_folder(data, ORGANIZER_EMAIL)
    demo_nights.unpack_old_nights(folder / DATABASE)
    bound = listener.getsockname()[1]
    lan_url = _lan_url(host, bound)
    play_settings = Settings(
        base_url=f"http://127.0.0.1:{bound}",
        database_url=f"sqlite:///{folder / DATABASE}",
        exports_folder=str(folder / EXPORTS),
        backup_folder=str(folder / "backups"),
        allow_loopback=True,
    )
    # Links and printed codes must work on phones too.
    demo_settings = dataclasses.replace(play_settings, base_url=lan_url or "")
    if no_limits:
        demo_settings = with_quotas(demo_settings, "open")
    demo_settings = server.with_base_url(demo_settings, host, bound)
    with database.open_database(url=demo_settings.database_url, may_create=True, limits=REQUESTS) as store:
        owner = _fill(store.with_limits(LONG_COMMANDS), play_settings, folder, no_robots=no_robots)
        password = organizer_password(store, owner.user_id, folder / PASSWORD)
        facts = DemoFacts(
            base_url=demo_settings.base_url,
            lan_url=lan_url,
            token=owner.token,
            user_id=owner.user_id,
            email=ORGANIZER_EMAIL,
            password=password,
        )
        trials = demo_sandboxes.load_trials(store, play_settings, owner.user_id, folder / TRIALS)
        text = ready_json(facts) if as_json else ready_text(facts)
        # Only now: a line for each tournament that is loaded would bury what a reader is to paste.
        logs.configure()
        with _playing(store, play_settings, owner.user_id) if not no_robots else nullcontext():
            server.run_server(
                store,
                demo_settings,
                listener,
                when_ready=lambda: click.echo(text),
                # The address for phones is a guess where the machine has several.
                follows_host=server.follows_host(Settings(), host),
                trials=trials,
            )


def _show(folder: Path) -> None:
    """Print what the demo in a folder said at its start. Raises ClickException without one."""
    try:
        token, password = ((folder / name).read_text("utf-8").strip() for name in (TOKEN, PASSWORD))
    except OSError as error:
        raise click.ClickException(
            f"There is no demo in {folder}: start it with `silverball demo`."
        ) from error
    click.echo(f"E-mail    {ORGANIZER_EMAIL}\nPassword  {password}\nToken     {token}")


def _fill(store: Store, play_settings: Settings, folder: Path, *, no_robots: bool) -> DemoOwner:
    """Load and play what is missing in the demo's database, and return its owner."""
    dice = Random(DICE_SEED)  # noqa: S311  # a game
    reserve_first(store, play_settings, dice)
    owner = load_demo(store, folder / TOKEN)
    demo_nights.load_machines(store)
    demo_live.play_first_rounds(store, play_settings, owner.user_id, dice)
    if not no_robots:
        demo_nights.play_nights(store, play_settings, owner.user_id, dice)
    demo_nights.write_public_files(store, folder / EXPORTS)
    return owner


def reserve_first(store: Store, play_settings: Settings, dice: Random) -> int:
    """Make what has to have the first numbers of all, and return the organizer's."""
    user_id = organizer_id(store)
    # The first tournament of all gets the number 1.
    demo_live.reserve_tournament(store, play_settings, user_id, dice)
    demo_sandboxes.reserve_things(demo_nights.organizer_client(store, play_settings, user_id, WallClock()))
    return user_id


@contextmanager
def _playing(store: Store, play_settings: Settings, user_id: int) -> Iterator[None]:
    play = demo_live.LivePlay(store, play_settings, user_id, SystemRandom())
    play.start()
    try:
        yield
    finally:
        play.stop()


def _lan_url(host: str, port: int) -> str | None:
    """The demo's address for other devices on the network; None when it listens on this machine only."""
    if host in LOOPBACK_HOSTS:
        return None
    if host not in server.WILDCARD_HOSTS:
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
            players_writes.create_club(
                transaction, user_id, name="The Lantern Flippers", description=about, location="Harbour Town"
            )
    return user_id


def load_demo(store: Store, token_file: Path) -> DemoOwner:
    """Load the demo's data, unless a working token exists. The token is written last."""
    stored = _stored_owner(store, token_file)
    if stored is not None:
        return stored
    now, dice = datetime.now(UTC), SystemRandom()
    user_id = organizer_id(store)
    load_bundles(store, user_id)
    # The loaded tournaments are long past; the robots' results are rated when they are due.
    periods.rate_days(
        store,
        rating_days.rating_day(now) - timedelta(days=1),
        DEFAULTS,
        now,
    )
    with store.write() as transaction:
        issued = users.create_token(
            transaction.connection, user_id, "demo", abilities=["manage"], now=now, dice=dice
        )
    write_secret(token_file, issued.text)
    return DemoOwner(user_id, issued.text)


def load_bundles(store: Store, user_id: int) -> None:
    """Load the tournaments of the files, unless all of them were loaded."""
    with store.read() as db:
        if site_values.find_site_value(db, LOADED) is not None:
            return
    click.echo("Loading the demo's tournaments ...", err=True)
    import_.import_records(store, FEDERATION)
    for file in sorted(BUNDLES.glob("*.json")):
        import_.import_bundle(store, file, owner_id=user_id)
    # So that their ratings are found by number, too.
    for _ in user.confirm_every_ready_number(store, datetime.now(UTC)):
        pass
    with store.write(quiet=True) as transaction:
        site_values.note_site_value(transaction.connection, LOADED, LAYOUT)


def organizer_password(store: Store, user_id: int, file: Path) -> str:
    """The organizer's password, generated once and stored beside the token."""
    if file.exists():
        return file.read_text().strip()
    password = "".join(SystemRandom().choice(CLEAR_LETTERS) for _ in range(PASSWORD_LENGTH))
    password_hash = passwords.hash_password(password)
    with store.write() as transaction:
        users.set_password(transaction.connection, user_id, password_hash)
    write_secret(file, password)
    return password


def _stored_owner(store: Store, token_file: Path) -> DemoOwner | None:
    if not token_file.exists():
        return None
    text = token_file.read_text().strip()
    with store.read() as db:
        caller = user_reads.find_caller(db, f"Bearer {text}".encode(), datetime.now(UTC))
    return None if caller is None else DemoOwner(caller.user_id, text)
