"""The page where players sign themselves up, with the code of the door."""

from collections.abc import Sequence

from starlette.responses import Response

from silverball.kit.edge.proxies import address_group
from silverball.kit.errors import Refusal
from silverball.kit.security import tokens
from silverball.kit.values import replace
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.tournament import Tournament
from silverball.service.core import access, loaded
from silverball.service.money import reads as money_reads
from silverball.service.money import writes as money_writes
from silverball.service.money.writes import Sender, SignedUp, SignUp
from silverball.store.database.transaction import Transaction
from silverball.store.tournament.sign_up_requests import SignUpRequest
from silverball.web import tournament_night
from silverball.web.forms import FormState
from silverball.web.page_request import GUEST, PageRequest, not_found_page, page
from silverball.web.site import status_for

SIGN_UP = "/t/{tournament_id}/sign-up"
OWN_PLACE = SIGN_UP + "/{sign_up_id}"
FORM = "sign-up"
# Who signed up and was not taken yet, with their positions on the waiting list.
People = Sequence[tuple[SignUpRequest, int | None]]
FORM_NOT_SENT = "This has not been sent yet: the page was open for too long. Look at it and send it again."


@page("GET", SIGN_UP, for_guests=True, for_devices=True)
def sign_up_form(request: PageRequest) -> Response:
    return _render(request, FormState())


def _rerender(request: PageRequest, _sentence: str) -> Response:
    return _render(request, FormState(FORM, request.form, FORM_NOT_SENT), 419)


@page("POST", SIGN_UP, for_guests=True, for_devices=True, rerender=_rerender, is_for_crowds=True)
def sign_up(request: PageRequest) -> Response:
    """Put the sender on the list; the answer says so, with room for the next person."""
    sent = SignUp(name=request.field("name"), code=request.field("code"), number=request.field("ifpaId"))
    tournament_id = request.path_id("tournament_id")
    try:
        with request.site.store.write(tournament_id) as transaction:
            signed_up = money_writes.sign_up(
                transaction,
                tournament_id,
                sent,
                _sender(request, transaction, tournament_id),
                request.site.now().replace(microsecond=0),
            )
            people = money_reads.untaken(transaction.connection, signed_up.tournament)
    except Refusal as refusal:
        return _render(request, FormState(FORM, request.form, refusal.text()), status_for(refusal))
    # A crowd does this at once: nothing is read again, and the list of names is left to the page itself.
    request = replace(request, query={"code": sent.code})
    return _page(request, FormState(), signed_up.tournament, people, signed_up=signed_up)


def _sender(request: PageRequest, transaction: Transaction, tournament_id: int) -> Sender:
    """The sender of the form; a device and who runs the tournament are trusted."""
    browser = f"account {request.session.user_id}" if request.session else request.guest_secret
    is_trusted = request.device is not None
    if request.session is not None and not is_trusted:
        tournament = loaded.load_for_change(transaction, tournament_id).tournament
        is_trusted = access.is_organizer(request.caller, tournament)
    source = tokens.digest(f"sign-up {address_group(request.client_address)}")
    return Sender(source=source, browser=tokens.digest(f"sign-up {browser}"), is_trusted=is_trusted)


@page("GET", OWN_PLACE, for_guests=True)
def own_place(request: PageRequest) -> Response:
    """The place of the person who got this link when they signed up."""
    tournament_id = request.path_id("tournament_id")
    number = request.path_id("sign_up_id")
    with request.site.store.read() as db:
        tournament = loaded.load_tournament(db, tournament_id)
        own = money_reads.own_place(db, tournament, number, request.query.get("own", ""))
    if own is None:
        return not_found_page()
    return request.render(
        "own_place.html",
        tournament=tournament,
        base_path=f"/t/{tournament_id}",
        sentence=own.sentence,
        name=own.name,
    )


def _render(request: PageRequest, form: FormState, status: int = 200) -> Response:
    tournament_id = request.path_id("tournament_id")
    with request.site.store.read() as db:
        tournament = loaded.load_tournament(db, tournament_id)
        names = tournament_night.player_names(db, tournament_id, None) if _shows_list(tournament) else {}
        people = money_reads.untaken(db, tournament)
    listed = [names[player_id] for player_id in tournament.active_ids if player_id in names]
    if _shows_list(tournament):
        listed += [person.name for person, position in people if position is None]
    return _page(request, form, tournament, people, status, names=listed)


def _page(
    request: PageRequest,
    form: FormState,
    tournament: Tournament,
    people: People,
    status: int = 200,
    *,
    names: Sequence[str] = (),
    signed_up: SignedUp | None = None,
) -> Response:
    response = request.render(
        "sign_up.html",
        status,
        tournament=tournament,
        base_path=f"/t/{tournament.tournament_id}",
        form=FORM,
        form_state=form,
        code=request.query.get("code", ""),
        closed_reason=money_reads.closed_reason(tournament, request.site.now(), len(people)),
        signed_up=signed_up,
        own_place=signed_up and money_reads.position_sentence(signed_up.position),
        waiting_count=len(waiting_list.waiting_entries(tournament))
        + sum(position is not None for _, position in people),
        free_places=waiting_list.free_places(tournament) - len(people),
        names=names,
        shows_list=_shows_list(tournament),
    )
    if request.session is None:
        request.set_cookie(response, GUEST, request.guest_secret, None)
    return response


def _shows_list(tournament: Tournament) -> bool:
    """Whether everybody may see who has signed up."""
    registration = tournament.details["rsvp_configuration"] or {}
    return bool(registration.get("publicList"))
