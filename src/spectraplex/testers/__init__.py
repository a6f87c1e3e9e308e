"""check: is this what it says it is? One tester for each protocol, for our own parts and for anybody's."""

from __future__ import annotations

from typing import Any

from ..checks import is_flag, whole
from ..objectives.check import check_objective
from ..objectives.tester import Report
from .domains import check_domain
from .methods import check_method
from .places import check_place

_PLACE = ("from_host", "to_host", "gram", "times")
_DOMAIN = ("lift", "lower", "raised")
_METHOD = ("init", "step")


def check(
    thing: Any,
    *,
    hermitian: bool | None = None,
    size: float = 1.0,
    trials: int = 8,
    seed: int = 0,
    targets: Any = None,
) -> Report:
    """Test a part that was written to one of the protocols on random input, and say what is wrong with it.

    =================  ==============================================================================================
    objective          convexity, slope, gradient, line search, conjugate, smoothness, where it is finite
    measurement        linear, ⟨𝒜(X), y⟩ = ⟨X, 𝒜*(y)⟩, products, and ‖𝒜‖ against what it claims
    loss, or its name  slope, curve, conjugate, convexity and claims
    domain             both ways of its lift, value and gradient upstairs, projections where it has them
    method             feasible, its image is that of its atoms, no value below the optimum, resumes from its memory
    place              every verb against NumPy, real and complex, single and double
    =================  ==============================================================================================

    A function that is infinite (or NaN) in places, such as −log det X or a likelihood, is tested where it is finite:
    random matrices are blended with one where it is, such as a multiple of the identity, and the report says how often.

    Parameters
    ----------
    thing : what to test.
    hermitian : for an objective or a measurement: test on Hermitian matrices only; by default when the objective has
        ``require_hermitian`` and a square shape, or is a function of its own (``Smooth``) of a square one.
    size : nuclear norm of the matrices tested, or size of the numbers; choose it like the domain's.
    trials : how often.
    targets : for a loss whose targets are neither any numbers, nor counts, nor labels ±1: some of them.

    Returns
    -------
    Report
        True when all is well; printing it gives one sentence per fault.
    """
    whole("check", "trials", trials)
    whole("check", "seed", seed, least=0)
    if hermitian is not None and not is_flag(hermitian):
        raise TypeError(f"check: hermitian must be True, False or None, got {hermitian!r}.")
    if isinstance(thing, type):
        return Report(("protocol",), ("protocol: this is a class; check an instance of it.",))
    if hasattr(thing, "step") != hasattr(thing, "init") and not hasattr(thing, "evaluate"):
        return Report(("protocol",), ("protocol: a method has both init and step; see the Method protocol.",))
    for names, tester in ((_PLACE, check_place), (_DOMAIN, check_domain), (_METHOD, check_method)):
        if not isinstance(thing, str) and all(hasattr(thing, name) for name in names):
            return tester(thing, trials, seed)
    return check_objective(thing, hermitian, size, trials, seed, targets)


__all__ = ["Report", "check"]
