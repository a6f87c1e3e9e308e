"""The scikit-learn face: estimators for people with a half-empty table, or with counts of a quantum state."""

from .completion.estimator import MatrixCompletion
from .completion.exchange import radius_for
from .imputation.estimator import NuclearNormImputer
from .learning.classifier import NuclearNormClassifier
from .learning.kernel import KernelLearner
from .learning.metric import MetricLearner
from .learning.regressor import NuclearNormRegressor
from .one_class.estimator import OneClassCompletion
from .tomography.estimator import StateTomography
from .tomography.exchange import tomography_fitter

__all__ = [
    "KernelLearner",
    "MatrixCompletion",
    "MetricLearner",
    "NuclearNormClassifier",
    "NuclearNormImputer",
    "NuclearNormRegressor",
    "OneClassCompletion",
    "StateTomography",
    "radius_for",
    "tomography_fitter",
]


def __dir__() -> list[str]:
    """The public names, and what every module has."""
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__"]
