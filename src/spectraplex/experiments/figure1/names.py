"""What the methods and settings of figure1 are called."""

from __future__ import annotations

from .. import data
from .read import Setting
from .run import HALF

LABELS = {
    "cg": "CG, line search",
    "away": "Away-CG",
    "pairwise": "Pairwise",
    "ror": "ROR-CG as printed",
    "ror-adaptive": "ROR-CG adaptive",
    "hybrid": "hybrid, by products",
}


def label(method: str) -> str:
    """What a reader calls a method."""
    if method.startswith("ror-paper "):
        return f"ROR-CG as run in the paper, β = {method.removeprefix('ror-paper ')}"
    return LABELS[method]


def title(setting: Setting) -> str:
    where = data.words(setting.data, setting.source, HALF[setting.data])
    return f"{where}, radius {setting.radius:g}"
