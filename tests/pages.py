"""Reading pages: the examples of the documentation, and the report (facts, text, what a browser makes of it)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

_VOID = {"meta", "br"}
_APART = {"td", "th", "dt", "dd", "a", "p"}  # words on both sides of their ends do not run together
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium here")


# ------------------------------------------------------------------------------------ examples in the documentation

_QUOTED = r"(?<!\w)'[^'\n]*'(?!\w)|\"[^\"\n]*\""  # a label: digits in it are letters
_PLAIN = r"(?<![\w.])[-+−]?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?!\w)"
_BOUND = rf"at most {_PLAIN}(?: \({_PLAIN} % of it\))?"  # a certified gap
_PIECE = re.compile(f"({_QUOTED})|({_BOUND})|({_PLAIN})")
_DECIMAL = re.compile(r"[-+−]?\d+(?:\.(\d*))?(?:e([-+]?\d+))?")


def blocks(page: Path) -> list[tuple[str, str]]:
    """Every python block of a page, with the output block that follows it, if one does."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", text, re.DOTALL)


def agrees(printed: str, shown: str) -> bool:
    """Whether an example printed what its page shows: the same words, and numbers as near as the page is exact.

    A number with decimals may differ by one in its last digit; any number by one per cent, as a solver's answers
    within a gap do; so whole numbers below a hundred must be equal. A certified gap ("at most 0.0031") depends on when
    the run looked, and may differ by a factor of ten. Spaces count as one, and what stands in quotes is a word.
    """
    ours, theirs = _pieces(printed), _pieces(shown)
    return len(ours) == len(theirs) and all(_near(a, b) for a, b in zip(ours, theirs, strict=True))


def _pieces(text: str) -> list[tuple[str, str]]:
    """Words and numbers in turn, each with its kind."""
    text, out, at = " ".join(text.split()), [], 0
    for found in _PIECE.finditer(text):
        out.append(("words", text[at : found.start()]))
        kind = ("words", "gap", "number")[(found.lastindex or 1) - 1]
        out.append((kind, found[0]))
        at = found.end()
    return [*out, ("words", text[at:])]


def _near(ours: tuple[str, str], theirs: tuple[str, str]) -> bool:
    (kind, a), (other, b) = ours, theirs
    if kind != other:
        return False
    if kind == "gap":
        pairs = list(zip(re.findall(_PLAIN, a), re.findall(_PLAIN, b), strict=False))
        return bool(pairs) and all(_number(x) <= 10 * _number(y) and _number(y) <= 10 * _number(x) for x, y in pairs)
    if kind == "words" or (a.lstrip("-+−").startswith("0") and a.isdigit()):  # 007 is a label
        return a == b
    return abs(_number(a) - _number(b)) <= max(_unit(b), 0.01 * abs(_number(b))) * (1 + 1e-9)


def _number(words: str) -> float:
    return float(words.replace("−", "-"))


def _unit(words: str) -> float:
    """One in the last digit of a number with decimals; nothing for a whole number."""
    found = _DECIMAL.fullmatch(words)
    assert found is not None
    if found[1] is None and found[2] is None:
        return 0.0
    return float(10.0 ** (int(found[2] or 0) - len(found[1] or "")))


# --------------------------------------------------------------------------------------------------------- the report


class Page(HTMLParser):
    """Tags, facts (name → exact number) and text of a page; a tag that is not closed in turn is refused."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.facts: dict[str, float] = {}
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        self.tags.append((tag, held))
        if tag == "data":
            self.facts[str(held["data-fact"])] = float(str(held["value"]))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()
        if tag in _APART:
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def drawings(self) -> list[dict[str, str | None]]:
        return [each for each in self.all("svg") if each.get("role") == "img"]


def browse(page: Path, folder: Path, *more: str) -> list[str]:
    """What the browser says on its console about a page."""
    assert BROWSER is not None
    settled = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    quiet = "--disable-component-update --disable-sync --hide-scrollbars --enable-logging=stderr --v=0 --dump-dom"
    asked = [f"--user-data-dir={folder / 'profile'}", "--window-size=1400,1200", *more, page.as_uri()]
    done = subprocess.run(
        [BROWSER, *settled.split(), *quiet.split(), *asked], capture_output=True, text=True, timeout=240, check=True
    )
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


_MEASURE = """<script>
const boxes = [...document.querySelectorAll("figure > svg")].map(each => each.getBoundingClientRect());
const text = [...document.querySelectorAll("figure > svg text")].map(each => each.getBoundingClientRect());
const colour = name => getComputedStyle(document.querySelector(name));
console.log(JSON.stringify({
  wide: document.documentElement.scrollWidth, window: window.innerWidth,
  boxes: boxes.map(box => [box.width, box.height]), least: Math.min(...text.map(box => box.height)),
  left: Math.min(...text.map(box => box.left)), right: Math.max(...text.map(box => box.right)),
  ink: colour("figure .bar").fill, words: colour("body").color, paper: colour("body").backgroundColor,
}));
</script>"""


def looked_at(page: Path, folder: Path, widths: Sequence[int], *more: str) -> tuple[dict[int, Any], list[str]]:
    """The page as it is, and in frames of several widths as copies that tell their sizes and colours on the console.

    Frames, because a window has a least width; the console, because whatever else is said there is a complaint, and
    what is measured proves that complaints would be heard.
    """
    text = page.read_text("utf-8")
    policy = text[text.index('<meta http-equiv="Content-Security-Policy"') :].split(">")[0] + ">"
    copy = folder / "copy.html"
    copy.write_text(text.replace(policy, "").replace("</body>", _MEASURE + "</body>"), "utf-8")
    frames = [f'<iframe src="{copy.as_uri()}" style="width:{w}px;height:1000px;border:0"></iframe>' for w in widths]
    frames.append(f'<iframe src="{page.as_uri()}" style="width:800px;height:1000px;border:0"></iframe>')
    whole = folder / "frames.html"
    whole.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>frames</title>{''.join(frames)}", "utf-8")
    found, complaints = {}, []
    for line in browse(whole, folder, *more):
        told = re.search(r'"(\{"wide".*\})", source', line)
        if told is None:
            complaints.append(line)
        else:
            seen = json.loads(told[1])
            found[seen["window"]] = seen
    return found, complaints
