"""Curves are the means of the metrics, made with one ranking per query."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cold_rows import COLD_ROWS, NUMBERS, X_TRAIN
from sklearn.pipeline import make_pipeline

from skmtc import PopularityRanker, RidgeRanker, compare
from skmtc.inspection import HitRateDisplay, NoveltyDisplay
from skmtc.metrics import make_playlist_scorer
from skmtc.model_selection import ColdPlaylistKFold, ColdUserKFold

DISPLAYS = {"hit_rate": HitRateDisplay, "novelty": NoveltyDisplay}
RANKERS = {
    "popularity": PopularityRanker().fit(X_TRAIN),
    "ridge": RidgeRanker(song_features=NUMBERS).fit(X_TRAIN),
    "pipeline": make_pipeline("passthrough", RidgeRanker(song_features=NUMBERS)).fit(X_TRAIN),
}
LENGTHS = [1, 3, 10, 30]
both = pytest.mark.parametrize("metric", DISPLAYS)


@pytest.mark.filterwarnings("ignore:PopularityRanker has the same score")
@both
@pytest.mark.parametrize("setting", ["nothing", "song", "playlist", "user"])
def test_every_point_is_the_mean_that_a_scorer_gives(metric, setting):
    rows = COLD_ROWS[setting]
    display = DISPLAYS[metric].from_estimators(RANKERS, rows, k=LENGTHS)
    assert display.values.shape == (3, 4)
    for values, ranker in zip(display.values, RANKERS.values(), strict=True):
        expected = [make_playlist_scorer(metric, k=k)(ranker, rows) for k in LENGTHS]
        np.testing.assert_allclose(values, expected)


@both
def test_queries_are_ranked_once_for_all_lengths(metric, monkeypatch):
    ranker = RANKERS["ridge"]
    calls = []
    ask = RidgeRanker.vectors_of_queries
    monkeypatch.setattr(
        RidgeRanker, "vectors_of_queries", lambda self, q: (calls.append(len(q)), ask(self, q))[1]
    )
    rows = COLD_ROWS["playlist"]
    DISPLAYS[metric].from_estimator(ranker, rows, k=range(1, 40))
    assert sum(calls) == rows["playlist"].nunique()


@both
def test_lines_show_the_values_and_have_names(metric):
    display = DISPLAYS[metric].from_estimators(RANKERS, COLD_ROWS["playlist"], k=LENGTHS)
    assert display.figure_ is display.ax_.figure
    for line, values, name in zip(display.lines_, display.values, RANKERS, strict=True):
        assert line.get_xdata().tolist() == LENGTHS
        np.testing.assert_array_equal(line.get_ydata(), values)
        assert line.get_label() == name
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list(RANKERS)
    assert display.ax_.get_xlabel() == "songs recommended (K)"
    assert display.ax_.get_xscale() == "log"


@both
def test_the_result_of_compare_is_drawn(metric):
    rankers = {"popularity": PopularityRanker(), "ridge": RidgeRanker(song_features=NUMBERS)}
    metrics = ["auc", f"{metric}@10", f"{metric}@2", "hit_rate@7", "novelty@7"]
    table = compare(rankers, X_TRAIN, ColdPlaylistKFold(2), metrics)
    for given in (table, table["cold playlists"]):
        display = DISPLAYS[metric].from_evaluations(given)
        assert display.k.tolist() == [2, 7, 10]
        assert display.names == ["popularity", "ridge"]
        expected = table["cold playlists"][[f"{metric}@{k}" for k in (2, 7, 10)]]
        np.testing.assert_array_equal(display.values, expected)


def test_tables_that_say_too_much_or_too_little_are_refused():
    cv = {"playlists": ColdPlaylistKFold(2), "users": ColdUserKFold(2)}
    table = compare({"popularity": PopularityRanker()}, X_TRAIN, cv, ["auc", "hit_rate@5"])
    with pytest.raises(ValueError, match=r"one splitter; got \['playlists', 'users'\]"):
        HitRateDisplay.from_evaluations(table)
    with pytest.raises(ValueError, match="columns such as 'novelty@10'; got"):
        NoveltyDisplay.from_evaluations(table["users"])


def test_default_lengths_stop_at_the_number_of_candidates():
    display = HitRateDisplay.from_estimator(RANKERS["popularity"], COLD_ROWS["playlist"])
    assert display.k.tolist() == [1, 2, 5, 10, 20, 50]
    assert len(RANKERS["popularity"].songs_) < 100
    assert display.names == ["PopularityRanker"]


def test_lengths_are_sorted_distinct_and_checked():
    rows, ranker = COLD_ROWS["playlist"], RANKERS["popularity"]
    assert HitRateDisplay.from_estimator(ranker, rows, k=[5, 2, 5]).k.tolist() == [2, 5]
    with pytest.raises(ValueError, match="`k` must be a positive integer; got 0"):
        HitRateDisplay.from_estimator(ranker, rows, k=[0, 5])
    with pytest.raises(ValueError, match="at least one number of songs"):
        HitRateDisplay.from_estimator(ranker, rows, k=[])


def test_displays_share_axes_without_sharing_looks():
    rows = COLD_ROWS["playlist"]
    first = HitRateDisplay.from_estimator(RANKERS["ridge"], rows, name="one")
    second = HitRateDisplay.from_estimator(RANKERS["popularity"], rows, name="two", ax=first.ax_)
    assert first.lines_[0].get_color() != second.lines_[0].get_color()
    assert first.ax_ is second.ax_
    assert [t.get_text() for t in first.ax_.get_legend().get_texts()] == ["one", "two"]


def test_axes_start_at_zero_and_make_room_for_further_curves():
    first = HitRateDisplay([1, 2], [[0.1, 0.2]], names=["low"]).plot()
    second = HitRateDisplay([1, 2], [[0.7, 0.9]], names=["high"]).plot(first.ax_)
    bottom, top = second.ax_.get_ylim()
    assert bottom == 0
    assert 0.9 < top < 1.1


def test_plot_again_elsewhere_with_other_names_and_looks():
    display = HitRateDisplay([1, 2], [[0.1, 0.2]], names=["a"])
    _, ax = plt.subplots()
    assert display.plot(ax, name="b", color="red") is display
    assert display.ax_ is ax
    assert display.lines_[0].get_label() == "b"
    assert display.lines_[0].get_color() == "red"


def test_curves_without_names_have_no_legend():
    assert HitRateDisplay([1, 2], [0.1, 0.2]).plot().ax_.get_legend() is None


def test_shapes_and_rankers_are_checked():
    with pytest.raises(ValueError, match="got 1 names, 2 lengths"):
        HitRateDisplay([1, 2], [[0.1, 0.2, 0.3]], names=["a"])
    with pytest.raises(TypeError, match="dict of fitted estimators by name"):
        HitRateDisplay.from_estimators([RANKERS["ridge"]], X_TRAIN)


def test_intervals_are_bands_of_the_colour_of_their_curve():
    values = np.array([[0.1, 0.2], [0.3, 0.4]])
    low, high = values - 0.05, values + 0.05
    low[1] = high[1] = np.nan
    display = HitRateDisplay([1, 10], values, names=["a", "b"], low=low, high=high).plot()
    (band,) = display.bands_  # the second curve has none
    (path,) = band.get_paths()
    assert set(path.vertices[:, 1].round(9)) == {0.05, 0.15, 0.25}
    expected = plt.matplotlib.colors.to_rgba(display.lines_[0].get_color(), 0.15)
    np.testing.assert_allclose(band.get_facecolor()[0], expected)
    assert HitRateDisplay([1, 10], values).plot().bands_ == []
    with pytest.raises(ValueError, match="must be given together"):
        HitRateDisplay([1, 10], values, low=low)
    with pytest.raises(ValueError, match=r"`low` must have the shape of the values, \(2, 2\)"):
        HitRateDisplay([1, 10], values, low=low[:1], high=high)
