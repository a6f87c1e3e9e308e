"""Which columns of a table are labels and which one has the values, guessed from what stands in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

#: What people write where nothing is; compared in lower case, without blanks around it.
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?"))

_DATE = re.compile(
    r"(\d{4}[-/]\d{1,2}|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}:\d{2}(:\d{2}.*)?"  # 1234.5 is a number
)
TIMES = ("date", "time", "timestamp", "datetime", "day", "month", "year", "when", "week")
AMOUNTS = (
    *("qty", "quantity", "amount", "count", "counts", "sales", "sold", "revenue", "price", "hours", "minutes", "plays"),
    *("playcount", "listens", "clicks", "views", "visits", "purchases", "spent", "grade", "mark", "points", "weight"),
)
#: 1,234 or 12.5% or $5: amounts as people write them, which no label looks like; whoever reads one says what to do
_AMOUNT = re.compile(r"[+-]?[$€£¥₹]?\s?(\d+|\d{1,3}([,.'\u2019]\d{3})+)([.,]\d+)?\s?[%$€£¥₹]?")
_LONG = 60  # letters of an average entry: more is a text that somebody wrote, and no label


def kind(name: str, entries: Sequence[str]) -> str:
    """What a column holds: "time", "counter" (another number on every line), "prose", "whole", "number", "text", "".

    ``name`` is its header, in lower case without blanks.
    """
    there = [entry.strip() for entry in entries if entry.strip().lower() not in MISSING]
    if not there:
        return ""
    if name in TIMES or name.endswith(("date", "timestamp")) or all(_DATE.fullmatch(entry) for entry in there):
        return "time"
    whole = [int(entry) for entry in there if re.fullmatch(r"[+-]?\d{1,18}", entry)]
    if len(whole) == len(there):
        counts = len(whole) > 3 and all(after - before == 1 for before, after in pairwise(whole))
        return "counter" if counts else "whole"
    if all(is_number(entry) or _AMOUNT.fullmatch(entry) for entry in there):
        return "number"
    return "prose" if sum(map(len, there)) > _LONG * len(there) else "text"


def eligible(kinds: Sequence[str], free: Sequence[int], wanted: int) -> list[str]:
    """The kinds, with counters and then times as plain labels where without them too few columns were left."""
    out = list(kinds)
    for doubtful, plain in (("counter", "whole"), ("time", "text"), ("prose", "text")):
        if sum(out[k] in ("text", "whole", "number") for k in free) < wanted:
            out = [plain if each == doubtful else each for each in out]
    return out


def label_places(kinds: Sequence[str], free: Sequence[int], wanted: int) -> list[int]:
    """Of the free columns those that may be labels, best first: words before whole numbers if these are enough."""
    words = [k for k in free if kinds[k] == "text"]
    numbers = [k for k in free if kinds[k] == "whole"]
    return words if len(words) >= wanted else sorted([*words, *numbers])


def value_places(names: Sequence[str], kinds: Sequence[str], free: Sequence[int]) -> list[int]:
    """Of the free columns those that may be values, best first: by what headers say, then as they stand."""
    numbers = [k for k in free if kinds[k] in ("number", "whole")]
    called = [k for word in AMOUNTS for k in numbers if names[k] == word]
    return called or numbers


def is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field  # Python's own thousands mark is no part of a table
