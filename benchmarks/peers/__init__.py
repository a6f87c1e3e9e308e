"""Against other tools, in one run on one machine: ``make bench-peers``, or ``python -m benchmarks.peers``.

Everybody minimises f(Z) = ½Σ(Z_ij − r_ij)² over the nuclear-norm ball of one radius, from the same arrays of rows,
columns and values. What makes it fair:

- One evaluator: f is computed from the iterate's observed entries by ``problems.Table.value``, for us as for others. At
  the end of a run the whole answer is looked at: its norm, and whether its entries are those that were evaluated.
- The clock stands still while it evaluates, and starts before a tool builds its own form of the data.
- Every run has a process of its own, one at a time, with the same most threads (OMP_NUM_THREADS and its likes). A peer
  uses one BLAS thread or all, whichever took more steps a second in a pilot of five seconds, off the clock; we spend
  them on sparse kernels. Imports, compilation and a warm-up solve come before the clock and are reported apart.
- Every peer has a grid of settings, stated as ``GRID`` in its file. Every setting is run and kept; for each question
  (how soon within 1e-3?) the setting that answers it best counts, which may be another one for the next question.
- Only we certify anything. For the others we certify the iterates afterwards, without charging time: their certified
  gap at a moment is f there less the best bound that any checkpoint until then gives. Our own gaps are those that
  ``solve`` certified inside its clock.

A peer is one file in ``solvers/`` with TITLE, GRID and ``run(table, recorder, setting)``, which calls
``recorder.take(observed entries)`` after each of its steps, stops when that returns False, and returns its last
iterate: factors (U, s, V), a dense matrix, or None. ``CONIC = True`` keeps it to tables small enough for conic solvers.

The results are one JSON document (aggregate numbers only, nothing about single ratings)::

    {"format": 1,
     "machine":  {"cpu", "cores", "memory_gb", "system", "python", "threads", "versions": {package: version}},
     "first_call": {"compiling": seconds, "cached": seconds},      our import and first solve, without and with a cache
     "problems": {name: {"title", "shape", "observed", "radius", "limit_seconds",
                         "optimum": [low, high],                   f* lies between; equal when known to all digits used
                         "multiplier": λ of the penalised problem with the same optimum}},
     "runs": [{"problem", "peer", "title", "setting": {…}, "limit_seconds",
               "status": "done" | "limit" | "missing" | "failed" | "killed", "message",
               "blas_threads",                                     as the pilot chose
               "warm_up_seconds",                                  import and a first solve of a tiny table
               "seconds",                                          on the run's own clock
               "curve": [[seconds, value], …],                     thinned to one point per 2 % of time
               "certified": [[seconds, value, lower bound], …],    best bound so far, beside the value it was found with
               "rank",                                             atoms or rank, the largest seen, or null
               "peak_mb",                                          peak resident memory over that with the data loaded
               "answer": {"norm_over_radius", "value_error"}}]}    the last iterate, looked at whole

Finished runs are kept one file each beside it and reused (``--fresh`` throws them away). ``python -m benchmarks.peers
page RESULTS.json`` writes docs/peers.md and its pictures.

Who predicts ratings how well is another comparison: ``ratings/``.
"""
