"""Threads over independent work."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from skmtc._utils.threads import Threads


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_results_come_in_the_order_of_items(n_jobs):
    assert Threads(n_jobs).map(lambda x: x * x, range(20)) == [x * x for x in range(20)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_one_thread_and_overflow_is_quiet(n_jobs):
    def work(_):
        np.exp(np.array([1e4]))
        return max(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")

    assert Threads(n_jobs).map(work, range(3)) == [1, 1, 1]


def test_errors_are_raised():
    with pytest.raises(ZeroDivisionError):
        Threads(2).map(lambda x: 1 // x, [1, 0])
