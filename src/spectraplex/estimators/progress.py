"""Progress through scikit-learn's callbacks, where it has them (1.9 and later)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..trace import Record

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


class Told:
    """Tells the callbacks of an estimator about every step of the solver; one that answers True ends the solve."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.context: Any = None
        self.observers: tuple[Any, ...] = ()

    def __enter__(self) -> Told:
        if hasattr(self.estimator, "_init_callback_context"):
            self.context = self.estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=self.estimator)
            if getattr(self.estimator, "_skl_callbacks", None):
                self.observers = (self.step,)
        self.observers += tuple(getattr(self.estimator, "_observers", ()))
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if self.context is not None and kind is None:
            self.context.call_on_fit_task_end(estimator=self.estimator)

    def step(self, record: Record, point: Any) -> bool:
        inner = self.context.subcontext(task_name=f"step {record.step}")
        facts = {"value": record.value, "gap": record.gap, "atoms": record.atoms, "seconds": record.seconds}
        inner.call_on_fit_task_begin(estimator=self.estimator)
        return not inner.call_on_fit_task_end(estimator=self.estimator, metadata=facts)

    def scored(self, radius: float, score: float) -> None:
        if self.context is not None and getattr(self.estimator, "_skl_callbacks", None):
            inner = self.context.subcontext(task_name=f"radius {radius:.6g}")
            inner.call_on_fit_task_begin(estimator=self.estimator)
            inner.call_on_fit_task_end(estimator=self.estimator, metadata={"radius": radius, "score": score})
