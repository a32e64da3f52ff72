"""DateEncoder."""

import numpy as np
import pandas as pd
import pytest

from skmtc.features import DateEncoder


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.to_datetime(["2011-01-01", "2011-07-02", None])),
        pd.Series(pd.to_datetime(["2011-01-01", "2011-07-02", None], utc=True)),
        pd.Series(pd.PeriodIndex(["2011-01-01", "2011-07-02", None], freq="D")),
        pd.Series(["2011-01-01", "2011-07-02", None]),
        pd.Series(["2011", "2011-07-02T10:00:00", "no date"]),
    ],
)
def test_dates_become_years(column):
    years = DateEncoder().fit_transform(column.to_frame("released"))
    np.testing.assert_allclose(years[:2, 0], [2011.0, 2011.4984], atol=1e-3)
    assert np.isnan(years[2, 0])


def test_numbers_are_years():
    table = pd.DataFrame({"year": [1999, 2009]})
    np.testing.assert_array_equal(DateEncoder().fit_transform(table), [[1999.0], [2009.0]])
    assert DateEncoder().fit(table).get_feature_names_out().tolist() == ["year"]
