"""The pages as a whole: links lead somewhere, every page is in the index, every public name is explained."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import spectraplex
from spectraplex import datasets, estimators, metrics, plots, report

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS]


def prose(text: str) -> str:
    """A page without its blocks of code and without code in lines: brackets mean something else there."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def links(text: str) -> list[str]:
    """The places that a page links to, other sites left out."""
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", prose(text)) if not re.match(r"[a-z]+:", link)]


def anchors(text: str) -> set[str]:
    """Where a page can be entered: its headings as GitHub spells them in an address."""
    found: dict[str, int] = {}
    out = set()
    for heading in re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    ):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        out.add(f"{name}-{count}" if count else name)
    return out


def broken(page: Path, text: str) -> list[str]:
    """Links of a page that lead nowhere."""
    wrong = []
    for link in links(text):
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file_and_a_heading_that_exist(page):
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_broken_links_would_be_found():
    page = ROOT / "docs" / "README.md"
    text = "[a](paths.md) [b](nowhere.md) [c](paths.md#λ-instead-of-a-radius) [d](paths.md#nothing) `[e](f.md)` [g](https://x)"
    assert broken(page, text) == ["nowhere.md", "paths.md#nothing"]
    assert anchors("# One, two\n```sh\n# three\n```\n## One, two\n### `Four` five") == {
        "one-two",
        "one-two-1",
        "four-five",
    }


def test_every_page_is_in_the_index_and_the_index_in_the_readme():
    index = ROOT / "docs" / "README.md"
    assert set(links(index.read_text(encoding="utf-8"))) >= {page.name for page in DOCS} - {index.name}
    assert "docs/README.md" in links((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_modules_and_files_that_a_page_names_exist(page):
    """`spectraplex.room.name` can be reached, and `spectraplex/room/file.py` is there: pages follow what moves."""
    text = page.read_text(encoding="utf-8")
    for file in re.findall(r"`(spectraplex/[\w/]+\.py|(?:tests|benchmarks)/[\w/]+\.py)`", text):
        assert (ROOT / "src" / file).is_file() or (ROOT / file).is_file(), file
    for name in re.findall(r"`spectraplex\.([\w.]+)[`(]", text):
        found = spectraplex
        for part in name.rstrip(".").split("."):
            if not hasattr(found, part):
                importlib.import_module(f"{found.__name__}.{part}")
            found = getattr(found, part)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 700


def test_every_benchmark_is_in_a_set(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    sets = importlib.import_module("benchmarks.__main__")
    names = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"__init__", "__main__", "data"}
    assert {*sets.QUICK, *sets.REST, *sets.ASKED} == names
    assert {"kernels", "hybrid", "duals", "dense", "steps"} <= set(sets.QUICK)  # they guard speed


def explained() -> str:
    """What stands in backquotes on the page of names."""
    return " ".join(re.findall(r"`([^`]+)`", (ROOT / "docs" / "names.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize("room", [spectraplex, estimators, metrics, report, datasets], ids=lambda room: room.__name__)
def test_every_public_name_is_on_the_page_of_names(room):
    words = set(re.findall(r"\w+", explained()))
    assert [name for name in room.__all__ if name not in words] == []


def test_what_the_page_of_names_says_of_pictures_exists():
    text = (ROOT / "docs" / "names.md").read_text(encoding="utf-8").split("## `spectraplex.plots`")[1]
    names = re.findall(r"^\| `(\w+)\(", text, re.MULTILINE)
    assert len(names) == 4 and all(callable(getattr(plots, name)) for name in names)


@pytest.mark.parametrize(
    ("estimator", "page"),
    [
        (estimators.MatrixCompletion, "estimators.md"),
        (estimators.OneClassCompletion, "estimators.md"),
        (estimators.NuclearNormImputer, "imputation.md"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_settings_and_what_is_learned_stand_in_the_docstring_and_on_the_page(estimator, page):
    """Every parameter, and every attribute ending in _ that the docstring names, is on the page."""
    doc = inspect.getdoc(estimator) or ""
    assert all(f"\n{head}\n{'-' * len(head)}\n" in doc for head in ("Parameters", "Attributes", "Examples"))
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    before, attributes = doc.split("Attributes\n")[0], doc.split("Attributes\n")[1].split("Examples\n")[0]
    for name in estimator().get_params():
        assert re.search(rf"^(\w+, )*{name}(, \w+)* : ", before, re.MULTILINE), name
        assert re.search(rf"`{name}`", text), name
    learned = re.findall(r"\b([a-zA-Z]\w*_)(?=[ ,]|$)", " ".join(re.findall(r"^(\S.*?) : ", attributes, re.MULTILINE)))
    assert len(learned) > 8
    assert [name for name in learned if f"`{name}`" not in text] == []
