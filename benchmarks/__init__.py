"""Benchmarks: ``make bench`` for the quick set, ``python -m benchmarks NAME`` for one. Ratios are of one run."""
