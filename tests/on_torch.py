"""The same problem with everything tall in tensors of this processor: how the Torch place is tested without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spectraplex as sx

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from spectraplex.objectives.there import There  # noqa: E402
from spectraplex.places.torch import TorchPlace, place_on  # noqa: E402
from spectraplex.places.torch_array import TorchArray  # noqa: E402
from spectraplex.places.torch_kinds import on  # noqa: E402

CPU = torch.device("cpu")
AWAY = place_on(CPU)


def wide_place() -> TorchPlace:
    """Searches by blocks, as on a GPU, where many products at once take little more time than one."""
    place = TorchPlace(CPU)
    place.wide = True
    return place


def there(problem: Any, place: TorchPlace = AWAY) -> Any:
    """The same problem on that place."""
    objective = There(problem.objective, place)
    if isinstance(problem, sx.Penalized):
        return sx.Penalized(objective, problem.lam, psd=problem.psd, bound=problem.domain.size)
    return sx.Problem(objective, problem.domain)


def tensor(array: Any) -> TorchArray:
    return TorchArray(on(np.asarray(array), CPU))


def back(thing: Any) -> Any:
    """Whatever came out of a function, as NumPy would have it."""
    return thing.here() if isinstance(thing, TorchArray) else thing


def solved_alike(problem: Any, method: str, stop: sx.Stop, place: TorchPlace = AWAY) -> tuple[Any, Any]:
    """Both solves, after looking at what must hold of them: values within both gaps, certificates that travel."""
    here, away = sx.solve(problem, method, stop), sx.solve(there(problem, place), method, stop)
    slack = max(here.gap + away.gap, 1e-9 * max(1.0, abs(here.value)))
    assert abs(away.value - here.value) <= slack, (away.value, here.value)
    assert away.lower_bound <= here.value + here.certificate.rounding
    assert here.lower_bound <= away.value + away.certificate.rounding
    verdict = sx.verify(away.certificate, problem, away.X)  # on this machine, with NumPy alone
    assert verdict, str(verdict)
    return here, away
