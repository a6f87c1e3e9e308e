"""``partial_fit`` of an estimator in one call."""

from __future__ import annotations

from typing import Any

from ..fingerprint import identity
from .learner import OnlineConditionalGradient


def partial_fit(
    learner: OnlineConditionalGradient | None,
    domain: Any,
    loss: Any,
    measurements: Any,
    targets: Any,
    weights: Any = None,
    **settings: Any,
) -> OnlineConditionalGradient:
    """One arrival for a learner that an estimator keeps between its calls of ``partial_fit``.

    An estimator turns its rows into a measurement and targets, as its ``fit`` does, and keeps what comes back::

        def partial_fit(self, X, y, classes=None):
            ...                                     # first call: n_features_in_, classes_, radius
            self.learner_ = sx.online.partial_fit(
                getattr(self, "learner_", None),
                sx.NuclearBall((X.shape[1], len(self.classes_)), self.radius),
                "softmax",
                sx.Features(X, len(self.classes_)),
                codes,
            )
            self.coef_ = self.learner_.average      # factored; or .X, the last point, where data drifts
            return self

    A column of ones among the features stands for an intercept; it is then inside the nuclear norm. What standardises
    features must be settled in the first call and stay as it is. A bad arrival is refused before anything changes.

    Parameters
    ----------
    learner : what the last call returned; None in the first one.
    domain, loss : of the learner; another one than in the first call is refused.
    measurements, targets, weights : the arrival, as in ``OnlineConditionalGradient.update``.
    **settings : of ``OnlineConditionalGradient``, used in the first call.

    Returns
    -------
    OnlineConditionalGradient
    """
    if learner is None:
        learner = OnlineConditionalGradient(domain, loss, **settings)
    elif not isinstance(learner, OnlineConditionalGradient):
        raise TypeError(f"partial_fit: learner must be None or what the last call returned, got {learner!r}.")
    else:
        new = OnlineConditionalGradient(domain, loss)
        for name in ("domain", "loss"):
            if identity(getattr(new, name)) != identity(getattr(learner, name)):
                raise ValueError(
                    f"partial_fit: the {name} was {getattr(learner, name)!r} and is {getattr(new, name)!r} now; begin "
                    "anew with fit, or a new estimator, to change it."
                )
    learner.update(measurements, targets, weights)
    return learner
