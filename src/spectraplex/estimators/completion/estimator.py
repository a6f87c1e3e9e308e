"""MatrixCompletion: a scikit-learn regressor on pairs of labels, with a certificate."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ...checks import is_word
from ...objectives.frames import is_far
from ..callbacks import CallbackSupport, with_callbacks
from ..input.features import with_labels
from ..input.observations import Observations, matrix_entries, matrix_labels, pair_columns
from . import featuring, fitting, parameters, serving
from .classes import TwoClasses, tagged
from .either_way import EitherWay
from .growing import Growing
from .saving import Saved
from .storage import Stored


class MatrixCompletion(CallbackSupport, TwoClasses, Growing, Stored, Saved, BaseEstimator):
    """Predict the missing entries of a table from the observed ones; give it pairs of labels and values.

    value of (row, column) ≈ offset + row intercept + column intercept + entry of a low-rank part, whose nuclear norm is
    at most ``radius``. The problem is convex, intercepts included: ``certificate_`` bounds how far the fit is from the
    best there is, and beyond that gap the answer does not depend on a starting point, a seed, or the number of threads.

    Parameters
    ----------
    radius : "auto" keeps a share of the observations aside (several times where that is only a few), walks over growing
        radii, each started from the last, and takes the one where a parabola through the held-out losses is lowest,
        larger since all observations are more than those that were left, by less where noise is little; next to nothing
        where no low-rank part predicts better than none; or a positive number.
    loss : "squared", "huber" (outliers pull with bounded force), or "logistic" (values 0/1 or −1/+1; predictions are
        then probabilities, or expected signs; ``classes_``, ``predict_proba`` and ``decision_function`` are there, and
        to scikit-learn it is a classifier).
    delta : where the Huber loss becomes linear; "auto" takes 1.345 times the scale of what the intercepts leave.
    intercepts : False leaves out offset and intercepts: the low-rank part is then the whole prediction.
    ridge : how strongly intercepts are held back: a row with n observations has about n/(n + ridge) of its own mean. A
        pair is for rows and for columns. "auto" takes the pair with which the intercepts alone best predict each
        observation from all the others.
    feature_ridge : the same for the weights of ``row_features`` and ``column_features``; "auto" takes what predicts
        each row, and each column, best from all the others.
    weighting : "frequency" lets rows and columns with few observations have larger entries: the low-rank part is scaled
        by (0.9·frequency + 0.1)^(−¼), frequency relative to the mean; a number is another exponent; "plain" is none.
        "auto" is "frequency", but where ``radius="auto"`` keeps 50,000 observations aside, the exponents 0.35 and 0.15
        are tried, too, and taken where they predict better by more than chance (not on a cluster, nor with
        ``implicit``).
    implicit : how much *which* columns a row has observations of says about it, whatever their values: each of them
        then contributes to the row's factors. Zero, the default, is the plain model; about 0.5 helps with ratings,
        since people choose what they rate; nothing is to be had where entries are missing by chance.
    target_transform : "none", or "log1p", which fits log(1 + value) and takes predictions back to the scale of the
        values: for counts, hours or sums of money, of which a few are many times the others.
    clip : keep predictions within the range of the observed values.
    tolerance : the fit ends at a certified gap of this share of its value, or of a thousandth of the value without a
        low-rank part where that is larger: where everything is fitted, values go to zero and no gap is small beside
        them. ``allowed_gap_`` is that gap. Predictions do not gain from less.
    validation : the share of observations that ``radius="auto"`` keeps aside while it chooses.
    max_iter : most steps of the solver for the final fit.
    random_state : decides the random starts of eigenvectors and certificates. Which observations are kept aside follows
        from the data alone, whatever the labels are called, so predictions of two seeds differ as little as two rough
        solves do.
    device : where problems are solved: None is this machine, "cuda" a GPU, "cpu" Torch on this processor, and "auto"
        a GPU where there is one and the table is large enough. What comes back is NumPy's. Needs the extra ``torch``.

    Attributes
    ----------
    radius_ : the radius fitted with.
    ridge_, delta_ : the ridges (rows, columns) and the scale of the Huber loss fitted with.
    weighting_ : the exponent of frequencies fitted with; where that was chosen, it is so from the second
        radius of ``path_`` on.
    path_ : the walk over radii: arrays "radius", "score" (held-out; root mean square error for the squared loss),
        "value", "rank", "n_iter"; empty when the radius was given.
    certificate_, history_, n_iter_ : what is certified of the fit, its trace, and its number of steps.
    status_ : why the solve ended, a name of ``spectraplex.Status``; "GAP" is as it should be: certificate_.gap is at
        most allowed_gap_.
    allowed_gap_ : the largest certified gap that ``tolerance`` allows this fit.
    rank_ : rank of the low-rank part.
    row_labels_, column_labels_ : ``Labels``; ``.values`` are the labels themselves, in the order of the arrays below.
    offset_, row_intercepts_, column_intercepts_ : the intercepts, what features say included.
    feature_weights_ : {"rows": {feature: weight}, "columns": {…}}, where there were features.
    feature_ridge_ : the ridges of these weights fitted with; None where there were no features.
    U_, s_, V_ : the low-rank part as a singular value decomposition, before it is scaled. With ``implicit`` U_ has
        lines for rows and, below them, lines for columns.
    profiles_ : the left factors of the rows, what their columns contribute included; without ``implicit``, U_.
    row_scales_, column_scales_ : its scales; all one when ``weighting="plain"``.
    multiplier_ : the price of the last unit of nuclear norm; λ of the penalised form.
    observations_ : the data as fitted, in the order of the labels.
    latest_ : which of the observations were kept aside, being the latest; None where they were random ones.
    notices_ : what the data tell that somebody should know, a sentence each; the same were given as warnings.
    classes_ : with ``loss="logistic"``, the two classes.
    range_ : least and largest observed value.
    seed_ : what was drawn from ``random_state``.

    Examples
    --------
    >>> from spectraplex.estimators import MatrixCompletion
    >>> pairs = [("anna", "Alien"), ("anna", "Heat"), ("ben", "Alien"), ("ben", "Casino"), ("eva", "Heat")]
    >>> model = MatrixCompletion(radius=2.0).fit(pairs, [5, 4, 4, 2, 3])
    >>> model.predict([("eva", "Alien"), ("nobody", "Casino")]).round(1).tolist()
    [3.4, 3.4]
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        loss: str = "squared",
        delta: Any = "auto",
        intercepts: bool = True,
        ridge: Any = "auto",
        feature_ridge: Any = "auto",
        weighting: Any = "auto",
        implicit: float = 0.0,
        target_transform: Any = "none",
        clip: bool = True,
        tolerance: float = 0.02,
        validation: float = 0.1,
        max_iter: int = 200,
        random_state: Any = 0,
        device: Any = None,
    ) -> None:
        self.radius = radius
        self.loss = loss
        self.delta = delta
        self.intercepts = intercepts
        self.ridge = ridge
        self.feature_ridge = feature_ridge
        self.weighting = weighting
        self.implicit = implicit
        self.target_transform = target_transform
        self.clip = clip
        self.tolerance = tolerance
        self.validation = validation
        self.max_iter = max_iter
        self.random_state = random_state
        self.device = device

    # --------------------------------------------------------------------------------------------------- fitting

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        duplicates: str = "all",
        time: Any = None,
        row_features: Any = None,
        column_features: Any = None,
    ) -> MatrixCompletion:
        """Fit to values at pairs of labels.

        Parameters
        ----------
        X : (n, 2): row label and column label, as an array, a list of pairs, or a data frame with two columns.
        y : n numbers, the values of the pairs.
        sample_weight : n numbers ≥ 0; zero leaves an observation out.
        duplicates : what to do where a pair comes more than once: "all" lets each count, "mean" (by weight), "sum",
            "first" and "last" make one of them, and "error" refuses. The shell has the same words.
        time : n numbers or dates, when values were observed: the latest pairs are then kept aside to choose the radius
            by, and for intervals, in place of random ones. That is honest where later values are to be predicted.
        row_features, column_features : what is known of rows and of columns: a data frame with their labels as its
            index (or in a column of the same name as in the pairs), or (labels, features), with a frame, a sparse
            matrix or an array. Numbers are standardised, every category is a zero or a one. A label that has features
            and no observations is predicted by them.
        """
        parameters.present(y, sample_weight)
        first, second, names = pair_columns(X)
        asked: Any = {"duplicates": duplicates, "time": time, "features": (row_features, column_features)}
        return fitting.fit_columns(self, first, second, y, sample_weight, names, **asked)

    @EitherWay
    def from_frame(
        self,
        frame: Any,
        row: str,
        column: str,
        value: str,
        sample_weight: str | None = None,
        *,
        duplicates: str = "all",
        time: str | None = None,
        row_features: Any = None,
        column_features: Any = None,
    ) -> MatrixCompletion:
        """Fit to three columns of a pandas, polars or arrow table, named; on the class, with default settings.

        ``predict`` then takes frames with those two columns of labels, whatever else they hold. A Dask frame is fitted
        on the cluster that is connected, where its rows are (docs/cluster.md). ``sample_weight`` and ``time`` name the
        columns with what ``fit`` takes by these names; ``duplicates`` and features are as there. On a cluster there are
        neither times nor features.
        """
        if is_far(frame):
            given = None if is_word(self.device, "auto") else self.device
            parameters.refuse_far(time=time, device=given, row_features=row_features, column_features=column_features)
            return self._fit_far(frame, row, column, value, sample_weight, duplicates)
        columns = fitting.frame_columns(frame, row, column, value, sample_weight, time)
        return self._fit_named(columns | {"duplicates": duplicates, "features": (row_features, column_features)})

    @with_callbacks
    def _fit_named(self, columns: dict[str, Any]) -> MatrixCompletion:
        return fitting.fit_columns(self, **columns)

    @with_callbacks
    def _fit_far(self, *parts: Any) -> MatrixCompletion:
        from .far_fit import fit_far_frame

        fitted: MatrixCompletion = fit_far_frame(self, *parts)
        return fitted

    @with_callbacks
    def fit_matrix(self, M: Any, *, row_features: Any = None, column_features: Any = None) -> MatrixCompletion:
        """Fit to a matrix: what a scipy sparse one stores (zeros, too), or all of an array that is not NaN.

        Labels are then indices, and of a data frame its index and the names of its columns; a row or column without any
        observation has one, too. Features are as in ``fit``; an array or a sparse matrix with a line for every row, or
        column, of the matrix needs no labels.
        """
        rows, cols, values, shape = matrix_entries(M)
        sides = zip((rows, cols), matrix_labels(M, shape), shape, ("index", "columns"), strict=True)
        (row_labels, rows), (column_labels, cols) = (fitting.named(*side) for side in sides)
        seen, labels = Observations(rows, cols, values, None, shape), (row_labels, column_labels)
        known = featuring.of_matrix((row_features, column_features), labels)
        if known is not None:
            seen, labels = with_labels(seen, labels, known)
        return fitting.fit_observations(self, seen, labels, None, features=known)

    @property
    def feature_weights_(self) -> dict[str, dict[str, float]]:
        """How much a unit of each feature adds to a prediction; numbers are standardised, categories zeros and ones."""
        check_is_fitted(self, "s_")
        return featuring.weights(self)

    @property
    def allowed_gap_(self) -> float:
        """``tolerance`` times the value, or times a thousandth of the value without a low-rank part if that is more."""
        check_is_fitted(self, "s_")
        self._refuse_shards("allowed_gap_")
        return serving.allowed_gap(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.regressor_tags.poor_score = True  # on pairs that have nothing in common there is nothing to learn
        return tagged(tags) if self.loss == "logistic" else tags
