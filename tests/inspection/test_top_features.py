"""The most telling features, in the order of their effects."""

import numpy as np
import pytest
from cold_rows import COUNTRIES, NUMBERS, SPARSE, X_TRAIN
from sklearn.pipeline import make_pipeline

from skmtc import MultitaskPlaylistRanker, PopularityRanker
from skmtc.inspection import top_features

FITTED = MultitaskPlaylistRanker(
    playlist_l1=0.1, song_features=NUMBERS, user_features=COUNTRIES
).fit(X_TRAIN)
PLAYLIST = FITTED.playlists_[4]
OWNER = FITTED.users_[FITTED.user_of_playlist_[4]]


def test_the_weights_of_all():
    table = top_features(FITTED)
    assert table.index.name == "feature"
    assert table.columns.tolist() == ["shared", "total", "deviation", "effect"]
    assert set(table.index) == set(FITTED.feature_names_out_)
    coef = dict(zip(FITTED.feature_names_out_, FITTED.shared_coef_, strict=True))
    np.testing.assert_allclose(table["total"], [coef[name] for name in table.index])


@pytest.mark.parametrize("by", ["total", "shared", "user", "playlist"])
def test_the_largest_effects_come_first(by):
    table = top_features(FITTED, playlist=PLAYLIST, by=by)
    assert (np.diff(table["effect"].abs()) <= 0).all()
    np.testing.assert_allclose(table["effect"], table[by] * table["deviation"])


def test_parts_add_up_to_the_vector_of_the_query():
    for ids in ({"user": OWNER}, {"playlist": PLAYLIST}, {"user": OWNER, "playlist": PLAYLIST}):
        table = top_features(FITTED, **ids).loc[FITTED.feature_names_out_]
        parts = [c for c in table.columns if c in ("shared", "user", "playlist")]
        assert parts == ["shared", "user", "playlist"][: 3 if "playlist" in ids else 2]
        np.testing.assert_allclose(table[parts].sum(axis=1), table["total"], atol=1e-12)
        query = X_TRAIN[X_TRAIN["playlist"] == PLAYLIST].iloc[[0]]
        if "playlist" not in ids:
            query = query[["user"]]
        np.testing.assert_allclose(table["total"], FITTED.query_vectors(query)[0], atol=1e-12)


def test_the_constant_feature_tells_nothing():
    table = top_features(FITTED, user=OWNER)
    assert table.loc["constant", "effect"] == 0
    assert table.index[-1] == "constant"


def test_deviations_are_those_of_the_catalogue_dense_or_sparse():
    songs = X_TRAIN.drop_duplicates("song")
    dense = top_features(FITTED)["deviation"]
    sparse = MultitaskPlaylistRanker(song_features=SPARSE).fit(X_TRAIN)
    names = [name for name in sparse.feature_names_out_ if name.endswith(("__x0", "__x1"))]
    of_sparse = top_features(sparse, n=100)["deviation"][names]
    for name, prefix in (("x0", "passthrough__x0"), ("x1", "passthrough__x1")):
        assert dense[prefix] == pytest.approx(songs[name].std(ddof=0))
        assert of_sparse[prefix] == pytest.approx(songs[name].std(ddof=0))


def test_n_limits_the_list():
    assert len(top_features(FITTED, n=2)) == 2
    assert top_features(FITTED, n=2).index.tolist() == top_features(FITTED).index[:2].tolist()
    with pytest.raises(ValueError, match="`n` must be an integer of 1 or more; got 0"):
        top_features(FITTED, n=0)


def test_pipelines_end_in_a_ranker():
    pipeline = make_pipeline("passthrough", FITTED)
    assert top_features(pipeline).equals(top_features(FITTED))


def test_unknown_ids_are_reported():
    with pytest.raises(ValueError, match=r"`user` must be one of the \d+ users .* got 'nobody'"):
        top_features(FITTED, user="nobody")
    with pytest.raises(ValueError, match="`playlist` must be one of"):
        top_features(FITTED, playlist="none")


def test_a_playlist_belongs_to_its_user():
    stranger = next(user for user in FITTED.users_ if user != OWNER)
    with pytest.raises(ValueError, match="must belong to the user"):
        top_features(FITTED, user=stranger, playlist=PLAYLIST)


def test_only_parts_that_are_asked_for_can_order_the_list():
    with pytest.raises(ValueError, match="`by` must be one of"):
        top_features(FITTED, by="user")


def test_other_rankers_are_refused():
    with pytest.raises(TypeError, match="weights of their features"):
        top_features(PopularityRanker().fit(X_TRAIN))
