"""A comparison as text and as a page."""

import numpy as np
import pandas as pd
import pytest

from skmtc.cli._comparison import Comparison
from skmtc.cli._html import report_html
from skmtc.cli._text import best_of, column_name, comparison_text


@pytest.fixture
def comparison():
    rows = pd.DataFrame(
        {
            "auc": [0.5, 0.75, np.nan],
            "spread": [1.0, 2.0, np.nan],
            "hit_rate@1": [0.2, 0.2, np.nan],
            "novelty@1": [3.0, 3.0, np.nan],
            "fit_time": [0.1, 2.0, np.nan],
            "error": ["", "", "ValueError: <no>\nartists"],
        },
        index=["popularity", "own-songs", "ridge"],
    )
    counts = {"train_playlists": 1200, "test_playlists": 20, "test_users": 7}
    return Comparison("cold-users", ["auc", "spread"], rows, [1], counts)


def test_the_best_are_marked_where_there_is_a_best(comparison):
    best = best_of(comparison)
    assert best["auc"].tolist() == [False, True, False]
    assert not best["spread"].any()  # moderate values are preferable
    assert best["fit_time"].tolist() == [True, False, False]


def test_lines(comparison):
    assert comparison_text(comparison).splitlines() == [
        "cold users: 1,200 training playlists, 20 test playlists of 7 users",
        "ranker        AUC   Spread   fit s",
        "popularity  0.500    1.000    0.10*",
        "own songs   0.750*   2.000    2.00",
        "ridge           -        -       -",
        "* best of its column; of novelty and spread moderate values are preferable, so none is "
        "marked",
        "ridge failed: ValueError: <no> artists",
    ]


def test_curves_leave_out_who_failed(comparison):
    assert {name: v.tolist() for name, v in comparison.curve("hit_rate").items()} == {
        "popularity": [0.2],
        "own-songs": [0.2],
    }
    assert comparison.is_flat("novelty")
    comparison.rows.loc["popularity", "novelty@1"] = 2.0
    assert not comparison.is_flat("novelty")


def test_the_page_escapes_what_it_shows(comparison):
    class Table:
        source, size = "<b>.csv", "3 rows"

    class Features:
        seed = 0

        @staticmethod
        def told():
            return "songs are described by a<b"

    page = report_html([comparison], Table, Features, {})
    assert "&lt;b&gt;.csv: 3 rows" in page
    assert "described by a&lt;b." in page
    assert "ValueError: &lt;no&gt;" in page
    assert page.count('class="best"') == 2
    assert "All candidates are equally novel" in page


def test_columns_are_named_as_in_the_paper():
    names = [column_name(m) for m in ("auc", "hit_rate@100", "novelty", "spread", "ndcg")]
    assert names == ["AUC", "HitRate@100", "Novelty@10", "Spread", "NDCG"]
