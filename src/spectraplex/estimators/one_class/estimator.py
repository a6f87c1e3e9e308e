"""OneClassCompletion: clicks, plays and purchases, as one certified convex problem over all cells of a table."""

from __future__ import annotations

import math
import warnings
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ...checks import whole
from ...metrics import evaluate
from ...metrics.models import new_pairs
from ...places.numpy import Array
from ...problem import Problem
from ..callbacks import CallbackSupport, with_callbacks
from ..completion import serving as shared
from ..completion.either_way import EitherWay
from ..completion.parameters import label_list
from ..input.observations import as_frame, frame_column, frame_numbers, pair_columns
from . import fitting, parameters, serving
from .parameters import OWNER
from .storage import Stored


class OneClassCompletion(Stored, CallbackSupport, BaseEstimator):
    """Recommend columns to rows from pairs that were seen: clicks, plays, purchases; nobody says what was disliked.

    The table X of scores minimises

        ½ Σ_seen cᵢⱼ (1 − Xᵢⱼ)² + ½ w Σ_all Xᵢⱼ²

    over matrices whose (weighted) nuclear norm is at most ``radius``: a seen pair should be one, with its confidence c,
    and every cell of the table, seen or not, is drawn towards zero with weight w. That is a weighted square loss over
    all cells. The problem is convex: ``certificate_`` bounds how far the fit is from the best there is. The sum over
    all cells costs products of factors only, however large the table is.

    Parameters
    ----------
    radius : "auto" keeps a share of the pairs aside, walks over growing radii and takes the one where those pairs are
        ranked highest (NDCG@50 among all columns that a row has not seen: longer lists say the same with less chance);
        or a positive number.
    unobserved_weight : w. "auto" begins with the weight at which all cells together weigh five times what the seen ones
        do, whatever the share of seen cells is; with ``radius="auto"`` a quarter and four times of it are tried, too.
    confidence : how the values of ``fit`` become c: "log" is log₂(1 + value), so that a hundred plays do not weigh a
        hundred times as much as one; "linear" is the value itself. A pair that comes k times without values has k.
    weighting : "frequency" lets rows and columns that are seen rarely have larger entries: X is a matrix of bounded
        nuclear norm scaled by (confidence of the row + w·columns)^(−¼), and likewise for columns; a number is another
        exponent; "plain" is none.
    tolerance : the fit ends at a certified gap of this share of its value. Rankings do not gain from less.
    validation : the share of pairs that ``radius="auto"`` keeps aside while it chooses.
    max_iter : most steps of the solver for the final fit.
    random_state : decides random starts of eigenvectors and certificates. Which pairs are kept aside follows from the
        data alone, whatever the labels are called.
    device : where problems are solved: None is this machine, "cuda" a GPU, "cpu" Torch on this processor, and "auto"
        a GPU where there is one and the table is large enough. What comes back is NumPy's. Needs the extra ``torch``.

    Attributes
    ----------
    radius_, unobserved_weight_ : those fitted with.
    path_ : what was tried: arrays "radius", "unobserved_weight", "score" (NDCG@50, held out), "rank"; empty when the
        radius was given.
    certificate_, history_, n_iter_, status_ : as for ``MatrixCompletion``.
    rank_ : rank of X.
    row_labels_, column_labels_ : ``Labels``; ``.values`` are the labels themselves.
    row_factors_, column_factors_ : P and Q with X = PQᵀ, lines in the order of the labels.
    U_, s_, V_ : the matrix of bounded nuclear norm, before it is scaled, as a singular value decomposition.
    multiplier_ : the price of the last unit of nuclear norm.
    observations_ : the pairs as fitted, each once with its summed value.
    seed_ : what was drawn from ``random_state``.

    Examples
    --------
    >>> from spectraplex.estimators import OneClassCompletion
    >>> pairs = [("anna", "tea"), ("anna", "milk"), ("ben", "tea"), ("ben", "milk"), ("eva", "tea"), ("eva", "rice")]
    >>> model = OneClassCompletion(radius=2.0).fit(pairs)
    >>> [label for label, _ in model.recommend(["eva"], 1)[0]]
    ['milk']
    """

    def __init__(
        self,
        radius: Any = "auto",
        *,
        unobserved_weight: Any = "auto",
        confidence: str = "log",
        weighting: Any = "frequency",
        tolerance: float = 0.02,
        validation: float = 0.1,
        max_iter: int = 200,
        random_state: Any = 0,
        device: Any = None,
    ) -> None:
        self.radius = radius
        self.unobserved_weight = unobserved_weight
        self.confidence = confidence
        self.weighting = weighting
        self.tolerance = tolerance
        self.validation = validation
        self.max_iter = max_iter
        self.random_state = random_state
        self.device = device

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> OneClassCompletion:
        """Fit to pairs that were seen.

        Parameters
        ----------
        X : (n, 2): row label and column label, as an array, a list of pairs, or a data frame with two columns. A pair
            may come more than once: its values add up.
        y : n numbers ≥ 0, how often or how much (plays, purchases, hours); by default one each. Zero is not seen.
        """
        first, second, names = pair_columns(X, owner=OWNER)
        return self._fitted(first, second, y, names)

    def _fitted(self, first: Array, second: Array, values: Any, names: list[str] | None) -> OneClassCompletion:
        fitted: OneClassCompletion = fitting.fit_columns(self, first, second, values, names)
        return fitted

    @EitherWay
    def from_frame(self, frame: Any, row: str, column: str, value: str | None = None) -> OneClassCompletion:
        """Fit to named columns of a pandas, polars or arrow table; on the class, with default settings."""
        table = as_frame(frame, OWNER)
        if table is None:
            raise TypeError(f"{OWNER}: from_frame needs a data frame (pandas, polars, arrow), got {type(frame)!r}.")
        if row == column:
            raise ValueError(f"{OWNER}: row and column must be two columns, got {row!r} for both.")
        values = None if value is None else frame_numbers(table, value, OWNER)
        first, second = (frame_column(table, name, OWNER) for name in (row, column))
        return self._fit_named(first, second, values, [row, column])

    @with_callbacks
    def _fit_named(self, *parts: Any) -> OneClassCompletion:
        return self._fitted(*parts)

    # ------------------------------------------------------------------------------------------------- answering

    def predict(self, X: Any) -> Array:
        """The score of every pair: near one for pairs like those seen, near zero for others; it is no probability.

        A row that is not known has the scores of the mean row, a column that is not known zero.
        """
        check_is_fitted(self, "s_")
        return serving.predict(self, *self._placed(X))

    def _placed(self, pairs: Any) -> tuple[Array, Array]:
        first, second, _ = pair_columns(pairs, vars(self).get("feature_names_in_"), OWNER)
        rows = self.row_labels_.codes(first, OWNER, "row labels")
        return rows, self.column_labels_.codes(second, OWNER, "column labels")

    def embed(self, rows: Any) -> Array:
        """The factors of rows, one line each (zeros for one that is not known); see ``embed_columns``."""
        check_is_fitted(self, "s_")
        return shared.taken(self.row_factors_, self._places(rows, "row"))

    def embed_columns(self, columns: Any) -> Array:
        """The factors of columns, one line each; their products with those of rows are the scores."""
        check_is_fitted(self, "s_")
        return shared.taken(self.column_factors_, self._places(columns, "column"))

    def _places(self, asked: Any, side: str) -> Array:
        labels = self.row_labels_ if side == "row" else self.column_labels_
        return labels.codes(label_list(asked, side, OWNER), OWNER, f"{side} labels")

    def recommend(
        self,
        rows: Any,
        n: int = 10,
        exclude_seen: bool = True,
        *,
        min_support: Any = 0,
        candidates: Any = None,
        exclude: Any = None,
    ) -> list[list[tuple[Any, float]]]:
        """For each row the n columns with the largest scores, as (label, score), best first; equal ones by label.

        Fewer where fewer are left; a row that is not known gets what the mean row would.

        Parameters
        ----------
        rows : labels of rows.
        n : how many columns.
        exclude_seen : leave out what a row has seen.
        min_support : columns of fewer pairs than this are left out. None is by default: what is seen rarely has small
            scores already. "auto" keeps the columns that together have half of all pairs, a hundred at least.
        candidates : labels of columns to choose from, whatever their support unless ``min_support`` is a number.
        exclude : labels of columns to leave out.
        """
        check_is_fitted(self, "s_")
        n, allow = whole(OWNER, "n", n), self._allowed(min_support, candidates, exclude)
        return serving.recommend(self, self._places(rows, "row"), n, exclude_seen, allow)

    def similar(self, columns: Any, n: int = 10, *, min_support: Any = "auto") -> list[list[tuple[Any, float]]]:
        """For each column the n others with the most similar factors, as (label, cosine), best first.

        ``min_support`` is as in ``recommend``, and "auto" here: a direction is not known better for being small.
        """
        check_is_fitted(self, "s_")
        n, allow = whole(OWNER, "n", n), self._allowed(min_support, None, None)
        return shared.similar(self, self.column_factors_, self._places(columns, "column"), n, allow, OWNER)

    def _allowed(self, min_support: Any, candidates: Any, exclude: Any) -> Array:
        named = (None if given is None else self._places(given, "column") for given in (candidates, exclude))
        return shared.allowed(self, min_support, *named, owner=OWNER)

    def score(self, X: Any, y: Any = None) -> float:
        """NDCG@10 of pairs that were not fitted, all columns that a row has not seen being ranked.

        For grid searches: larger is better. ``y`` is not looked at. Pairs of the fit do not count; NaN if all are.
        ``spectraplex.metrics.evaluate`` has more figures.
        """
        check_is_fitted(self, "s_")
        first, second, _ = pair_columns(X, vars(self).get("feature_names_in_"), OWNER)
        pairs = list(zip(first.tolist(), second.tolist(), strict=True))
        if not new_pairs(self, pairs):
            warnings.warn(f"{OWNER}: score was given pairs of the fit alone; it is NaN.", UserWarning, stacklevel=2)
            return math.nan
        return evaluate(self, pairs, min_support=0)["model"].ndcg

    def problem(self, pairs: Any, values: Any = None) -> Problem:
        """The convex problem of these pairs with this model's labels, settings, radius and weight of unseen cells.

        With the data of the fit, ``spectraplex.verify(model.certificate_, problem, (model.U_, model.s_, model.V_))``
        checks its certificate.
        """
        check_is_fitted(self, "s_")
        rows, cols = self._placed(pairs)
        return serving.problem(self, rows, cols, parameters.counted(values, rows.size))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
