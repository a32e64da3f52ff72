"""Names for the types of public signatures."""

import os
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array


class SupportsToPandas(Protocol):
    """A table of another library, such as polars or pyarrow."""

    def to_pandas(self) -> Any:
        """Return the table as a DataFrame."""

    def __len__(self) -> int:
        """Return the number of rows."""


# A membership table, or part of one: named columns, or an array whose columns are positions.
Table: TypeAlias = pd.DataFrame | NDArray[Any] | SupportsToPandas

# A column by its name or its position, and several of them ("auto": guessed; None: none).
Column: TypeAlias = str | int
Columns: TypeAlias = Column | Sequence[Column] | None

# What scikit-learn's `check_random_state` takes.
Seed: TypeAlias = int | np.random.RandomState | None

StrPath: TypeAlias = str | os.PathLike[str]

# Vectors or features, one row each.
Matrix: TypeAlias = NDArray[Any] | csr_array
