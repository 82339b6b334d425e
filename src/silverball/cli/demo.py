"""silverball demo: serve real and invented tournaments to try everything with."""

import dataclasses
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random, SystemRandom

import click

from silverball import settings
from silverball.cli import database, demo_machines, demo_nights, federation, import_, serve, server
from silverball.jobs import rating_period
from silverball.kit import logs, passwords
from silverball.service.clubs import writes as clubs
from silverball.service.periods import rating_run as periods
from silverball.service.tokens import reads as token_reads
from silverball.service.tokens import writes as tokens
from silverball.service.users import reads as user_reads
from silverball.service.users import writes as users
from silverball.store import rating_days
from silverball.store.engine import Store

HOST = "127.0.0.1"
APP_KEY = "silverball"
BUNDLES = Path(__file__).parent / "demo_data"
# Invented federation records of most robots; two robots have none.
FEDERATION = BUNDLES / "federation.csv"
# A fixed seed, so that a demo looks the same everywhere.
DICE_SEED = "silver"
ORGANIZER_NAME = "Demo Organizer"
ORGANIZER_EMAIL = "demo@silverball.invalid"
# Letters that are not confused on paper.
CLEAR_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
PASSWORD_LENGTH = 12
# One of the real tournaments: the printed commands ask for it.
TOURNAMENT_ID = 244501


@dataclass(frozen=True)
class DemoOwner:
    """The owner of the demo's data, and their token."""

    user_id: int
    token: str


@click.command()
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
def demo(port: int, data: Path, *, as_json: bool, no_robots: bool) -> None:
    """Serve real and invented tournaments to try everything with.

    The first start takes some seconds: it loads 21 real knockout tournaments and ten invented ones, and
    robots play a tournament of each format. While it runs, robots play group match play.
    """
    logs.configure()
    folder = _data_folder(data)
    listener = server.open_listener(HOST, port)
    bound = listener.getsockname()[1]
    demo_settings = dataclasses.replace(
        settings.load(),
        database_url=f"sqlite:///{folder / 'silverball.db'}",
        exports_folder=str(folder / "exports"),
    )
    demo_settings = serve.with_base_url(demo_settings, HOST, bound)
    with database.open_database(url=demo_settings.database_url) as store:
        owner = load_demo(store, folder / "token")
        demo_machines.load_machines(store)
        password = organizer_password(store, owner.user_id, folder / "password")
        ws_url = f"ws://{HOST}:{bound}"
        text = (
            _ready_json(demo_settings.base_url, ws_url, owner)
            if as_json
            else _ready_text(demo_settings.base_url, ws_url, owner, password)
        )
        if no_robots:
            demo_machines.write_bulk_files(store, folder / "exports")
            server.run_server(store, demo_settings, listener, when_ready=lambda: click.echo(text))
            return
        demo_nights.play_nights(store, demo_settings, owner.user_id, Random(DICE_SEED))  # noqa: S311  # a game
        demo_machines.write_bulk_files(store, folder / "exports")
        with _playing(demo_nights.LiveNight(store, demo_settings, owner.user_id, SystemRandom())):
            server.run_server(store, demo_settings, listener, when_ready=lambda: click.echo(text))


@contextmanager
def _playing(night: demo_nights.LiveNight) -> Iterator[None]:
    night.start()
    try:
        yield
    finally:
        night.stop()


def load_demo(store: Store, token_file: Path) -> DemoOwner:
    """Load the demo's data, unless a working token exists. The token is written last."""
    stored = _stored_owner(store, token_file)
    if stored is not None:
        return stored
    click.echo("Loading the demo's tournaments ...", err=True)
    now, dice = datetime.now(UTC), SystemRandom()
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
    federation.import_records(store, FEDERATION)
    for file in sorted(BUNDLES.glob("*.json")):
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
    _write_secret(token_file, issued.text)
    return DemoOwner(user_id, issued.text)


def organizer_password(store: Store, user_id: int, file: Path) -> str:
    """The organizer's password, generated once and stored beside the token."""
    if file.exists():
        return file.read_text().strip()
    password = "".join(SystemRandom().choice(CLEAR_LETTERS) for _ in range(PASSWORD_LENGTH))
    password_hash = passwords.hash_password(password)
    with store.write() as transaction:
        users.set_password(transaction.connection, user_id, password_hash)
    _write_secret(file, password)
    return password


def _data_folder(data: Path) -> Path:
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"{data} cannot be created: {error.strerror}.") from error
    return data.resolve()


def _stored_owner(store: Store, token_file: Path) -> DemoOwner | None:
    if not token_file.exists():
        return None
    text = token_file.read_text().strip()
    with store.read() as db:
        caller = token_reads.find_caller(db, f"Bearer {text}".encode(), datetime.now(UTC))
    return None if caller is None else DemoOwner(caller.user_id, text)


def _write_secret(file: Path, text: str) -> None:
    # From its creation on, no other user of this machine can read the file.
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text + "\n")


def _ready_json(base_url: str, ws_url: str, owner: DemoOwner) -> str:
    return json.dumps(
        {
            "baseUrl": base_url,
            "wsUrl": ws_url,
            "appKey": APP_KEY,
            "token": owner.token,
            "userId": owner.user_id,
            "tournamentId": TOURNAMENT_ID,
        }
    )


def _ready_text(base_url: str, ws_url: str, owner: DemoOwner, password: str) -> str:
    lines = [
        "",
        f"  Base URL       {base_url}",
        f"  Websocket URL  {ws_url}",
        f"  App key        {APP_KEY}",
        f"  Token          {owner.token}",
        f"  Console        {base_url}/run  ({ORGANIZER_EMAIL}, {password})",
        "",
        "  Try, in another window:",
        "",
    ]
    paths = (
        f"/api/tournaments/{TOURNAMENT_ID}/standings",
        "/api/tournaments?status=completed&limit=5",
        f"/api/tournaments/{TOURNAMENT_ID}?includePlayers=true",
    )
    lines += [f"  curl -H 'Authorization: Bearer {owner.token}' '{base_url}{path}'" for path in paths]
    return "\n".join([*lines, "", "  Press Ctrl-C to stop."])
