"""Learners beside what people use today, one module a part of ``python -m benchmarks learning``."""
