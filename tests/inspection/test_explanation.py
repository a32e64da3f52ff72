"""Bars are the contributions."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cold_rows import COLD_ROWS, NUMBERS, X_TRAIN
from sklearn.pipeline import make_pipeline

from skmtc import MultitaskPlaylistRanker
from skmtc.inspection import ExplanationDisplay, explain

RANKER = MultitaskPlaylistRanker(playlist_l1=0.05, song_features=NUMBERS).fit(X_TRAIN)
ROW = X_TRAIN.iloc[[3]]


def test_bars_are_the_contributions_and_stack_from_zero():
    display = ExplanationDisplay.from_estimator(RANKER, ROW)
    table = display.contributions
    explained = explain(RANKER, ROW).iloc[0]
    for part, bars in display.bars_.items():
        widths = [bar.get_width() for bar in bars]
        np.testing.assert_allclose(widths, explained[part][table.index])
    for place, (_, values) in enumerate(table.iterrows()):
        bars = [bars[place] for bars in display.bars_.values()]
        ends = [bar.get_x() + bar.get_width() for bar in bars]
        right, left = values[values > 0].sum(), values[values < 0].sum()
        assert max(0.0, *ends) == pytest.approx(right)
        assert min(0.0, *ends) == pytest.approx(left)


def test_marks_are_sums_and_the_title_has_the_score():
    display = ExplanationDisplay.from_estimator(RANKER, ROW)
    marks = display.ax_.get_lines()[0]
    np.testing.assert_allclose(marks.get_xdata(), display.contributions.sum(axis=1))
    assert display.score == pytest.approx(RANKER.predict(ROW)[0])
    song, playlist, user = ROW[["song", "playlist", "user"]].iloc[0]
    title = f"{song} in {playlist} of {user}: score {display.score:.3g}"
    assert display.ax_.get_title() == title


def test_features_come_by_size_with_the_others_last():
    display = ExplanationDisplay.from_estimator(RANKER, ROW, top=2)
    sizes = display.contributions.abs().sum(axis=1)
    assert sizes.index[-1] == "other features"
    assert sizes.iloc[0] >= sizes.iloc[1]
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == display.contributions.index.tolist()
    assert display.ax_.yaxis_inverted()  # the first is at the top
    assert display.score == pytest.approx(RANKER.predict(ROW)[0])


def test_parts_without_contributions_are_not_drawn():
    new = COLD_ROWS["playlist"].iloc[[0]]
    assert "playlist" not in ExplanationDisplay.from_estimator(RANKER, new).bars_


def test_parts_differ_in_colour_and_hatch():
    display = ExplanationDisplay.from_estimator(RANKER, ROW)
    assert list(display.bars_) == ["shared", "user", "playlist"]
    looks = {(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in display.bars_.values()}
    assert len({colour for colour, _ in looks}) == len({hatch for _, hatch in looks}) == 3


def test_pipelines_and_given_axes():
    _, ax = plt.subplots()
    pipeline = make_pipeline("passthrough", RANKER)
    display = ExplanationDisplay.from_estimator(pipeline, ROW, ax=ax)
    assert display.ax_ is ax
    assert display.score == pytest.approx(RANKER.predict(ROW)[0])


def test_a_row_of_an_explanation_is_drawn():
    explanation = explain(RANKER, X_TRAIN.iloc[:3]).iloc[2]
    display = ExplanationDisplay.from_explanation(explanation, title="third")
    assert display.ax_.get_title().startswith("third: score")
    assert display.score == pytest.approx(explanation.sum())


def test_one_row_at_a_time():
    with pytest.raises(ValueError, match="explains one row; got 2"):
        ExplanationDisplay.from_estimator(RANKER, X_TRAIN.iloc[:2])
