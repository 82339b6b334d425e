"""Names that may be one person's: two spellings, a short form, an initial, a mistyped letter."""

from silverball.store.people import names

# A word shorter than this is compared to the letter; from the second on, two letters may differ.
TYPO_LETTERS_MIN, TWO_TYPOS_LETTERS_MIN = 4, 8
# So many letters of a name stand for it: Alex for Alexander.
SHORT_FORM_LETTERS_MIN = 3


def are_near(name: str, other: str) -> bool:
    """Whether each word of the shorter name is near another word of the longer one, in any order."""
    words, others = (names.strip_punctuation(text).split() for text in (name, other))
    if len(words) > len(others):
        words, others = others, words
    if not words:
        return not others
    for word in sorted(words, key=len, reverse=True):
        near = next((each for each in sorted(others, key=len, reverse=True) if _is_near(word, each)), None)
        if near is None:
            return False
        others.remove(near)
    return True


def may_be_one_person(name: str, other: str) -> bool:
    """Whether the names are near; a surname alone is nobody's double: Quill is not Ada Quill."""
    words, others = sorted((names.strip_punctuation(text).split() for text in (name, other)), key=len)
    is_surname = len(words) == 1 < len(others) and not any(_is_near(words[0], each) for each in others[:-1])
    return not is_surname and are_near(name, other)


def _is_near(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    if short.isdigit() or long.isdigit():
        return short == long
    is_short_form = len(short) == 1 or len(short) >= SHORT_FORM_LETTERS_MIN
    if short == long or (is_short_form and long.startswith(short)):
        return True
    allowed = 0 if len(short) < TYPO_LETTERS_MIN else 1 if len(short) < TWO_TYPOS_LETTERS_MIN else 2
    return len(long) - len(short) <= allowed and _typos(short, long) <= allowed


def _typos(word: str, other: str) -> int:
    """Letters to change, add, leave out or swap with their neighbour (restricted Damerau and Levenshtein)."""
    older: list[int] = []
    last = list(range(len(other) + 1))
    for at, letter in enumerate(word, start=1):
        newest = [at]
        for place, against in enumerate(other, start=1):
            cost = min(last[place] + 1, newest[-1] + 1, last[place - 1] + (letter != against))
            is_swap = at > 1 and place > 1 and letter == other[place - 2] and against == word[at - 2]
            newest.append(min(cost, older[place - 2] + 1) if is_swap else cost)
        older, last = last, newest
    return last[-1]
