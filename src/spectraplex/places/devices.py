"""Devices by name: "cuda", "cuda:1", "cpu" (Torch on this processor); what is missing gets a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .torch import TorchPlace


class DeviceMissing(RuntimeError):
    """A device that was asked for is not there."""


def place_for(owner: str, device: Any) -> TorchPlace:
    """The place of a device, or a sentence that says what is missing and what to do."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"{owner}: device={device!r} needs Torch, which is not installed; in a checkout, pip install '.[torch]'."
        ) from None
    from .torch import place_on

    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(f"{owner}: device must be 'cuda', 'cuda:1' or 'cpu', got {device!r}.") from None
    if found.type == "cpu":
        return place_on(torch.device("cpu"))
    if found.type != "cuda":
        raise ValueError(f"{owner}: device must be 'cuda', 'cuda:1' or 'cpu', got {device!r}; others are not tried.")
    if not torch.cuda.is_available():
        raise DeviceMissing(f"{owner}: device={device!r}, but {_why()}")
    count = torch.cuda.device_count()
    number = torch.cuda.current_device() if found.index is None else found.index
    if number >= count:
        raise DeviceMissing(f"{owner}: device={device!r}, but there are {count} GPUs, counted from zero.")
    return place_on(torch.device("cuda", number))


def sees_cuda() -> bool:
    """Whether Torch is installed and sees a GPU; never an error."""
    try:
        import torch

        return bool(torch.cuda.is_available())
    except Exception:
        return False


def _why() -> str:
    """Why Torch sees no GPU, and what to do."""
    import torch

    if torch.version.cuda is None:
        return (
            f"this Torch ({torch.__version__}) was built without CUDA; install one that has it, or leave device out to "
            "compute here."
        )
    try:
        torch.cuda.init()
    except Exception as said:
        words = str(said).strip().splitlines()[0] if str(said).strip() else type(said).__name__
        if "driver" in words.lower() and "old" in words.lower():
            return f"the driver is too old for this Torch (CUDA {torch.version.cuda}): {words}"
        return f"Torch (CUDA {torch.version.cuda}) finds no GPU: {words}"
    return f"Torch (CUDA {torch.version.cuda}) finds no GPU on this machine; leave device out to compute here."
