"""What Python's operators do with a tensor and another operand: the types of the results are those of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch


class Operators:
    """Arithmetic, comparisons and logic of what holds one tensor, ``t``."""

    __slots__ = ()
    t: torch.Tensor

    if TYPE_CHECKING:  # what TorchArray has

        @staticmethod
        def of(t: torch.Tensor) -> Any:
            """What a result is."""

        def like(self, other: Any) -> Any:
            """Another operand as a tensor beside this one, or as a plain number."""

    def _with(self, how: Any, other: Any) -> Any:
        other = self.like(other)
        return self.of(how(self._wide(other), other))

    def _after(self, how: Any, other: Any) -> Any:
        other = self.like(other)
        one = self._wide(other)
        if not isinstance(other, torch.Tensor):  # said outright: Torch makes a number of this machine single
            other = torch.as_tensor(other, dtype=torch.result_type(one, other), device=one.device)
        return self.of(how(other, one))

    def _wide(self, other: Any) -> torch.Tensor:
        """Whole numbers beside a number that is none are doubles, as in NumPy."""
        whole = not (self.t.is_floating_point() or self.t.is_complex())
        return self.t.double() if whole and isinstance(other, float | complex) else self.t

    def __add__(self, other: Any) -> Any:
        return self._with(torch.add, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(torch.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._after(torch.sub, other)

    def __mul__(self, other: Any) -> Any:
        return self._with(torch.mul, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(torch.true_divide, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._after(torch.true_divide, other)

    def __pow__(self, other: Any) -> Any:
        return self._with(torch.pow, other)

    def __neg__(self) -> Any:
        return self.of(-self.t)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.of(torch.abs(self.t))

    def __invert__(self) -> Any:
        return self.of(~self.t)

    def __and__(self, other: Any) -> Any:
        return self._with(torch.logical_and, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return self._with(torch.logical_or, other)

    __ror__ = __or__

    def __lt__(self, other: Any) -> Any:
        return self._with(torch.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._with(torch.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._with(torch.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._with(torch.ge, other)

    def __eq__(self, other: Any) -> Any:
        return self._with(torch.eq, other)

    def __ne__(self, other: Any) -> Any:
        return self._with(torch.ne, other)

    __hash__ = None  # type: ignore[assignment]

    def __iadd__(self, other: Any) -> Any:
        self.t += self.like(other)
        return self

    def __isub__(self, other: Any) -> Any:
        self.t -= self.like(other)
        return self

    def __imul__(self, other: Any) -> Any:
        self.t *= self.like(other)
        return self
