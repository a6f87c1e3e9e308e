"""Benchmarks: the quick set with ``make bench``, one with ``python -m benchmarks NAME``. Ratios are taken in one run."""
