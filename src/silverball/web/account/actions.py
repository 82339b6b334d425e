"""Actions of an account's forms: create a token, save the profile, claim a player."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from silverball.kit.conversions import decode
from silverball.kit.http.body import BodyParser
from silverball.kit.http.endpoints import OneTimeResult
from silverball.service.calls import Write
from silverball.service.players import writes as players
from silverball.service.tokens import writes as tokens
from silverball.service.users import writes as users
from silverball.web import form_actions
from silverball.web.form_actions import FormAction
from silverball.web.forms import FormData
from silverball.web.page_request import PageRequest

PROFILE_TEXTS = ("initials", "pronouns", "flag", "location")
# Wire name -> what a ticked box means.
OPT_OUTS = {
    "profileOptOut": "Hide my federation number, flag, town, pronouns, initials and pictures",
    "historyOptOut": "Hide which tournaments I played",
    "historyOnlyCompleted": "Show only completed tournaments in my history",
    "ratingsOptOut": "Hide my rating and my rank",
    "statsOptOut": "Leave me out of statistics and comparisons with others",
    "videoOptOut": "I do not want to be filmed",
}
ENTRIES = "/account/entries"
# Of tokens that are made on a page, unless another number or "never" is chosen.
EXPIRES_DAYS = 365
# The forms of /account/entries/do/{action}.
CLAIM_ACTIONS: Mapping[str, FormAction] = {
    "claim": FormAction(
        write=players.stake_claim,
        ability="score",
        id_fields=("player_id",),
        redirect_to=lambda _value: f"{ENTRIES}?said=asked",
    ),
    "claim-back": FormAction(
        write=lambda call: players.give_up_claim(call, None),
        ability="score",
        id_fields=("player_id",),
        redirect_to=lambda _value: f"{ENTRIES}?said=back",
    ),
}
# The longest number that fits the database.
_DIGITS = re.compile("[0-9]{1,18}")
_PROFILE_PARSER = BodyParser(users.ChangedProfile)


class CreatedToken(msgspec.Struct, frozen=True):
    """The answer to the form that creates a token; the stored answer has no text."""

    text: str


def create_token(request: PageRequest) -> CreatedToken:
    """Create a token; without its text when the same form was sent before."""

    def handle(call: Write[Any]) -> OneTimeResult[CreatedToken]:
        created = tokens.create_token(
            call.db,
            request.account.user_id,
            request.field("name"),
            abilities=[request.field("ability")],
            expires_days=None if request.form.has("never") else _parse_days(request.field("expires")),
            now=call.now,
            dice=request.site.dice,
            source=request.client_address,
        )
        return OneTimeResult(CreatedToken(created.text), CreatedToken(""))

    endpoint = form_actions.write_endpoint(request, handle, returns=CreatedToken, ability="read")
    response = form_actions.answer_once(request, endpoint, {})
    return decode(response.body, CreatedToken)


def _parse_days(text: str) -> int:
    """The days, EXPIRES_DAYS without a text; 0, which is refused by field, when it is not a number."""
    text = text.strip() or str(EXPIRES_DAYS)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0


def save_profile(request: PageRequest) -> bool:
    """Replace the account's profile, and return whether this hides something. Raises Invalid."""
    body = _PROFILE_PARSER.parse(msgspec.json.encode(_profile_body(request.form)))
    with request.site.store.write() as transaction:
        users.change_profile(transaction, request.account.user_id, body)
    return transaction.hides


def _profile_body(form: FormData) -> Mapping[str, Any]:
    number = form.value("ifpaId").strip()
    texts = {name: form.value(name).strip() or None for name in PROFILE_TEXTS}
    if texts["flag"]:
        texts["flag"] = texts["flag"].lower()
    return {
        "name": form.value("name"),
        **texts,
        # Text that is not a number is refused by the type of the field.
        "ifpaId": int(number) if _DIGITS.fullmatch(number) else number or None,
        **{name: form.has(name) for name in OPT_OUTS},
    }
