"""Where the campaign solves its problems: on this machine, or on tensors (of this processor, so that no GPU is needed).

Whatever is claimed there is held against the exact optimum here, and verified here, with NumPy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import spectraplex as sx

#: "wide" searches by blocks, as on a GPU
PLACES = ("here", "torch", "wide")


def moved(problem: Any, place: str) -> Any:
    """The same problem at that place."""
    if place == "here":
        return problem
    from spectraplex.objectives.there import There

    objective = There(problem.objective, _place(place))
    if isinstance(problem, sx.Penalized):
        return sx.Penalized(objective, problem.lam, psd=problem.psd, bound=problem.domain.size)
    return sx.Problem(objective, problem.domain)


@cache
def _place(name: str) -> Any:
    import torch

    from spectraplex.places.torch import TorchPlace

    torch.set_num_threads(1)
    place = TorchPlace(torch.device("cpu"))
    place.wide = name == "wide"
    return place
