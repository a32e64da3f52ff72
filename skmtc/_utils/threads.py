"""Threads over independent tasks, with one BLAS thread each."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from threadpoolctl import ThreadpoolController

from skmtc._utils.parallel import local_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _controller() -> Any:
    """Find the BLAS libraries; once, because it takes milliseconds."""
    return ThreadpoolController()


class Threads:
    """Call a function on many items.

    BLAS uses one thread, so that results have the same bits for any number of threads, and
    cores are not oversubscribed.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads, in the sense of joblib.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = local_jobs(n_jobs)
        self._controller = _controller()

    def one_blas_thread(self) -> AbstractContextManager[Any]:
        """Limit BLAS to one thread, in this thread and in those that `map` starts."""
        return cast(AbstractContextManager[Any], self._controller.limit(limits=1, user_api="blas"))

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return the results in the order of the items.

        Overflow raises no error here: it makes a value that is not finite, and the step that led to
        it is rejected.
        """

        def call(item: Item) -> Result:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return function(item)

        items = list(items)
        with self.one_blas_thread():
            if self.n_threads == 1 or len(items) == 1:
                return [call(item) for item in items]
            with ThreadPoolExecutor(self.n_threads) as pool:
                return list(pool.map(call, items))
