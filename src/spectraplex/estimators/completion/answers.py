"""What a fitted ``MatrixCompletion`` is asked: predictions, factors, recommendations, its problem."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ...checks import whole
from ...objectives.frames import is_far
from ...places.numpy import Array
from ...problem import Problem
from ..input.labels import Labels
from ..input.observations import OWNER, pair_columns
from . import intervals, parameters, serving


class Answers:
    """The questions; on a cluster they go to where the rows are."""

    row_labels_: Labels
    column_labels_: Labels

    def predict(self, X: Any, interval: Any = None) -> Any:
        """The predicted value of every pair; unseen rows and columns fall back to offset and intercepts.

        For a Dask frame a Dask frame of its labels with a column ``prediction``, worked out on the cluster.

        Parameters
        ----------
        X : pairs of labels, as ``fit`` takes them.
        interval : None, or a share between 0 and 1: lower and upper ends, too, between which about that share of values
            lie that the fit has not seen. The first time fits once more, without observations that are kept aside.

        Returns
        -------
        The n predictions; with ``interval`` a tuple (predictions, lower, upper) of three arrays of n numbers.
        """
        check_is_fitted(self, "s_")
        if interval is not None:
            return self._between(X, interval)
        if is_far(X):
            return self._frames().predict_frame(self, X)
        first, second, _ = pair_columns(X, getattr(self, "feature_names_in_", None))
        shards = vars(self).get("shards_")
        if shards is not None:
            return shards.predict(self, first, second)
        rows, cols = self._placed(first, second)
        return serving.linked(self, serving.linear(self, rows, cols))

    def _between(self, X: Any, interval: Any) -> tuple[Array, Array, Array]:
        level = intervals.level_of(interval)
        if is_far(X):
            raise ValueError(f"{OWNER}: interval is for pairs on this machine; give those, or leave it out.")
        intervals.refuse(self)
        first, second, _ = pair_columns(X, getattr(self, "feature_names_in_", None))
        return intervals.asked(self, *self._placed(first, second), level)

    def _placed(self, first: Array, second: Array) -> tuple[Array, Array]:
        rows = self.row_labels_.codes(first, OWNER, "row labels")
        return rows, self.column_labels_.codes(second, OWNER, "column labels")

    def embed(self, rows: Any) -> Any:
        """The factors of rows, one line each (zeros for an unseen one); their products with those of columns, which
        ``embed_columns`` gives, are the low-rank part of the predictions. For a Dask frame of labels a Dask frame."""
        check_is_fitted(self, "s_")
        if is_far(rows):
            return self._frames().embed_frame(self, rows)
        shards = vars(self).get("shards_")
        if shards is not None:
            return shards.embed(self, parameters.label_list(rows, "row"))
        return serving.taken(serving.row_factors(self), self._places(rows, "row"))

    def embed_columns(self, columns: Any) -> Array:
        """The factors of columns, one line each; see ``embed``."""
        check_is_fitted(self, "s_")
        return serving.taken(serving.column_factors(self), self._places(columns, "column"))

    def _places(self, asked: Any, side: str) -> Array:
        labels = self.row_labels_ if side == "row" else self.column_labels_
        return labels.codes(parameters.label_list(asked, side), OWNER, f"{side} labels")

    def recommend(
        self,
        rows: Any,
        n: int = 10,
        exclude_seen: bool = True,
        *,
        min_support: Any = "auto",
        candidates: Any = None,
        exclude: Any = None,
    ) -> Any:
        """For each row the n columns that are best by prediction and support, as (label, prediction), best first.

        Fewer where fewer are left; an unseen row gets what its intercepts say: the columns that are best on the whole.
        For a Dask frame of labels a Dask frame, a line for each of the n.

        Parameters
        ----------
        rows : labels of rows.
        n : how many columns.
        exclude_seen : leave out what a row has observations of.
        min_support : columns with fewer observations than this are left out: their predictions are guesses, and the
            largest of many guesses is too large. "auto" keeps the most observed ones, those that together have half of
            all observations and a hundred at least, and ranks those by their predictions less √(2 ln N)·σ/√(n + ridge),
            for N columns with n observations each: about what the largest of so many errors is too large by. 0 keeps
            all, and a number ranks by predictions alone.
        candidates : labels of columns to choose from, whatever their support unless ``min_support`` is a number.
        exclude : labels of columns to leave out.
        """
        check_is_fitted(self, "s_")
        n, named = whole(OWNER, "n", n), (self._named(given) for given in (candidates, exclude))
        added = serving.handicaps(self, min_support, *named)
        if is_far(rows):
            return self._frames().recommend_frame(self, rows, n, exclude_seen, added)
        shards = vars(self).get("shards_")
        if shards is not None:
            return shards.recommend(parameters.label_list(rows, "row"), n, exclude_seen, added)
        return serving.recommend(self, self._places(rows, "row"), n, exclude_seen, added)

    @staticmethod
    def _frames() -> Any:
        from . import far_serving

        return far_serving

    def _refuse_shards(self, what: str) -> None:
        if "shards_" in vars(self):
            raise ValueError(
                f"{OWNER}: {what} needs all rows on this machine, and those of this model lie in shards; fit again."
            )

    def similar(self, columns: Any, n: int = 10, *, min_support: Any = "auto") -> list[list[tuple[Any, float]]]:
        """For each column the n others with the most similar factors, as (label, cosine), best first.

        ``min_support`` is as in ``recommend``.
        """
        check_is_fitted(self, "s_")
        n, allow = whole(OWNER, "n", n), serving.allowed(self, min_support, None, None)
        return serving.similar(self, serving.column_factors(self), self._places(columns, "column"), n, allow)

    def _named(self, columns: Any) -> Array | None:
        return None if columns is None else self._places(columns, "column")

    def problem(self, pairs: Any, values: Any, sample_weight: Any = None) -> Problem:
        """The convex problem of these observations with this model's labels, offset, settings and radius.

        With the data of the fit, ``spectraplex.verify(model.certificate_, problem, (model.U_, model.s_, model.V_))``
        checks its certificate.
        """
        check_is_fitted(self, "s_")
        self._refuse_shards("problem")
        first, second, _ = pair_columns(pairs, getattr(self, "feature_names_in_", None))
        first, second, y, weights = parameters.checked(first, second, values, sample_weight)
        return serving.problem(self, *self._placed(first, second), y, weights)
