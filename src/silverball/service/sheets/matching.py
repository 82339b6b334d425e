"""The people of a list as players of the book, people of earlier rows, or new ones; pure.

A number comes first, then the name without case and accents, then a name that is near, which is asked. Equal
names with different numbers are two people.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from silverball.kit.values import replace
from silverball.service.sheets.people import NAME_LETTERS_MAX, SheetPerson, name_fault
from silverball.store.people import names, near_names
from silverball_wire.imports import ImportChoice, ImportRow

CHOICES_MAX = 4
# Names with a word that more people of a book have are not compared by it.
SHARING_A_WORD_MAX = 50
LEAVE_OUT = ImportChoice(decision="leaveOut", text="Leave it out")


class BookPlayer(Struct, frozen=True):
    """A player of the book; the number is their own, or the confirmed one of their account."""

    player_id: int
    name: str
    number: int | None
    is_active: bool


class BookFacts(Struct, frozen=True, kw_only=True):
    """The facts about the people of a list: the book, the federation's file, and the entrants."""

    players: Mapping[int, BookPlayer] = msgspec.field(default_factory=dict)
    # Number -> ids of the players whose it is.
    holders: Mapping[int, Sequence[int]] = msgspec.field(default_factory=dict)
    # Number -> name in the federation's file.
    records: Mapping[int, str] = msgspec.field(default_factory=dict)
    # Ids of the entrants of the tournament.
    present: frozenset[int] = frozenset()


def match_people(people: Sequence[SheetPerson], facts: BookFacts) -> list[ImportRow]:
    """The rows as they will be, with questions where nobody can know."""
    matcher = _Matcher(facts)
    for person in people:
        matcher.add(person)
    return matcher.rows


class _Matcher:
    """Goes through the rows in order, as each may be the person of an earlier one."""

    def __init__(self, facts: BookFacts) -> None:
        self.rows: list[ImportRow] = []
        self._facts = facts
        self._ids_by_key: defaultdict[str, list[int]] = defaultdict(list)
        self._ids_by_word: defaultdict[str, list[int]] = defaultdict(list)
        for player in facts.players.values():
            self._ids_by_key[names.name_key(player.name)].append(player.player_id)
            for word in _words(player.name):
                self._ids_by_word[word].append(player.player_id)
        self._row_of_number: dict[int, ImportRow] = {}
        self._row_of_player: dict[int, ImportRow] = {}
        self._rows_by_key: defaultdict[str, list[ImportRow]] = defaultdict(list)
        self._rows_by_word: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, person: SheetPerson) -> None:
        """Match a person, and remember the row for those that follow."""
        row = ImportRow(
            row=len(self.rows) + 1,
            line=person.line,
            name=person.name or None,
            ifpa_id=person.ifpa_id,
            seed=person.seed,
            decision=None,
            fault=name_fault(person.name) or None,
        )
        if row.fault is None:
            row = self._by_number(row) or self._by_name(row)
        self.rows.append(row)
        if row.name is None:
            return
        if row.ifpa_id is not None:
            self._row_of_number.setdefault(row.ifpa_id, row)
        if row.player_id is not None:
            self._row_of_player.setdefault(row.player_id, row)
        self._rows_by_key[names.name_key(row.name)].append(row)
        for word in _words(row.name):
            self._rows_by_word[word].append(row.row)

    def _by_number(self, row: ImportRow) -> ImportRow | None:
        """The row as its number says; None where the name has to say it."""
        number = row.ifpa_id
        if number is None:
            return None
        earlier = self._row_of_number.get(number)
        if earlier is not None:
            return _same_number(row, earlier)
        holders = self._facts.holders.get(number, ())
        if len(holders) > 1:
            question = f"Your book has number {number} {len(holders)} times. Who is it?"
            return self._asked(row, question, [self._player_choice(each) for each in holders])
        if holders:
            player = self._facts.players[holders[0]]
            if row.name is not None and not near_names.are_near(row.name, player.name):
                question = f"Number {number} is that of {player.name} in your book. Is it them?"
                return self._asked(row, question, [self._player_choice(player.player_id)])
            return self._as_player(row, player.player_id)
        return self._by_record(row, self._facts.records.get(number))

    def _by_record(self, row: ImportRow, record: str | None) -> ImportRow:
        """A row whose number nobody in the book has; the federation's file may know the name."""
        number = row.ifpa_id
        if row.name is None and record is None:
            fault = f"Neither your book nor the federation's file has number {number}. Write the name."
            return replace(row, fault=fault)
        if row.name is None:
            notes: tuple[str, ...] = ("The name is the federation's.",)
            return self._by_name(replace(row, name=(record or "")[:NAME_LETTERS_MAX], notes=notes))
        is_other = record is not None and not near_names.are_near(row.name, record)
        notes = (f"The federation's file calls number {number} {record}.",) if is_other else ()
        return self._by_name(replace(row, notes=notes))

    def _by_name(self, row: ImportRow) -> ImportRow:
        assert row.name is not None
        key = names.name_key(row.name)
        earlier = [each for each in self._rows_by_key[key] if not _are_two(row.ifpa_id, each.ifpa_id)]
        taken = {each.player_id for each in self._rows_by_key[key]}
        free = [each for each in self._ids_by_key[key] if each not in taken and self._may_be(row, each)]
        if earlier:
            first = earlier[0]
            question = f"{row.name} is in row {first.row}, too. One person twice, or two?"
            two = [self._player_choice(each) for each in free] or [_new_choice("Two people of one name")]
            return self._asked(row, question, [_same_choice(first, "One person twice"), *two])
        if len(free) == 1:
            return self._as_player(row, free[0])
        if free:
            question = f"Your book has {len(free)} players called {row.name}. Who is it?"
            choices = [self._player_choice(each) for each in free]
            return self._asked(row, question, [*choices, _new_choice("Somebody else")])
        return self._by_near_name(row)

    def _by_near_name(self, row: ImportRow) -> ImportRow:
        assert row.name is not None
        choices = []
        for player_id in _shared(self._ids_by_word, row.name):
            name = self._facts.players[player_id].name
            is_met = player_id in self._row_of_player or not self._may_be(row, player_id)
            if not is_met and near_names.may_be_one_person(row.name, name):
                choices.append(self._player_choice(player_id))
        for number in _shared(self._rows_by_word, row.name):
            earlier = self.rows[number - 1]
            is_other = _are_two(row.ifpa_id, earlier.ifpa_id)
            if not is_other and near_names.may_be_one_person(row.name, earlier.name or ""):
                choices.append(_same_choice(earlier, f"{earlier.name} of row {earlier.row}"))
        if not choices:
            return replace(row, decision="new")
        question = f"{row.name} looks like somebody else. Who is it?"
        return self._asked(row, question, [*choices[: CHOICES_MAX - 1], _new_choice("Somebody new")])

    def _may_be(self, row: ImportRow, player_id: int) -> bool:
        return not _are_two(row.ifpa_id, self._facts.players[player_id].number)

    def _as_player(self, row: ImportRow, player_id: int) -> ImportRow:
        player, earlier = self._facts.players[player_id], self._row_of_player.get(player_id)
        if earlier is not None:
            notes = (*row.notes, f"Row {earlier.row} is {player.name}, too: one person twice.")
            return replace(
                row, name=row.name or player.name, decision="same", same_as=earlier.row, notes=notes
            )
        return self._as_first(row, player)

    def _as_first(self, row: ImportRow, player: BookPlayer) -> ImportRow:
        notes = [*row.notes]
        if row.name is not None and row.name != player.name:
            notes.append(f"Your book writes {player.name}.")
        if not player.is_active:
            notes.append("Your book has them as not in use any more.")
        if row.ifpa_id is not None and player.number is None:
            notes.append(f"Your book gets number {row.ifpa_id}.")
        if player.player_id in self._facts.present:
            notes.append("They are in the tournament already.")
        return replace(
            row,
            name=row.name or player.name,
            decision="player",
            player_id=player.player_id,
            notes=tuple(notes),
        )

    def _asked(self, row: ImportRow, question: str, choices: Sequence[ImportChoice]) -> ImportRow:
        return replace(row, question=question, choices=(*choices, LEAVE_OUT))

    def _player_choice(self, player_id: int) -> ImportChoice:
        player = self._facts.players[player_id]
        more = "" if player.is_active else ", not in use any more"
        text = f"{player.name} of your book (player {player_id}{more})"
        return ImportChoice(decision="player", player_id=player_id, text=text)


def _same_number(row: ImportRow, earlier: ImportRow) -> ImportRow:
    """A row whose number came before: one person twice, unless the names are not near."""
    if row.name is None or near_names.are_near(row.name, earlier.name or ""):
        notes = (f"Number {row.ifpa_id} is in row {earlier.row} already: one person twice.",)
        return replace(row, name=row.name or earlier.name, decision="same", same_as=earlier.row, notes=notes)
    question = f"Number {row.ifpa_id} is that of {earlier.name} in row {earlier.row}. Is it them?"
    choices = (_same_choice(earlier, f"It is {earlier.name}"), LEAVE_OUT)
    return replace(row, question=question, choices=choices)


def _same_choice(earlier: ImportRow, text: str) -> ImportChoice:
    return ImportChoice(decision="same", same_as=earlier.row, text=text)


def _new_choice(text: str) -> ImportChoice:
    return ImportChoice(decision="new", text=text)


def _are_two(number: int | None, other: int | None) -> bool:
    """Whether two numbers are of two people."""
    return number is not None and other is not None and number != other


def _words(name: str) -> set[str]:
    return set(names.strip_punctuation(name).split())


def _shared(by_word: Mapping[str, Sequence[int]], name: str) -> list[int]:
    """Ids, each once, that share a word with the name; words of very many are left out."""
    found: dict[int, None] = {}
    for word in sorted(_words(name)):
        ids = by_word.get(word, ())
        if len(ids) <= SHARING_A_WORD_MAX:
            found |= dict.fromkeys(ids)
    return sorted(found)
