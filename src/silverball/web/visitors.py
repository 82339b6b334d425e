"""The account, device or code behind a request for a page."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import parse_qs

from silverball.kit.edge.shares import Visitor
from silverball.service.accounts import reads as accounts_reads
from silverball.service.users import reads as users_reads
from silverball.settings import Settings
from silverball.store.database.engine import Store

# The cookies of a sign-in, and of a scorekeeper's device.
SESSION, DEVICE = "session", "device"
CODE = "code"
TOURNAMENT_PATH = re.compile(r"/t/([1-9][0-9]{0,17})(?:/.*)?")
CODE_PATH = re.compile(r"/t/([1-9][0-9]{0,17})/(players|games)/([1-9][0-9]{0,17})(?:/report)?")
SECRET_LETTERS_MAX = 100


def cookie_name(name: str, *, is_https: bool) -> str:
    """A cookie's full name; with the __Host- prefix no other site can set it."""
    return f"__Host-silverball_{name}" if is_https else f"silverball_{name}"


class VisitorLookup:
    """Finds the visitors of one site."""

    def __init__(self, store: Store, settings: Settings, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._idle_limit = timedelta(hours=settings.sign_in_idle_hours)
        is_https = settings.base_url.startswith("https://")
        self._prefix = cookie_name("", is_https=is_https).encode()

    def secrets_in(self, path: str, query: bytes, cookies: bytes) -> bytes:
        """The secrets of a request: session, device of the tournament, and code, a line each."""
        may_have_code = b"code=" in query
        if self._prefix not in cookies and not may_have_code:
            return b""
        device, code = b"", b""
        in_tournament = TOURNAMENT_PATH.fullmatch(path)
        if in_tournament is not None:
            device = self._cookie(f"{DEVICE}_{in_tournament[1]}", cookies)
            if may_have_code and CODE_PATH.fullmatch(path):
                found = parse_qs(query.decode("latin-1"), max_num_fields=50).get(CODE, [""])[0]
                code = f"{path} {found[:SECRET_LETTERS_MAX]}".encode("latin-1", "replace")
        secrets = (self._cookie(SESSION, cookies), device, code.replace(b"\n", b""))
        return b"\n".join(secrets) if any(secrets) else b""

    def find(self, secrets: bytes) -> Visitor | None:
        """The visitor with these secrets; None when they are nobody's."""
        session, device, code = secrets.decode("latin-1").split("\n")
        with self._store.read() as db:
            if session:
                user = accounts_reads.find_signed_in_user(db, session, self._now(), self._idle_limit)
                if user is not None:
                    return Visitor(user.user_id)
            if device:
                known = users_reads.find_device(db, device)
                if known is not None and known.is_usable:
                    return Visitor((DEVICE, known.device.device_id))
            if code:
                path, _, letters = code.partition(" ")
                tournament_id, kind, item_id = CODE_PATH.fullmatch(path).groups()  # type: ignore[union-attr]  # as `secrets_in` wrote it
                whose = {"player_id" if kind == "players" else "game_id": int(item_id)}
                known = users_reads.find_code(db, int(tournament_id), letters, **whose)
                if known is not None and known.is_usable:
                    return Visitor((CODE, known.device.device_id, kind, item_id), is_code=True)
        return None

    def _cookie(self, name: str, cookies: bytes) -> bytes:
        for part in cookies.split(b";"):
            key, _, value = part.strip().partition(b"=")
            if key == self._prefix + name.encode():
                return value[:SECRET_LETTERS_MAX]
        return b""
