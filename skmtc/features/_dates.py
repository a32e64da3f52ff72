"""Encode dates as numbers."""

import numpy as np
import pandas as pd

from skmtc.features._base_encoder import BaseColumnEncoder

DAYS_PER_YEAR = 365.2425


class DateEncoder(BaseColumnEncoder):
    """Encode dates as years, with the day of the year as the fraction.

    Dates may be of a date or period type of pandas or strings in ISO form, such as "2011-05-03" or
    "2011".
    Numbers are taken for years and stay as they are. A missing value, and a string that is no
    date, becomes NaN.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc.features import DateEncoder
    >>> songs = pd.DataFrame({"released": ["2011-01-01", "2011-07-02", None]})
    >>> DateEncoder().fit_transform(songs).round(1)
    array([[2011. ],
           [2011.5],
           [   nan]])
    """

    def _reset(self):
        pass

    def _fit_column(self, column, membership):
        pass

    def _transform_column(self, column, j):
        if pd.api.types.is_numeric_dtype(column.dtype):
            return column.to_numpy(dtype=np.float64, na_value=np.nan)[:, None]
        return to_years(column)[:, None]

    def _column_names(self, column, j):
        return [str(column)]


def to_years(column):
    """Return the dates of a column as years with a fraction; NaN for what is no date."""
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    elif not pd.api.types.is_datetime64_any_dtype(column.dtype):
        text = column.astype(object).where(column.notna(), None)
        column = pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True)
    years = column.dt.year + (column.dt.day_of_year - 1) / DAYS_PER_YEAR
    return years.to_numpy(dtype=np.float64, na_value=np.nan)
