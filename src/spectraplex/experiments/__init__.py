"""The paper's evidence as commands: ``python -m spectraplex.experiments NAME`` runs one, ``check`` judges its results.

An experiment is a folder. ``run.py`` is the numerics: ``tasks(quick)`` lists independent runs, each a small
dictionary of settings, and ``perform(settings)`` carries one out and returns plain numbers. ``words.py`` reads
the results and nothing else: ``rows`` (the CSV), ``draw`` (the figures), ``text`` (what was seen, in words) and
``claims`` (what must hold, recomputed from the raw numbers).
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

#: name → what the command shows.
EXPERIMENTS: dict[str, str] = {
    "figure1": "the paper's figure: conditional-gradient methods on MovieLens, objective against eigenvectors",
    "steps": "what a step costs: rank-one-regularised steps against conditional-gradient steps, at equal accuracy",
    "table1": "the paper's comparison table, measured: work to reach an accuracy, by dimension and conditioning",
    "theorem1": "the paper's theorem: average error over many seeds against its three bounds",
    "projection": "the paper's remark: a projection-based method whose projections are done by rank-one steps",
    "online": "data that keeps coming: regret against the theory's bound, on ratings and on a stream that drifts",
}


def numerics(name: str) -> ModuleType:
    """``tasks`` and ``perform`` of an experiment."""
    return import_module(f"{__name__}.{name}.run")


def report(name: str) -> ModuleType:
    """``rows``, ``draw``, ``text`` and ``claims`` of an experiment."""
    return import_module(f"{__name__}.{name}.words")
