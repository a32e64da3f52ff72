"""A comparison as text and as a page."""

import numpy as np
import pandas as pd
import pytest

from skmtc.cli.report._comparison import Comparison
from skmtc.cli.report._html import report_html
from skmtc.cli.report._plain_text import best_of, column_name, comparison_text, verdicts


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
    counts = {"train_playlists": 1200, "test_playlists": 4, "test_users": 3}
    return Comparison(
        "cold-users", ["auc", "spread"], rows, [1], counts, playlists(), 5000, "New <users>."
    )


def playlists(others=()):
    """Make the values of two rankers, and more of them, for four playlists of three users."""
    values = {"popularity": [0.5, 0.4, 0.6, 0.5], "own-songs": [0.75, 0.65, 0.85, 0.75]}
    ids = {"cv": "cold-users", "fold": 0, "user": list("uuvw"), "playlist": list("abcd")}
    tables = [
        pd.DataFrame({"ranker": name} | ids | {"auc": auc, "spread": [1.0, 2.0, 3.0, 4.0]})
        for name, auc in (values | dict(others)).items()
    ]
    return pd.concat(tables, ignore_index=True)


def test_the_best_are_marked_where_there_is_a_best(comparison):
    best = best_of(comparison)
    assert best["auc"].tolist() == [False, True, False]
    assert not best["spread"].any()  # moderate values are preferable
    assert best["fit_time"].tolist() == [True, False, False]


def test_lines(comparison):
    assert comparison_text(comparison).splitlines() == [
        "cold users: 1,200 training playlists; tested on 4 of 5,000 playlists, of 3 users",
        "ranker        AUC   Spread   fit s",
        "popularity  0.500    1.000    0.10*",
        "own songs   0.750*   2.000    2.00",
        "ridge           -        -       -",
        "* best of its column, or not told apart from the best (paired over playlists by user, "
        "Holm, 5 %); there is no best by Spread",
        "AUC: own songs is best (0.750), ahead of popularity by 0.250 (0.250 to 0.250).",
        "ridge failed: ValueError: <no> artists",
    ]


def test_all_who_are_tied_are_marked(comparison):
    comparison.playlists = playlists([("knn", [0.8, 0.6, 0.9, 0.69])])
    row = comparison.rows.loc["own-songs"].rename("knn")
    comparison.rows = pd.concat([comparison.rows, row.to_frame().T])
    assert best_of(comparison)["auc"].to_dict() == {
        "popularity": False,
        "own-songs": True,
        "ridge": False,
        "knn": True,
    }
    (reported,) = verdicts(comparison)
    assert (
        reported == "AUC: own songs is best (0.750), tied with knn, ahead of popularity by 0.250 "
        "(0.250 to 0.250)."
    )
    comparison.playlists = playlists().iloc[:4]
    del comparison.differences
    assert verdicts(comparison) == []  # there is nobody to be better than


def test_where_nobody_is_told_apart(comparison):
    table = playlists()
    table["auc"] = [0.5, 0.4, 0.6, 0.5, 0.6, 0.3, 0.7, 0.45]
    comparison.playlists = table
    assert verdicts(comparison) == [
        "AUC: own songs is best (0.512), tied with popularity; no ranker is told apart from it."
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
        source, size, sampled = "<b>.csv", "3 rows", "sampled: <some>"
        whole_size = "9 rows"

    class Features:
        seed = 0

        @staticmethod
        def describe():
            return "songs are described by a<b"

    page = report_html([comparison], Table, Features, {})
    assert "&lt;b&gt;.csv: 9 rows" in page
    assert "described by a&lt;b." in page
    assert "ValueError: &lt;no&gt;" in page
    assert page.count('class="best"') == 3
    assert "New &lt;users&gt;. 1,200 training playlists" in page
    assert "<li>AUC: own songs is best" in page
    assert "-0.250 (-0.250 to -0.250)" in page
    assert "Not finished" not in page
    assert "Not finished: 2 of 9" in report_html(
        [comparison], Table, Features, {}, "Not finished: 2 of 9"
    )
    assert "All candidates are equally novel" in page
    assert "Sampled: &lt;some&gt;: 3 rows." in page
    assert "Use own songs: it is best; it is fitted in 2 s here." in page
    assert "<pre>" not in page
    code = report_html([comparison], Table, Features, {}, codes={"cold-users": "x < 'y'"})
    assert "<pre>x &lt; &#x27;y&#x27;</pre>" in code
    assert "skmtc fit &#x27;&lt;b&gt;.csv&#x27; --ranker own-songs --out model.skops" in code


def test_columns_are_named_as_in_the_paper():
    names = [column_name(m) for m in ("auc", "hit_rate@100", "novelty", "spread", "recall@5")]
    assert names == ["AUC", "HitRate@100", "Novelty@10", "Spread", "Recall@5"]
