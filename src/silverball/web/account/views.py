"""Views of an account: its tokens, its profile, its data, and its entries in organizers' books."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from silverball.service import access
from silverball.service.accounts import reads as account_reads
from silverball.service.players import reads as players
from silverball.service.sessions import reads as sessions
from silverball.service.tokens import reads as tokens
from silverball.service.tokens import writes as token_writes
from silverball.service.users import reads as users
from silverball.store.engine import Db
from silverball.web import session_use
from silverball.web.account import password_proof
from silverball.web.account.actions import EXPIRES_DAYS, OPT_OUTS
from silverball.web.forms import KEY, FormState
from silverball.web.page_request import PageRequest
from silverball_wire.players import Player

ABILITY_LABELS = {
    "read": "Read what you may see yourself",
    "score": "Read, and record results where you are a scorekeeper",
    "manage": "Read, record results, and run your own tournaments",
    "admin": "Everything, on the whole site",
}
# Notices that an address asks for with `?said=`; other words are ignored.
ACCOUNT_NOTICES = {
    "password": "The password is changed. You are signed out everywhere but here.",
    "two-step-off": "Two-step sign-in is off. Remove the account from your app.",
    "revoked": "The token is revoked. Programs that use it are refused from now on.",
}
PROFILE_NOTICES = {
    "saved": "Saved.",
    "ended": "You are signed out everywhere but here.",
    "ended-one": "That sign-in is ended.",
}
ENTRY_NOTICES = {
    "asked": "Asked. It counts when the organizer says that it is right.",
    "yours": "This player is you now.",
    "back": "Taken back.",
}
PROFILE, DELETE = "profile", "delete"
SEARCH_LETTERS_MIN, SEARCH_LETTERS_MAX = 3, 100


def render_overview(
    request: PageRequest,
    status: int = 200,
    *,
    faults: dict[str, str] | None = None,
    notice: str | None = None,
    needs_new_key: bool = False,
) -> Response:
    """The account with its tokens; `faults` are by field of the form that creates one."""
    with request.site.store.read() as db:
        owned = tokens.owned_by(db, request.account.user_id)
    entered = {name: request.field(name) for name in ("name", "ability", "expires", "never")}
    entered["expires"] = entered["expires"] or str(EXPIRES_DAYS)
    # A refused form keeps its key: sent again, it is the same request.
    entered["key"] = request.field(KEY) if faults and not needs_new_key else ""
    abilities = access.abilities_for(request.account.role)
    return request.render(
        "account.html",
        status,
        tokens=owned,
        now=request.site.now(),
        notice=notice or ACCOUNT_NOTICES.get(request.query.get("said", "")),
        faults=faults or {},
        entered=entered,
        abilities={ability: ABILITY_LABELS[ability] for ability in abilities},
        limits=token_writes,
        needs_password=not password_proof.is_recent(request),
    )


def render_profile(request: PageRequest, form: FormState, status: int = 200) -> Response:
    """The form of the account's own profile."""
    with request.site.store.read() as db:
        own = msgspec.to_builtins(users.own_profile(db, request.caller).data)
    return request.render(
        "account/profile.html",
        status,
        own=own,
        form_state=form,
        form=PROFILE,
        notice=PROFILE_NOTICES.get(request.query.get("said", "")),
        opt_outs=OPT_OUTS,
    )


def render_data(request: PageRequest, status: int = 200, fault: str = "") -> Response:
    """The account's sessions, the download of its data, and the form that deletes it."""
    user_id, now, limit = request.account.user_id, request.site.now(), session_use.idle_limit(request.site)
    with request.site.store.read() as db:
        open_sessions = sessions.open_sessions(db, user_id, request.session_secret, now, limit)
        sections = account_reads.export_sections(user_id)
    return request.render(
        "account/data.html",
        status,
        sessions=open_sessions,
        parts=sections,
        notice=PROFILE_NOTICES.get(request.query.get("said", "")),
        form_state=FormState(DELETE, request.form, fault),
        form=DELETE,
    )


class BookEntry(Struct, frozen=True):
    """A player in an organizer's book, and how to tell players of the same name apart."""

    player: Player
    organizer: str
    # Id and name; None for a player without tournaments.
    newest_tournament: tuple[int, str] | None


def render_entries(request: PageRequest, form: FormState, status: int = 200) -> Response:
    """The players that are the user, that the user has claimed, and that a search offers."""
    user_id = request.account.user_id
    # A form that is shown again holds the search that led to it.
    query = request.query.get("q", form.submitted.value("q") or request.account.name)
    words = query.replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]
    with request.site.store.read() as db:
        mine = players.players_of_user(db, user_id, request.caller)
        claims = [claim for claim in players.pending_claims(db, user_id) if claim.user_id == user_id]
        claimed_ids = [claim.player_id for claim in claims]
        claimed = players.existing_players(db, claimed_ids or [0], request.caller)
        matches: Sequence[Player] = ()
        if len(words) >= SEARCH_LETTERS_MIN:
            matches = players.claimable_players(db, words, request.caller)
        already_claimed = {player.player_id for player in claimed}
        offered = [player for player in matches if player.player_id not in already_claimed]
        context: dict[str, Any] = {
            "mine": _book_entries(db, request, mine),
            "waiting": _book_entries(db, request, claimed),
            "offered": _book_entries(db, request, offered),
        }
    return request.render(
        "account/entries.html",
        status,
        words=words,
        words_min=SEARCH_LETTERS_MIN,
        found_max=players.SEARCH_MAX,
        notice=ENTRY_NOTICES.get(request.query.get("said", "")),
        form_state=form,
        **context,
    )


def _book_entries(db: Db, request: PageRequest, entries: Sequence[Player]) -> list[BookEntry]:
    if not entries:
        return []
    organizer_ids = sorted({player.organizer_id for player in entries})
    organizers = users.existing_users(db, organizer_ids, request.caller)
    names = {organizer.user_id: organizer.name for organizer in organizers}
    newest = players.newest_tournaments(db, [player.player_id for player in entries])
    return [
        BookEntry(player, names.get(player.organizer_id, ""), newest.get(player.player_id))
        for player in entries
    ]
