"""An objective on a device; Torch is loaded when somebody asks for one."""

from __future__ import annotations

from typing import Any

from ..places.devices import place_for


def on_device(owner: str, objective: Any, device: Any, tensors: bool = False) -> Any:
    """The same objective with its arrays on a device; with ``tensors`` the answer is tensors there."""
    place = place_for(owner, device)
    from .there import There

    if isinstance(objective, There):
        return There(objective.home, place, objective.tensors or tensors)
    return There(objective, place, tensors)
