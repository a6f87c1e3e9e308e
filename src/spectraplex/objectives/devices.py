"""An objective on a device; Torch is loaded when somebody asks for one."""

from __future__ import annotations

from typing import Any

from ..places.devices import place_for


def on_device(owner: str, objective: Any, device: Any) -> Any:
    """The same objective with its arrays on a device."""
    place = place_for(owner, device)
    from .there import There

    home = objective.home if isinstance(objective, There) else objective
    return There(home, place)
