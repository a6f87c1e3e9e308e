"""spectraplex: convex optimisation over the spectrahedron and the nuclear-norm ball, with a provable gap."""

from . import losses, online
from ._version import __version__
from .certificates.certificate import Certificate
from .certificates.judge import Verification, certify, verify
from .checkpoint import Checkpoint
from .domains.sets import NuclearBall, Spectrahedron, TraceBall
from .matrices.factors import Rectangular, Symmetric
from .measurements import (
    MEASUREMENTS,
    Differences,
    Entries,
    Features,
    Identity,
    Matrices,
    Measurements,
    Pauli,
    Product,
    RankOnes,
)
from .methods import (
    METHODS,
    AwayStep,
    ConditionalGradient,
    FullRankOneRegularized,
    Hybrid,
    InFace,
    Pairwise,
    ProjectedGradient,
    RankOneRegularized,
    Stochastic,
)
from .objectives import Completion, Distance, Fit, Objective, Sensing, Smooth
from .paths.point import PathPoint
from .paths.solutions import Path
from .paths.walk import path
from .penalized import Penalized, counterpart
from .places.threads import set_threads
from .problem import Method, Point, Problem, Step
from .projection import project
from .result import Result, load
from .solve import solve
from .stop import Status, Stop
from .testers import check
from .trace import Collect, Progress, Record, Trace

__all__ = [
    "MEASUREMENTS",
    "METHODS",
    "AwayStep",
    "Certificate",
    "Checkpoint",
    "Collect",
    "Completion",
    "ConditionalGradient",
    "Differences",
    "Distance",
    "Entries",
    "Features",
    "Fit",
    "FullRankOneRegularized",
    "Hybrid",
    "Identity",
    "InFace",
    "Matrices",
    "Measurements",
    "Method",
    "NuclearBall",
    "Objective",
    "Pairwise",
    "Path",
    "PathPoint",
    "Pauli",
    "Penalized",
    "Point",
    "Problem",
    "Product",
    "Progress",
    "ProjectedGradient",
    "RankOneRegularized",
    "RankOnes",
    "Record",
    "Rectangular",
    "Result",
    "Sensing",
    "Smooth",
    "Spectrahedron",
    "Status",
    "Step",
    "Stochastic",
    "Stop",
    "Symmetric",
    "Trace",
    "TraceBall",
    "Verification",
    "__version__",
    "certify",
    "check",
    "counterpart",
    "load",
    "losses",
    "online",
    "path",
    "project",
    "set_threads",
    "solve",
    "verify",
]


def __dir__() -> list[str]:
    """The public names, and what every module has: the rooms can be imported, but are not offered."""
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__"]
