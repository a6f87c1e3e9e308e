"""One file a method; a method is ``init`` and ``step``. The registry is also the test list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..fingerprint import identity
from ..problem import Method, Problem
from .away import AwayStep
from .conditional_gradient import ConditionalGradient
from .hybrid import Hybrid
from .in_face import InFace
from .pairwise import Pairwise
from .projected import ProjectedGradient
from .rank_one import RankOneRegularized
from .rank_one_full import FullRankOneRegularized
from .stochastic import Stochastic

#: name → method, with its defaults.
METHODS: dict[str, Method] = {
    "hybrid": Hybrid(),
    "cg": ConditionalGradient(),
    "away": AwayStep(),
    "pairwise": Pairwise(),
    "ror": RankOneRegularized(),
    "ror-adaptive": RankOneRegularized(select="worthy", step="line-search", beta="adaptive"),
    "ror-full": FullRankOneRegularized(),
    "in-face": InFace(),
    "pgd": ProjectedGradient(),
    "apgd": ProjectedGradient(accelerated=True),
    "stochastic": Stochastic(),
}


@dataclass(frozen=True, eq=False)
class MethodFacts:
    """What a method says of itself beside ``init`` and ``step``."""

    #: its name and settings: a saved run goes on only with the same ones
    identity: str
    #: refuses a problem that the method cannot do, before any work
    require: Callable[[Problem], None] | None = None
    #: an average of its points may be a better dual point than the last one
    zigzags: bool = True
    #: it decomposes large dense matrices, so BLAS may use all cores
    dense: bool = False


def facts_of(method: Any) -> MethodFacts:
    """Read what a method says of itself, in this one place."""
    require, zigzags = getattr(method, "require", None), bool(getattr(method, "zigzags", True))
    return MethodFacts(identity(method), require, zigzags, bool(getattr(method, "dense", False)))


def resolve(method: Any) -> Method:
    """A method from its name, or itself."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(f"Unknown method {method!r}; known: {', '.join(METHODS)}.")
        return METHODS[method]
    if isinstance(method, type):
        raise TypeError(f"method must be an object, not the class {method.__name__}; pass {method.__name__}().")
    if not (hasattr(method, "init") and hasattr(method, "step")):
        raise TypeError(
            f"method must be a name ({', '.join(METHODS)}) or have init and step, got {type(method).__name__}."
        )
    given: Method = method
    return given


__all__ = [
    "METHODS",
    "AwayStep",
    "ConditionalGradient",
    "FullRankOneRegularized",
    "Hybrid",
    "InFace",
    "MethodFacts",
    "Pairwise",
    "ProjectedGradient",
    "RankOneRegularized",
    "Stochastic",
    "facts_of",
    "resolve",
]
