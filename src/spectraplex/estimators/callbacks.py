"""scikit-learn's callbacks, where it has them (1.9 and later), told how a fit goes on; and hooks beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ..hooks import Hooks
from ..stop import Stop
from ..trace import Record
from .imputation.table import Tried, Watch

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

    def __init__(self, estimator: Any, hooks: Hooks) -> None:
        self.estimator, self.hooks = estimator, hooks
        self.context: Any = None
        self.observers: tuple[Any, ...] = ()

    def __enter__(self) -> Told:
        if hasattr(self.estimator, "_init_callback_context"):
            self.context = self.estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=self.estimator)
            if getattr(self.estimator, "_skl_callbacks", None):
                self.observers = (self.step,)
        self.observers += self.hooks.observers
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
        self.hooks.listener.scored(f"radius {radius:.6g}", score)
        if self.context is not None and getattr(self.estimator, "_skl_callbacks", None):
            inner = self.context.subcontext(task_name=f"radius {radius:.6g}")
            inner.call_on_fit_task_begin(estimator=self.estimator)
            inner.call_on_fit_task_end(estimator=self.estimator, metadata={"radius": radius, "score": score})


class Heard(Watch):
    """Tells the callbacks of an imputer about every setting that was tried and the last solve, when they are done."""

    def __init__(self, estimator: Any, X: Any, y: Any, hooks: Hooks) -> None:
        self.estimator, self.data, self.listener = estimator, {"X": X, "y": y}, hooks.listener
        self.context: Any = None
        self.observers = hooks.observers

    def __enter__(self) -> Heard:
        if hasattr(self.estimator, "_init_callback_context"):
            self.context = self.estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if self.context is not None and kind is None:
            self.context.call_on_fit_task_end(estimator=self.estimator, **self.data)

    def begin(self, what: str, stop: Stop, last: bool) -> None:
        self.listener.begin(what, stop, last)

    def solved(self, tried: Tried | None) -> None:
        if tried is not None:
            self.listener.scored(str(tried), tried.score)
        if self.context is not None:
            inner = self.context.subcontext(task_name="solve" if tried is None else str(tried))
            inner.call_on_fit_task_begin(estimator=self.estimator)
            inner.call_on_fit_task_end(estimator=self.estimator, metadata=None if tried is None else asdict(tried))
