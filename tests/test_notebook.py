"""What a notebook shows: well-formed, without scripts, with the numbers of the object, and escaped."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import spectraplex as sx
from spectraplex import notebook
from spectraplex.numerals import shown

SVG = "{http://www.w3.org/2000/svg}"
TAGS = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
TAGS |= {SVG + name for name in ("svg", "path", "text", "tspan", "circle", "title")}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    cells = rng.permutation(300)[:120]
    fit = sx.Completion(cells // 15, cells % 15, rng.normal(size=120), (20, 15))
    return sx.Problem(fit, sx.NuclearBall((20, 15), 12.0))


@pytest.fixture(scope="module")
def result(problem):
    return sx.solve(problem, "cg", sx.Stop(max_steps=30))


@pytest.fixture(scope="module")
def path(problem):
    return sx.path(problem, count=5)


def parsed(thing) -> ET.Element:
    """The fragment as XML: what is not well-formed is refused, and nothing in it runs or is fetched."""
    text = thing._repr_html_()
    root = ET.fromstring(text)
    assert {element.tag for element in root.iter()} <= TAGS
    assert not re.search(r"\bon\w+=|href|url\(|class=\"(?!spectraplex)", text)
    return root


def words(root: ET.Element) -> str:
    return " ".join(" ".join(root.itertext()).split())


def table(root: ET.Element) -> dict[str, str]:
    return {row[0].text: row[1].text for row in root.iter("tr")}


def lines(root: ET.Element) -> list[np.ndarray]:
    """The curves (the others are grid and axes), as points on the page."""
    drawn = [path.get("d") for path in root.iter(SVG + "path") if path.get("stroke", "").startswith("#")]
    return [np.array([[float(x) for x in pair.split()] for pair in line[1:].split("L")]) for line in drawn]


def test_a_result_shows_its_numbers_and_both_curves(result):
    root = parsed(result)
    told = table(root)
    assert told["value"] == shown(result.value, 8) and told["lower bound"] == shown(result.lower_bound, 8)
    assert told["gap"].startswith(shown(result.gap, 3)) and told["X"] == repr(result.X)
    assert told["ended"] == result.status.value and f"{result.trace[-1].step} steps" in told["cost"]
    value = lines(root)[-1]
    assert len(value) == len(result.trace) and (np.diff(value[:, 1]) > -1e-9).all()  # down the page as it falls


def test_the_lower_bound_is_drawn_below_the_value_where_it_is_near():
    xs, value = np.arange(5.0), np.array([9.0, 5.0, 4.0, 3.5, 3.4])
    bound = np.array([-np.inf, -100.0, 3.0, 3.2, 3.3])
    low, high = lines(ET.fromstring(notebook.curves(("step", "objective"), xs, value, bound)))
    assert len(high) == 5 and len(low) == 3  # what is not known, and what lies far below, is left out
    assert (low[:, 1] > high[2:, 1]).all()
    bound[:] = [-np.inf, -np.inf, -np.inf, -np.inf, 3.3]
    dots = [each for each in ET.fromstring(notebook.curves(("x", "y"), xs, value, bound)).iter(SVG + "circle")]
    assert sum("lower bound 3.3" in "".join(dot.itertext()) for dot in dots) == 1


def test_a_certificate_shows_what_it_claims(result):
    told = table(parsed(result.certificate))
    assert told["value"] == shown(result.value, 8) and told["certified"] == "proven"
    nothing = table(parsed(sx.Certificate("none", 0.0, 1.25, -math.inf, 0.25)))
    assert nothing == {
        "value": "1.2500000",
        "lower bound": "none",
        "certified": "nothing",
        "moved": "0.25 into the domain",
    }
    probable = sx.Certificate("probable", 1e-9, 2.0, 1.5, 0.0)
    assert table(parsed(probable))["certified"] == "wrong with probability at most 1×10⁻⁹"


def test_a_path_shows_every_point(path):
    root = parsed(path)
    rows = [[cell.text for cell in row] for row in root.iter("tr")][1:]
    assert [row[0] for row in rows] == [shown(point.radius, 5) for point in path]
    assert [row[2] for row in rows] == [shown(point.value, 6) for point in path]
    assert len(lines(root)[-1]) == len(path) and repr(path) in words(root)


def test_a_path_along_lambda_is_drawn_from_left_to_right(problem):
    path = sx.path(sx.Penalized(problem.objective, 1.0), [4.0, 2.0, 1.0])
    assert (np.diff(lines(parsed(path))[-1][:, 0]) > 0).all()


def test_one_point_is_no_curve_and_no_bound_is_no_line():
    assert notebook.curves(("x", "y"), np.ones(1), np.ones(1), np.zeros(1)) == ""
    flat = notebook.curves(("x", "y"), np.array([1.0, 2.0]), np.array([3.0, 3.0]), np.full(2, -np.inf))
    assert len(lines(ET.fromstring(flat))) == 1 and "lower bound" not in flat


def test_long_curves_are_thinned_and_long_tables_cut():
    xs = np.arange(5000.0)
    root = ET.fromstring(notebook.curves(("step", "objective"), xs, 1 / (1 + xs), -1 / (1 + xs)))
    assert len(lines(root)[-1]) == notebook.MOST
    root = ET.fromstring(notebook.columns("long", ("a",), [[str(k)] for k in range(100)]))
    assert [row[0].text for row in root.iter("tr")] == ["a", *"012345", "…", *map(str, range(94, 100))]


def test_text_is_escaped():
    rude = "<script>alert('&')</script>"
    drawn = notebook.curves((rude, rude), np.arange(3.0), np.arange(3.0), np.arange(3.0))
    for text in (notebook.card(rude, [(rude, rude)]), notebook.columns(rude, (rude,), [[rude]]), drawn):
        assert "<script" not in text and words(ET.fromstring(text)).count(rude) >= 2
