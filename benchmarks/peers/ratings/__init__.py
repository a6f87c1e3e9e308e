"""Who predicts held-out ratings how well: ``make bench-peers-ratings``, or ``python -m benchmarks.peers ratings``.

MovieLens-100k by its five splits u1 … u5 and MovieLens-1M by one random 90/10 split. What makes it fair:

- Everybody gets the same arrays of rows, columns and ratings in the same order, and one function computes the test
  error of all, with predictions clipped to 1 … 5.
- Every fit has a process of its own, one at a time, with the same most threads; those with one thread say so.
- The clock runs during the fit alone: the data is in the tool's own form, and a throw-away fit of a small table has
  loaded what is to be loaded and compiled what is to be compiled.
- "Tuned" means: each setting of a grid fitted to 90 % of the training ratings, the one with the least error on the
  other 10 % fitted to all of them; on each split anew. The test ratings are looked at once, at the end. Ours is
  scikit-learn's GridSearchCV, on the same training ratings. What the choice costs is told apart from the fit. The
  others' grids were narrowed by hand to where they do well on these very sets, which favours them.
- Surprise's SVD and ours with a radius given run one after the other on each split, and the ratio is taken of each
  such pair; where there is one split, it is fitted several times. A pair of which one half is missing is run anew.

A tool is one file in ``tools/``: see there. The results are one JSON document (aggregate numbers only)::

    {"format": 1, "kind": "ratings",
     "machine": as in the other comparison,
     "sets": {name: {"title", "shape", "observed", "splits": […]}},
     "runs": [{"set", "split", "repeat", "tool", "row", "title", "settings": […], "threads", "threaded",
               "status": "done" | "missing" | "failed" | "killed", "message",
               "rmse", "seconds",                       test error, and the fit's time
               "chosen": {…}, "tuning_seconds",         of the grid; tuning_seconds is null where nothing was chosen
               "peak_mb",                               over the loaded arrays, the tool's own form and tuning included
               "warm_up_seconds"}]}

Finished runs are kept one file each beside it and reused (``--fresh`` throws them away). ``python -m benchmarks.peers
page RATINGS.json`` writes docs/peers-ratings.md.
"""
