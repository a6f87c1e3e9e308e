"""Settings shared by all tests: deterministic hypothesis, real data only where it is."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

from spectraplex import datasets

settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")

# A shell that runs the tests in the background tells them to ignore Ctrl-C; tests of Ctrl-C need it back.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def movielens_100k() -> datasets.Ratings:
    try:
        return datasets.movielens("100k", download=False)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
