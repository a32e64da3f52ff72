"""The recipe of docs/contributing: a metric is a function and a record, and is known everywhere."""

import numpy as np
import pandas as pd
import pytest

from skmtc import PopularityRanker, compare, evaluate
from skmtc.cli import main
from skmtc.datasets import make_playlists, write_table
from skmtc.metrics import _registry as registry
from skmtc.metrics import hit_rate_score, make_playlist_scorer, playlist_scoring
from skmtc.metrics._hit_rate import share_within
from skmtc.model_selection import ColdUserSplit


def precision_per_playlist(ranking, *, k):
    """Return the share of the k best songs that are in each playlist."""
    return share_within(ranking, k) * ranking.n_positives / k


@pytest.fixture
def precision(monkeypatch):
    record = registry.Metric(
        "precision",
        precision_per_playlist,
        label="Precision",
        description="the share of the K best songs that are in the playlist",
        takes_k=True,
        default_k=10,
    )
    monkeypatch.setattr(registry, "RECORDS", [*registry.RECORDS, record])


@pytest.fixture(scope="module")
def X():
    return make_playlists(n_users=15, n_songs=40, random_state=0)


def test_it_is_not_known_without_its_record():
    with pytest.raises(ValueError, match=r"A metric must be one of .*; got 'precision'"):
        playlist_scoring("precision@5")


def test_scorers_evaluate_and_compare_know_it(precision, X):
    cv = ColdUserSplit(random_state=0)
    train, test = next(cv.split(X))
    ranker = PopularityRanker().fit(X.iloc[train])
    found = evaluate(ranker, X.iloc[test], ["precision@5", "hit_rate@5"])
    np.testing.assert_allclose(found["precision@5"], found["hit_rate@5"] * found["size"] / 5)
    scores = playlist_scoring("auc", "precision@5")(ranker, X.iloc[test])
    assert scores["precision@5"] == pytest.approx(found["precision@5"].mean())
    scorer = make_playlist_scorer("precision", k=5)
    assert scorer(ranker, X.iloc[test]) == scores["precision@5"]
    rankers = {"popularity": PopularityRanker()}
    table = compare(rankers, X, cv, ["precision@5", "hit_rate@5"])
    assert table.loc["popularity"].gt(0).all()
    summary = compare(rankers, X, cv, "precision@5", by="summary", random_state=0)
    assert summary["low"].item() < summary["mean"].item() < summary["high"].item()
    assert hit_rate_score([[1, 0]], [[2, 1]], k=1) == 1.0


def test_the_command_line_and_its_report_know_it(precision, X, tmp_path, capsys):
    write_table(X, tmp_path / "playlists.csv")
    arguments = ["compare", str(tmp_path / "playlists.csv"), "--setting", "cold-users", "--quiet"]
    arguments += ["--rankers", "popularity", "own-songs", "--metrics", "precision@5"]
    assert main([*arguments, "--out", str(tmp_path / "report")]) == 0
    reported = capsys.readouterr().out
    assert "Precision@5" in reported
    assert "Precision@5: " in reported  # who is best
    table = pd.read_csv(tmp_path / "report" / "comparison.csv")
    assert table["precision@5"].between(0, 1).all()
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "Precision@K is the share of the K best songs that are in the playlist." in page
