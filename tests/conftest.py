"""Settings of the whole suite."""

import os
import sys
from importlib.util import find_spec

import pytest
from attacks import Attack
from clusters import N_WORKERS, local_cluster
from databases import programs_with_pgvector
from hypothesis import settings

# The same examples on every machine, however slow it is.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

# scikit-learn's array API checks run only with this, and only if it is set before scipy loads.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


def pytest_addoption(parser):
    parser.addoption("--attack", action="store_true", help="run thousands of attacks, not a few")


def pytest_configure(config):
    if config.getoption("--attack"):
        os.environ.setdefault("SKMTC_FUZZ_EXAMPLES", "60")


@pytest.fixture(scope="session")
def attack(request):
    """Return how many cases the attack tests try."""
    return Attack(request.config.getoption("--attack"))


def lacking(system):
    """Return the markers of tests that cannot run on a system, by the name that Python gives it."""
    if system == "linux":
        return set()
    return {"linux", "posix"} if system == "win32" else {"linux"}


def pytest_collection_modifyitems(config, items):
    """Leave out tests that the operating system, or what is installed, cannot run."""
    absent = lacking(sys.platform)
    if programs_with_pgvector() is None or find_spec("psycopg") is None:
        absent = absent | {"pgvector"}
    left_out = [item for item in items if any(mark.name in absent for mark in item.iter_markers())]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="module")
def cluster_client():
    with local_cluster() as client:
        yield client


@pytest.fixture
def client(cluster_client):
    """Return the client of a whole cluster.

    After a test that killed workers, the next ones are still starting. joblib calls functions here,
    not there, while one core is left.
    """
    cluster_client.wait_for_workers(N_WORKERS, timeout=120)
    return cluster_client
