"""Contributions add up to the score."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from cold_rows import COLD_ROWS, COUNTRIES, NUMBERS, SPARSE, X_TRAIN
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skmtc import MultitaskPlaylistRanker, PairwiseRanker, PopularityRanker, RidgeRanker
from skmtc.inspection import explain
from skmtc.inspection._explain import OTHERS

OPTIONS = {"user_features": COUNTRIES, "n_neighbors": 3}
RANKERS = {
    "multitask": MultitaskPlaylistRanker(playlist_l1=0.1, song_features=NUMBERS, **OPTIONS),
    "no intercept": MultitaskPlaylistRanker(
        playlist_l1=0.1, fit_intercept=False, song_features=NUMBERS
    ),
    "sparse": MultitaskPlaylistRanker(playlist_l1=0.1, song_features=SPARSE, **OPTIONS),
    "no owners": MultitaskPlaylistRanker(user=None, song_features=NUMBERS, **OPTIONS),
    "pairwise": PairwiseRanker(n_epochs=2, song_features=NUMBERS, random_state=0, **OPTIONS),
    "ridge": RidgeRanker(song_features=NUMBERS, **OPTIONS),
}
FITTED = {name: ranker.fit(X_TRAIN) for name, ranker in RANKERS.items()}


@pytest.mark.parametrize("rows", COLD_ROWS.values(), ids=COLD_ROWS)
@pytest.mark.parametrize("ranker", FITTED.values(), ids=FITTED)
@pytest.mark.parametrize("top", [None, 2])
def test_rows_add_up_to_predict(ranker, rows, top):
    contributions = explain(ranker, rows, top=top)
    scores = ranker.predict(rows)
    np.testing.assert_allclose(contributions.sum(axis=1), scores, rtol=0, atol=1e-6)
    assert np.ptp(scores) > 1e-3  # there was something to explain


def test_users_without_any_attributes_have_the_shared_part_only():
    rows = COLD_ROWS["everything"].drop(columns=["age", "country"])
    ranker = MultitaskPlaylistRanker(song_features=NUMBERS).fit(
        X_TRAIN.drop(columns=["age", "country"])
    )
    contributions = explain(ranker, rows)
    np.testing.assert_allclose(contributions["shared"].sum(axis=1), ranker.predict(rows), atol=1e-6)
    assert (contributions[["user", "playlist"]] == 0).all(axis=None)


def test_columns_are_parts_and_features_and_the_index_is_that_of_the_table():
    rows = COLD_ROWS["playlist"]
    contributions = explain(FITTED["multitask"], rows)
    assert contributions.columns.names == ["part", "feature"]
    names = FITTED["multitask"].feature_names_out_
    assert contributions.columns.tolist() == [
        (part, name) for part in ("shared", "user", "playlist") for name in names
    ]
    assert names[-1] == "constant"
    pd.testing.assert_index_equal(contributions.index, rows.index)
    assert not np.signbit(contributions.to_numpy()[contributions.to_numpy() == 0]).any()


def test_arrays_are_explained_like_tables():
    columns = ["user", "playlist", "song", "x0", "x1", "x2"]
    codes = X_TRAIN[columns].assign(
        **{c: pd.factorize(X_TRAIN[c])[0] for c in ("user", "playlist", "song")}
    )
    ranker = RidgeRanker(user=0, playlist=1, song=2).fit(codes.to_numpy())
    contributions = explain(ranker, codes.to_numpy()[:5])
    np.testing.assert_allclose(contributions.sum(axis=1), ranker.predict(codes.to_numpy()[:5]))
    assert contributions.index.tolist() == [0, 1, 2, 3, 4]


def test_pipelines_and_searches_are_explained_on_the_table_that_the_ranker_sees():
    def double(X):
        return X.assign(x0=2 * X["x0"])

    pipeline = make_pipeline(FunctionTransformer(double), RidgeRanker(song_features=NUMBERS))
    search = GridSearchCV(pipeline, {"ridgeranker__l2": [1.0]}, cv=2)
    rows = COLD_ROWS["song"]
    for estimator in (pipeline, search):
        estimator.fit(X_TRAIN)
        contributions = explain(estimator, rows)
        np.testing.assert_allclose(contributions.sum(axis=1), estimator.predict(rows), atol=1e-6)
        pd.testing.assert_index_equal(contributions.index, rows.index)


def test_top_keeps_the_largest_and_sums_the_others():
    rows = COLD_ROWS["nothing"]
    full = explain(FITTED["multitask"], rows)
    short = explain(FITTED["multitask"], rows, top=2)
    size = full.abs().sum().groupby("feature").sum().sort_values(ascending=False)
    for part in ("shared", "user", "playlist"):
        assert short[part].columns.tolist() == [*size.index[:2], OTHERS]
        kept = full[part][size.index[:2]]
        np.testing.assert_allclose(short[part][size.index[:2]], kept)
        others = full[part].drop(columns=size.index[:2]).sum(axis=1)
        np.testing.assert_allclose(short[part][OTHERS], others, atol=1e-12)


def test_a_top_of_all_features_has_no_others():
    contributions = explain(FITTED["multitask"], COLD_ROWS["song"], top=4)
    assert OTHERS not in contributions.columns.get_level_values("feature")
    assert contributions.shape[1] == 3 * 4


def test_blocks_do_not_change_the_result():
    rows = X_TRAIN
    whole = explain(FITTED["sparse"], rows, top=3)
    with sklearn.config_context(working_memory=0.1):  # some ten rows at a time
        pd.testing.assert_frame_equal(explain(FITTED["sparse"], rows, top=3), whole)


def test_what_does_not_fit_the_working_memory_is_refused():
    with (
        sklearn.config_context(working_memory=0.01),
        pytest.raises(ValueError, match=r"fit the working memory of 0\.01 MiB; got 500 rows"),
    ):
        explain(FITTED["multitask"], pd.concat([X_TRAIN] * 5).iloc[:500])


def test_a_term_that_is_in_no_part_is_noticed():
    class WithAnotherTerm(RidgeRanker):
        def predict(self, X):
            return super().predict(X) + 0.1

    ranker = WithAnotherTerm(song_features=NUMBERS).fit(X_TRAIN)
    with pytest.raises(ValueError, match=r"must add up to the score; got .* of WithAnotherTerm"):
        explain(ranker, X_TRAIN.iloc[:3])


@pytest.mark.parametrize("top", [0, -1, 1.5, "all"])
def test_top_is_checked(top):
    with pytest.raises(ValueError, match="`top` must be an integer of 1 or more"):
        explain(FITTED["ridge"], X_TRAIN.iloc[:1], top=top)


def test_other_rankers_are_refused():
    with pytest.raises(TypeError, match="weights of their features"):
        explain(PopularityRanker().fit(X_TRAIN), X_TRAIN)
