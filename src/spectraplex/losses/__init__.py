"""How a misfit is paid for: one file a loss. ``LOSSES`` names them; all are tested against every measurement."""

from __future__ import annotations

from typing import Any

from .hinge import Hinge
from .huber import Huber
from .logistic import Logistic
from .multinomial import Multinomial
from .poisson import Poisson, PoissonLog
from .protocol import Conjugate, Loss
from .quantile import Quantile
from .softmax import Softmax
from .squared import Squared

#: Name → loss with its usual settings, for ``Fit(…, loss="name")``.
LOSSES: dict[str, Loss] = {
    "squared": Squared(),
    "huber": Huber(),
    "logistic": Logistic(),
    "hinge": Hinge(),
    "poisson": Poisson(),
    "poisson-log": PoissonLog(),
    "multinomial": Multinomial(),
    "softmax": Softmax(),
    "quantile": Quantile(),
}

__all__ = [
    "LOSSES",
    "Conjugate",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "Poisson",
    "PoissonLog",
    "Quantile",
    "Softmax",
    "Squared",
]


def __dir__() -> list[str]:
    """The public names, and what every module has."""
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__"]


def named(owner: str, loss: Any) -> Loss:
    """A loss by its name, or one that was given as it is."""
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(f"{owner}: unknown loss {loss!r}; known: {', '.join(map(repr, LOSSES))}.")
        return LOSSES[loss]
    if isinstance(loss, type) or not callable(getattr(loss, "evaluate", None)):
        raise TypeError(
            f"{owner}: loss must be a name such as 'huber' or an object such as sx.losses.Huber(2.0) with a method "
            f"evaluate(z, targets, weights); got {loss!r}."
        )
    given: Loss = loss
    return given
