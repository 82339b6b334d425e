"""The page where players sign themselves up, with the code of the door."""

from collections.abc import Sequence

from starlette.responses import Response

from silverball.kit.errors import Refusal
from silverball.kit.values import replace
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.tournament import Tournament
from silverball.service.core import loaded
from silverball.service.money import reads as money_reads
from silverball.service.money import writes as money_writes
from silverball.service.money.writes import SignedUp, SignUp
from silverball.web import tournament_night
from silverball.web.forms import FormState
from silverball.web.page_request import GUEST, PageRequest, not_found_page, page
from silverball.web.site import status_for

SIGN_UP = "/t/{tournament_id}/sign-up"
OWN_PLACE = SIGN_UP + "/{player_id}"
FORM = "sign-up"
FORM_NOT_SENT = "This has not been sent yet: the page was open for too long. Look at it and send it again."


@page("GET", SIGN_UP, for_guests=True)
def sign_up_form(request: PageRequest) -> Response:
    return _render(request, FormState())


def _rerender(request: PageRequest, _sentence: str) -> Response:
    return _render(request, FormState(FORM, request.form, FORM_NOT_SENT), 419)


@page("POST", SIGN_UP, for_guests=True, rerender=_rerender, is_for_crowds=True)
def sign_up(request: PageRequest) -> Response:
    """Add the sender to the tournament; the answer says so, with room for the next person."""
    sent = SignUp(name=request.field("name"), code=request.field("code"))
    tournament_id = request.path_id("tournament_id")
    try:
        with request.site.store.write(tournament_id) as transaction:
            signed_up = money_writes.sign_up(
                transaction,
                tournament_id,
                sent,
                players_max=request.site.settings.players_per_account,
                source=request.client_address,
                now=request.site.now().replace(microsecond=0),
            )
    except Refusal as refusal:
        return _render(request, FormState(FORM, request.form, refusal.text()), status_for(refusal))
    # A crowd does this at once: nothing is read again, and the list of names is left to the page itself.
    request = replace(request, query={"code": sent.code})
    return _page(request, FormState(), signed_up.tournament, signed_up=signed_up)


@page("GET", OWN_PLACE, for_guests=True)
def own_place(request: PageRequest) -> Response:
    """The place of the person who got this link when they signed up."""
    tournament_id = request.path_id("tournament_id")
    player_id = request.path_id("player_id")
    with request.site.store.read() as db:
        tournament = loaded.load_tournament(db, tournament_id)
        sentence = money_reads.own_place(db, tournament, player_id, request.query.get("own", ""))
        names = money_reads.names_on_list(db, tournament) if sentence else {}
    if sentence is None:
        return not_found_page()
    return request.render(
        "own_place.html",
        tournament=tournament,
        base_path=f"/t/{tournament_id}",
        sentence=sentence,
        name=names.get(player_id, ""),
    )


def _render(request: PageRequest, form: FormState, status: int = 200) -> Response:
    tournament_id = request.path_id("tournament_id")
    with request.site.store.read() as db:
        tournament = loaded.load_tournament(db, tournament_id)
        names = tournament_night.player_names(db, tournament_id, None) if _shows_list(tournament) else {}
    listed = [names[player_id] for player_id in tournament.active_ids if player_id in names]
    return _page(request, form, tournament, status, names=listed)


def _page(
    request: PageRequest,
    form: FormState,
    tournament: Tournament,
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
        closed_reason=money_reads.closed_reason(tournament, request.site.now()),
        signed_up=signed_up,
        own_place=signed_up and money_reads.place_sentence(tournament, signed_up.player_id),
        waiting_count=len(waiting_list.waiting_entries(tournament)),
        free_places=waiting_list.free_places(tournament),
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
