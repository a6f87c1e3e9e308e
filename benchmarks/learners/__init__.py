"""The parts of ``python -m benchmarks learning``."""
