"""Which column of a table is what: by the words of its header, else by what its cells hold.

A header has two known words, or one and no cell that looks like a name. Without one, a column is of
numbers only if 80 % of its filled cells are 1 to 7 digits and another one is of names. Scores, places and
numbers that count the rows are left out.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from silverball.service.sheets.names import ORDINAL, clean_name
from silverball.service.sheets.tables import TableRow
from silverball.store.people import names

ColumnKind = Literal[
    "name",
    "first",
    "middle",
    "last",
    "number",
    "seed",
    "town",
    "country",
    "initials",
    "pronouns",
    "paid",
    "ordinal",
    "place",
    "score",
    "machine",
    "shortName",
    "opdbId",
    "other",
]
# Kind -> words of headers in English, German, French, Swedish, Dutch and Spanish, folded.
_WORDS: Mapping[ColumnKind, str] = {
    "first": (
        "first|first name|firstname|given name|given names|forename|vorname|rufname|prenom|prenoms|fornamn"
        "|tilltalsnamn|voornaam|roepnaam|nombre de pila|nombres"
    ),
    "middle": "middle|middle name|infix|tussenvoegsel|tussenvoegsels|mellannamn|segundo nombre|zweitname",
    "last": (
        "last|last name|lastname|surname|family name|nachname|familienname|zuname|nom de famille|efternamn"
        "|achternaam|familienaam|apellido|apellidos|primer apellido|patronyme"
    ),
    "name": (
        "name|names|full name|fullname|player|player name|players|participant|participants|competitor"
        "|vollstandiger name|spieler|spielerin|spieler in|spielername|teilnehmer|teilnehmerin"
        "|name des spielers"
        "|nom|nom complet|nom et prenom|prenom et nom|joueur|joueuse|joueurs|nom du joueur"
        "|namn|fullstandigt namn|spelare|deltagare|spelarnamn"
        "|naam|volledige naam|speler|spelers|deelnemer|deelnemers|spelernaam|voor en achternaam"
        "|nombre|nombre completo|nombre y apellidos|jugador|jugadora|jugadores|participante"
    ),
    "number": (
        "ifpa|ifpa id|ifpaid|ifpa no|ifpa nr|ifpa num|ifpa number|ifpa nummer|ifpa numero"
        "|ifpa player id|ifpa pid"
        "|number|player number|player id|federation number|nummer|spielernummer|verbandsnummer|numero"
        "|numero de joueur|numero ifpa|numero de jugador|spelarnummer|spelersnummer|no|nr|num|id"
    ),
    "seed": (
        "seed|seeding|setzplatz|setzliste|setzung|tete de serie|seedning|seednummer|plaatsingsnummer"
        "|cabeza de serie"
    ),
    "town": (
        "town|city|hometown|home town|location|state|province|stadt|ort|wohnort|heimatort|bundesland"
        "|ville|commune"
        "|stad|hemort|bostadsort|woonplaats|gemeente|ciudad|localidad|poblacion|provincia"
    ),
    "country": (
        "country|nation|nationality|land|staat|nationalitat|pays|nationalite|nationalitet|nationaliteit|pais"
        "|nacionalidad"
    ),
    "initials": "initials|initialen|initiales|initialer|iniciales|kurzel|tag|initialien",
    "pronouns": "pronouns|pronoun|pronomen|pronoms|pronom|voornaamwoorden|pronombres|pronombre",
    "paid": (
        "paid|payment|fee|bezahlt|zahlung|startgeld|paye|payee|paiement|betald|betalt|betaald|pagado|pago"
    ),
    "place": (
        "place|position|pos|rank|ranking|finish|platz|platzierung|rang|place finale|classement"
        "|plats|placering"
        "|plaats|positie|puesto|posicion|clasificacion"
    ),
    "score": (
        "score|scores|points|pts|total|rating|wppr|punkte|punktzahl|ergebnis|punten|poang|resultat|puntos"
        "|puntuacion|resultado|wins|losses|siege|victoires"
    ),
    "ordinal": "#|lfd nr|row|line|zeile|rad|rij|fila|ligne",
    "machine": (
        "machine|machines|game|table|title|pinball|maschine|flipper|automat|gerat|tisch|titel|jeu|titre|maskin"
        "|spel|flipperspel|kast|flipperkast|maquina|juego|titulo|arena"
    ),
    "shortName": (
        "short name|short|shortname|abbreviation|abbr|kurzname|abkurzung|nom court|abreviation"
        "|kortnamn|korte naam"
        "|nombre corto|abreviatura"
    ),
    "opdbId": "opdb|opdb id|opdbid",
    "other": (
        "email|e mail|mail|mail address|phone|telephone|mobile|telefon|handy|telefoon|telefono"
        "|courriel|correo"
        "|epost|e post|comment|comments|note|notes|remark|kommentar|bemerkung|commentaire"
        "|opmerking|comentario"
        "|date|datum|fecha|timestamp|zeitstempel|gender|geschlecht|club|verein|team|status|division|klasse"
        "|present|here|checked in|anwesend|waitlist|discord|username"
    ),
}
WORD_KINDS: Mapping[str, ColumnKind] = {
    word: kind for kind, words in _WORDS.items() for word in words.split("|")
}
# Nobody is called one of their words.
_NOBODYS = frozenset({"name", "first", "number", "machine", "opdbId"})
HEADER_ROWS_DEEP_MAX = 20
NUMBER = re.compile(r"(?:ifpa)?\s*#?\s*(\d{1,7})(?:\.0+)?", re.IGNORECASE)
DIGITS = re.compile(r"\d{1,7}")
SCORE = re.compile(r"[\d][\d.,'\u2019 \u00a0\u2009\u202f]*(?:\s*(?:pts?|points|%|k|m))?", re.IGNORECASE)
OPDB_ID = re.compile(r"[GH][0-9A-Za-z]{4,6}(?:-M[0-9A-Za-z]{4,6}(?:-A[0-9A-Za-z]{4,6})?)?")
MAIL = re.compile(r"\S+@\S+\.\S+")
NUMBERS_PERCENT_MIN, NAMES_PERCENT_MIN = 80, 60


class FoundColumns(Struct, frozen=True):
    """The kind of each column, and the headers where there are any."""

    kinds: tuple[ColumnKind, ...]
    headers: tuple[str, ...] = ()
    # Rows that hold no person: headers, and what stands above them.
    header_lines: frozenset[int] = frozenset()
    lines_above: frozenset[int] = frozenset()


def word_kind(cell: str) -> ColumnKind | None:
    """The kind of column that this word of a header names; None for all other text."""
    folded = names.strip_punctuation(cell)
    if cell.strip() in ("#", "Nr.", "No.", "№"):
        return "number"
    return WORD_KINDS.get(folded)


def is_header(row: TableRow) -> bool:
    """Whether the row names columns: two known words, or one and no cell that looks like a name."""
    filled, known = _filled_cells(row), known_words(row)
    if len(known) != 1:
        return len(known) > 1
    others = [cell for cell in filled if cell != known[0]]
    # `Name` beside `Zusage` is a header; `Land` beside `Ada` is not.
    is_nobody = word_kind(known[0]) in _NOBODYS
    return not any(_is_full_name(cell) if is_nobody else looks_like_name(cell) for cell in others)


def known_words(row: TableRow) -> list[str]:
    """The cells that are words of headers."""
    return [cell for cell in _filled_cells(row) if word_kind(cell) is not None]


def _filled_cells(row: TableRow) -> list[str]:
    return [cell for cell in row.cells if cell]


def looks_like_name(cell: str) -> bool:
    """Whether this may be somebody's name or a part of one."""
    return bool(clean_name(cell)) and not any(letter.isdigit() for letter in cell)


def _is_full_name(cell: str) -> bool:
    return looks_like_name(cell) and " " in cell


def columns_by_header(rows: Sequence[TableRow], width: int) -> FoundColumns | None:
    """The columns as the first header says; None without one."""
    at = next((place for place, row in enumerate(rows[:HEADER_ROWS_DEEP_MAX]) if is_header(row)), None)
    if at is None:
        return None
    above = frozenset(row.line for row in rows[:at])
    headers = [""] * width
    lines = set()
    # Two lines of headers, the wider words above: what the lower one says counts.
    while at < len(rows) and is_header(rows[at]):
        for place, cell in enumerate(rows[at].cells):
            headers[place] = cell or headers[place]
        lines.add(rows[at].line)
        at += 1
    kinds: list[ColumnKind] = [word_kind(header) or "other" for header in headers]
    body = rows[at:]
    return FoundColumns(tuple(_settled(kinds, headers, body)), tuple(headers), frozenset(lines), above)


def _settled(kinds: list[ColumnKind], headers: Sequence[str], body: Sequence[TableRow]) -> list[ColumnKind]:
    """The kinds; a word can mean another thing beside another one: `Nom` beside `Prénom` is the last name."""
    if "name" in kinds and "first" in kinds and "last" not in kinds:
        kinds[kinds.index("name")] = "last"
    elif "name" in kinds and "last" in kinds and "first" not in kinds:
        kinds[kinds.index("name")] = "first"
    numbers = [place for place, kind in enumerate(kinds) if kind == "number"]
    federation = [place for place in numbers if "ifpa" in names.strip_punctuation(headers[place])]
    for place in numbers:
        is_second = bool(federation) and place not in federation
        if is_second or counts_rows([_cell(row, place) for row in body]):
            kinds[place] = "ordinal"
    for place, header in enumerate(headers):
        if not header and kinds[place] == "other":
            kinds[place] = kind_of_cells([_cell(row, place) for row in body], has_names="name" in kinds)
    return kinds


def _cell(row: TableRow, place: int) -> str:
    return row.cells[place] if place < len(row.cells) else ""


def counts_rows(cells: Sequence[str]) -> bool:
    """Whether the numbers count the rows or are places: 1, 2, 3 or 1, 2, 2, 4."""
    numbers = [int(cell.rstrip(".")) for cell in cells if DIGITS.fullmatch(cell.rstrip("."))]
    filled = [cell for cell in cells if cell]
    if len(numbers) < len(filled) or len(numbers) < 2 or numbers[0] not in (0, 1):
        return False
    return numbers[-1] <= len(numbers) and all(before <= after for before, after in pairwise(numbers))


def kind_of_cells(cells: Sequence[str], *, has_names: bool) -> ColumnKind:
    """The kind of column that these cells make, where no header says it."""
    filled = [cell for cell in cells if cell]
    if not filled:
        return "other"

    def has(share: int, count: int) -> bool:
        return count * 100 >= share * len(filled)

    if has(NUMBERS_PERCENT_MIN, sum(OPDB_ID.fullmatch(cell) is not None for cell in filled)) and any(
        "-M" in cell for cell in filled
    ):
        return "opdbId"
    if counts_rows(filled) or has(NUMBERS_PERCENT_MIN, sum(_is_place(cell) for cell in filled)):
        return "ordinal"
    if has(NUMBERS_PERCENT_MIN, sum(DIGITS.fullmatch(cell) is not None for cell in filled)) and has_names:
        return "number"
    if has(NUMBERS_PERCENT_MIN, sum(SCORE.fullmatch(cell) is not None for cell in filled)):
        return "score"
    is_mail = has(NAMES_PERCENT_MIN, sum(MAIL.fullmatch(cell) is not None for cell in filled))
    is_named = has(NAMES_PERCENT_MIN, sum(looks_like_name(cell) for cell in filled))
    return "name" if is_named and not is_mail else "other"


def _is_place(cell: str) -> bool:
    return ORDINAL.fullmatch(cell) is not None and not cell.isdigit()


def columns_by_content(rows: Sequence[TableRow], width: int) -> FoundColumns:
    """The columns as their cells say: the first of names, or first and last name in two of single words."""
    cells = [[_cell(row, place) for row in rows] for place in range(width)]
    are_names = [kind_of_cells(column, has_names=False) == "name" for column in cells]
    kinds: list[ColumnKind] = [kind_of_cells(column, has_names=any(are_names)) for column in cells]
    named = [place for place, kind in enumerate(kinds) if kind == "name"]
    if not named:
        # Numbers alone are of people whom the book or the federation's file knows.
        named = [max(range(width), key=lambda place: sum(map(len, cells[place])))]
        kinds[named[0]] = "name"
    for place in named[1:]:
        kinds[place] = "other"
    if len(named) > 1 and named[1] == named[0] + 1 and all(_are_words(cells[place]) for place in named[:2]):
        kinds[named[0]], kinds[named[1]] = "first", "last"
    numbers = [place for place, kind in enumerate(kinds) if kind == "number"]
    for place in numbers[1:]:
        kinds[place] = "score"
    return FoundColumns(tuple(kinds))


def _are_words(cells: Sequence[str]) -> bool:
    """Whether nearly all of them are single words."""
    filled = [cell for cell in cells if cell]
    return sum(" " not in cell for cell in filled) * 100 >= NUMBERS_PERCENT_MIN * len(filled)


def read_number(cell: str) -> int | None:
    """The federation number in a cell; None where there is none."""
    found = NUMBER.fullmatch(cell.strip())
    return (int(found[1]) or None) if found else None
