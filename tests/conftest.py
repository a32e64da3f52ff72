"""Settings of the whole suite."""

import os

import pytest
from clusters import N_WORKERS, local_cluster
from hypothesis import settings

# The same examples on every machine, however slow it is.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

# scikit-learn's array API checks run only with this, and only if it is set before scipy loads.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


@pytest.fixture(scope="module")
def cluster_client():
    with local_cluster() as client:
        yield client


@pytest.fixture
def client(cluster_client):
    """Give the client of a whole cluster.

    After a test that killed workers, the next ones are still starting. joblib calls functions here,
    not there, while one core is left.
    """
    cluster_client.wait_for_workers(N_WORKERS, timeout=120)
    return cluster_client
