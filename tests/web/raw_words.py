"""What no sentence for people contains: values of the wire, keys and ids."""

import re

# "None:" begins a sentence.
RAW_TEXT = re.compile(
    r"[A-Za-z]_|[a-z][A-Z]|\bNone\b(?!:|$)|\b(?:null|True|False|UNSET|Unknown|disabled|comped|pending)\b"
    r"|\b(?:bg|pct|qck)\b|\bmod de\b"
    r"|\b(?:[Gg]ame|[Aa]rena|[Aa]ccount|[Aa]ction|[Bb]ank) #?\d"
)
