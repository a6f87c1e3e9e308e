"""What becomes of a fitted model when observations come, change or go: fitted again from the last fit, or folded in."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from ..callbacks import with_callbacks
from ..input.observations import pair_columns
from . import changing, fitting, folding, parameters
from .answers import Answers


class Growing(Answers):
    """More observations, fewer, and more rows or columns, for a model that answers already."""

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, duplicates: str = "last") -> Self:
        """Add observations and go on from the last fit, with its radius; the first call is a ``fit``.

        ``duplicates`` says what becomes of a pair that is known already, or comes twice: "last" replaces its value, and
        "all" lets the old and the new one count; "mean", "sum", "first" and "error" are as in ``fit``, with known
        observations before new ones.
        """
        parameters.present(y, sample_weight)
        pairs = pair_columns(X, vars(self).get("feature_names_in_"))
        self._refuse_shards("partial_fit")
        if "U_" in vars(self):
            changed: Self = changing.more(self, pairs, y, sample_weight, duplicates)
            return changed
        return fitting.fit_columns(self, *pairs[:2], y, sample_weight, pairs[2], duplicates=duplicates)

    def update(self, pairs: Any, values: Any, sample_weight: Any = None) -> Self:
        """Give pairs these values, whether they had others or none, and fit again from the last fit.

        The fit begins with the factors of the last one, keeps its radius, and ends at the same certified tolerance:
        what comes out is the fit of all observations, and so is ``certificate_``. Ridges and ``delta`` that are "auto"
        are chosen again. New rows and columns are taken in.
        """
        check_is_fitted(self, "s_")
        return self.partial_fit(pairs, values, sample_weight, duplicates="last")

    @with_callbacks
    def forget(self, pairs: Any = None, *, rows: Any = None, columns: Any = None) -> Self:
        """Leave out pairs, or all observations of rows or of columns, and fit the others again, as ``update`` does.

        A row or column that has no observation left is forgotten altogether: its label is unknown then. Its
        observations are in no array of the model any more. The radius stays, which was chosen with them.
        """
        check_is_fitted(self, "s_")
        self._refuse_shards("forget")
        left: Self = changing.fewer(self, pairs, rows, columns)
        return left

    def fold_in(self, row_observations: Any, values: Any = None) -> Self:
        """A copy of this model that knows more rows, without fitting again: columns stay as they are.

        A new row is fitted to its own observations against the columns, with the price of nuclear norm that the fit
        ended with; a row folded in with the observations of a fitted one gets its factors.

        Parameters
        ----------
        row_observations : {row label: {column label: value}}; or pairs of labels, with ``values`` beside them.
            Unknown columns say nothing about a row and are left out; a row that is known already is refused.
        """
        check_is_fitted(self, "s_")
        self._refuse_shards("fold_in")
        more: Self = folding.fold_in(self, "row", *folding.given(row_observations, values, "row"))
        return more

    def fold_in_columns(self, column_observations: Any, values: Any = None) -> Self:
        """A copy of this model that knows more columns, without fitting again: rows stay as they are; see ``fold_in``.

        Parameters
        ----------
        column_observations : {column label: {row label: value}}; or pairs (row label, column label), with ``values``
            beside them. Unknown rows are left out, with a warning; a column that is known already is refused.
        """
        check_is_fitted(self, "s_")
        self._refuse_shards("fold_in_columns")
        more: Self = folding.fold_in(self, "column", *folding.given(column_observations, values, "column"))
        return more
