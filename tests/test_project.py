"""project: what is said of a small projection is worked out when it is asked for, and is said all the same."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

import spectraplex as sx
from spectraplex import projection
from spectraplex.result import Result

SEEN = ("value", "gap", "lower_bound", "certificate", "status", "products")


def target(d: int = 12, seed: int = 0) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((d, d))
    return (A + A.T) / 2


@pytest.fixture
def proofs(monkeypatch):
    """How many proofs were worked out so far."""
    asked = []
    proven = projection._proven
    monkeypatch.setattr(projection, "_proven", lambda *given: asked.append(1) or proven(*given))
    return asked


DOMAINS = [sx.Spectrahedron(12), sx.TraceBall(12, 3.0), sx.NuclearBall((12, 12), 3.0)]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_nothing_is_proven_until_it_is_asked_for_and_then_once(domain, proofs):
    result = sx.project(target(), domain)
    assert result.X.shape == (12, 12) and result.state == {} and not proofs
    assert not hasattr(result, "toarray") and not proofs
    assert result.certificate.kind == "proven" and result.gap <= 1e-9 and result.status is sx.Status.GAP
    assert sx.verify(result.certificate, sx.Problem(sx.Distance(target()), domain), result)
    assert "proven" in str(result) and "<table" in result._repr_html_() and len(proofs) == 1


def test_the_same_is_said_as_without_waiting(monkeypatch):
    later = sx.project(target(), DOMAINS[0])
    monkeypatch.setattr(projection, "_LATER", 0)
    now = sx.project(target(), DOMAINS[0])
    assert type(now) is Result
    assert [getattr(later, name) for name in SEEN] == [getattr(now, name) for name in SEEN]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_copies_are_plain_results(again):
    result = sx.project(target(), DOMAINS[1])
    twin = again(result)
    assert type(twin) is Result
    assert all(getattr(twin, each.name) is not None for each in fields(Result))
    assert twin.certificate == result.certificate


def test_it_can_be_saved_replaced_and_continued(tmp_path):
    domain = DOMAINS[0]
    result = sx.project(target(), domain)
    result.save(tmp_path / "result")
    assert sx.load(tmp_path / "result").certificate == result.certificate
    assert replace(sx.project(target(), domain), seconds=1.0).value == result.value
    on = sx.solve(sx.Problem(sx.Distance(target()), domain), start=sx.project(target(), domain))
    assert on.value <= result.value + 1e-9


def test_the_proof_is_of_what_was_computed_whatever_became_of_it():
    result, other = (sx.project(target(), DOMAINS[0]) for _ in range(2))
    problem = sx.Problem(sx.Distance(target()), DOMAINS[0])
    result.X.vectors[:] = 0.5
    assert result.certificate == other.certificate
    assert sx.verify(result.certificate, problem, other)
    with pytest.raises(ValueError, match="outside"):
        sx.verify(result.certificate, problem, result)


@pytest.mark.parametrize("domain", [sx.Spectrahedron(3), sx.TraceBall(3, 1e200), sx.NuclearBall((3, 3), 1e200)])
def test_a_distance_beyond_float64_is_a_sentence_at_once(domain):
    with pytest.raises(ValueError, match=r"project: .* more than a float64 can hold.* divide A"):
        sx.project(1e200 * np.diag([1.0, 2.0, -3.0]), domain)
