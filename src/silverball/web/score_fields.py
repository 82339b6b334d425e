"""Scores from the fields of forms: read as they were typed, or refused, and never guessed."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from silverball.kit.errors import Invalid, Sentence
from silverball.kit.values import replace
from silverball.web.forms import DIGITS_MAX, FormData, read_digits

SCORE_PREFIX = "score-"
# What people write behind a shortened score, and by how much it is multiplied.
UNITS = {
    **dict.fromkeys(("k",), 10**3),
    **dict.fromkeys(("m", "mil", "mio", "mill", "million"), 10**6),
    **dict.fromkeys(("b", "bn", "bil", "mrd", "billion"), 10**9),
}
SHORTENED = re.compile(r"([0-9]{1,12})(?:[.,]([0-9]{1,9}))?\s?([A-Za-z]{1,7})\.?")
TEXT_SHOWN_MAX = 30
UNREADABLE = "“{text}” is not a score. Type all digits, as in 12500000 or 12,500,000."
UNREADABLE_OF = "“{text}” is not a score of {player}. Type all digits, as in 12500000 or 12,500,000."
OFFERED = "“{text}” is read as {score}. Save it again if that is right."


class ScoreShortened(Invalid):
    """Scores that were written short: the fields as they are read in full, to be confirmed."""

    def __init__(self, faults: Mapping[str, list[str | Sentence]], fields: Mapping[str, str]) -> None:
        super().__init__(faults)
        self.fields = fields


def parse_score(text: str) -> int | None:
    """The whole score, with or without groups of digits; None for all other text."""
    return read_digits(text.strip())


def lengthen_score(text: str) -> int | None:
    """The score that 12.5M or 900k stands for; None where it is no whole one."""
    found = SHORTENED.fullmatch(text.strip())
    unit = UNITS.get(found[3].lower()) if found else None
    if found is None or unit is None:
        return None
    score = Decimal(f"{found[1]}.{found[2] or 0}") * unit
    return int(score) if score == score.to_integral_value() else None


def read_scores(form: FormData, names: Iterable[str]) -> dict[str, int]:
    """The scores of the fields that are not empty. Raises Invalid; ScoreShortened where all have an offer."""
    scores: dict[str, int] = {}
    faults: dict[str, list[str | Sentence]] = {}
    offered: dict[str, str] = {}
    for name in names:
        text = form.value(name).strip()
        score = parse_score(text)
        if score is not None:
            scores[name] = score
        elif text:
            longer = lengthen_score(text)
            if longer is not None:
                offered[name] = f"{longer:,}"
            faults[name] = [_fault(name, text, offered.get(name))]
    if faults and offered.keys() == faults.keys():
        raise ScoreShortened(faults, offered)
    if faults:
        raise Invalid(faults)
    return scores


def scores_of_players(form: FormData) -> dict[str, int]:
    """Player id -> score, from the fields `score-ID`."""
    names = [SCORE_PREFIX + player_id for player_id in form.with_prefix(SCORE_PREFIX)]
    return {name.removeprefix(SCORE_PREFIX): score for name, score in read_scores(form, names).items()}


def with_offered(form: FormData, refusal: ScoreShortened) -> FormData:
    """The form with its scores in full, for a person to confirm."""
    return replace(form, pairs=tuple((name, refusal.fields.get(name, text)) for name, text in form.pairs))


def _fault(name: str, text: str, offered: str | None) -> Sentence:
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:TEXT_SHOWN_MAX])
    if offered is not None:
        return Sentence(OFFERED, text=shown, score=offered)
    player_id = name.removeprefix(SCORE_PREFIX)
    if player_id != name and player_id.isascii() and player_id.isdigit() and len(player_id) < DIGITS_MAX:
        return Sentence(UNREADABLE_OF, text=shown, player=int(player_id))
    return Sentence(UNREADABLE, text=shown)
