"""Answers for who gave tensors: blocks are plain Torch tensors, and every verb is that of the device's place.

For factors that a user gets (``result.X.U``). Methods never compute here.
"""

from __future__ import annotations

from typing import Any

import torch

from .torch import TorchPlace
from .torch_array import TorchArray
from .torch_tall import TorchTall


class TensorPlace:
    """The verbs of ``TorchPlace``; what goes in and out are tensors."""

    def __init__(self, inside: TorchPlace) -> None:
        self.inside = inside
        self.name, self.distant, self.wide, self.rounds, self.bytes = inside.name, False, inside.wide, 0, 0

    def holds(self, thing: Any) -> bool:
        return isinstance(thing, torch.Tensor)

    def from_host(self, array: Any, part: slice | None = None) -> torch.Tensor:
        held: torch.Tensor = self.inside.from_host(array).t
        return held.clone() if isinstance(array, TorchTall) else held  # not the memory that a solve may go on with

    def __getattr__(self, verb: str) -> Any:
        if verb.startswith("__") or verb == "inside":
            raise AttributeError(verb)
        inner = getattr(self.inside, verb)

        def call(*arguments: Any) -> Any:
            return _bare(inner(*(_dressed(each) for each in arguments)))

        return call


def _dressed(thing: Any) -> Any:
    return TorchArray(thing) if isinstance(thing, torch.Tensor) else thing


def _bare(thing: Any) -> Any:
    if isinstance(thing, tuple):
        return tuple(_bare(each) for each in thing)
    return thing.t if isinstance(thing, TorchArray) else thing
