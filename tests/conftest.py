"""Settings shared by all tests: deterministic hypothesis, real data only where it is."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from spectraplex import datasets

settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")


@pytest.fixture(scope="session")
def movielens_100k() -> datasets.Ratings:
    try:
        return datasets.movielens("100k", download=False)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
