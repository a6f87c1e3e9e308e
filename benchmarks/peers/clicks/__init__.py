"""Who ranks held-out clicks how well: ``make bench-peers-clicks``, or ``python -m benchmarks.peers clicks``.

A click is a MovieLens rating of four stars or more. Of every user's clicks a fifth (rounded down) is kept aside for the
test; all films that a user has not clicked in training are ranked; NDCG@10 and recall@10 are means over users with a
test click. What makes it fair:

- Everybody gets the same training table, and one function ranks everybody's scores.
- "Tuned" means: of every user's training clicks a fifth is kept aside, each setting of a grid is fitted to the rest,
  and the one with the best NDCG@10 on what was kept aside is fitted to all training clicks. The test clicks are looked
  at once, at the end. The grids of others were narrowed by hand to where they do well on such a cut of the training
  clicks of split 0; our own defaults were settled there, too.
- Every run has a process of its own, one at a time, with the same most threads. The clock runs during the last fit.

``implicit`` is the peer's own code; EASE is its closed form, written out in ``tools.py``. The results are one JSON
document (aggregate numbers only); finished runs are kept one file each beside it and reused (``--fresh`` throws them
away). ``python -m benchmarks.peers page CLICKS.json`` writes docs/peers-clicks.md.
"""
