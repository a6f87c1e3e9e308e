"""methods: what exists, and when to use which."""

from __future__ import annotations

import textwrap

from ..methods import METHODS
from .out import put_json, put_words

#: What to reach for first: (what, when).
FACES = {
    "spectraplex complete": "observations of a table with holes (ratings, scores) in a file; predictions wanted",
    "spectraplex impute": "a wide table of measurements with blanks in a file; the blanks filled",
    "spectraplex tomography": "counts of a quantum measurement in a file; the state wanted, with error bars",
    "MatrixCompletion": "the same as `complete` in Python; a scikit-learn regressor on pairs of labels",
    "NuclearNormImputer": "the same as `impute` in Python; a scikit-learn transformer, also inside a Pipeline",
    "StateTomography": "the same as `tomography` in Python; any local measurement, intervals, a test of the fit",
    "spectraplex.solve": "an objective of your own, another domain, a method by name",
}
#: method → when to use it; what it does is the first line of its docstring.
WHEN = {
    "hybrid": "the default: high accuracy, any rank, all domains and losses",
    "in-face": "the best with one eigenvector per step: atoms as few as the rank of the optimum",
    "ror-adaptive": "the cheapest step with few atoms: one eigenvector and the scores of a few atoms",
    "ror": "studying the paper; well-conditioned problems on the spectrahedron itself",
    "cg": "rough answers, when atoms may grow: the cheapest step",
    "away": "the paper's baseline; drops atoms",
    "pairwise": "like away, usually better here",
    "ror-full": "the paper's lemma made runnable; small problems",
    "stochastic": "observations too many to pass over at each step",
    "pgd": "small dense problems, reference values",
    "apgd": "small dense problems, high accuracy, reference values",
}


def show(as_json: bool) -> None:
    found = [
        {"name": name, "what": (method.__doc__ or "").strip().splitlines()[0], "when": WHEN.get(name, "")}
        for name, method in METHODS.items()
    ]
    if as_json:
        put_json({"faces": FACES, "methods": found})
        return
    lines = ["What to reach for:", *(f"  {name:<21} {when}" for name, when in FACES.items()), ""]
    lines.append("Methods of spectraplex.solve(problem, method=NAME):")
    for each in found:
        lines.append(f"  {each['name']:<13} {each['when'] or each['what']}")
        if each["when"]:
            lines.append(textwrap.indent(textwrap.fill(each["what"], 100), " " * 16))
    lines += [
        "",
        "Fits with `complete` and `impute` use hybrid; the answer does not depend on the method, only the time.",
    ]
    put_words("\n".join(lines) + "\n")
