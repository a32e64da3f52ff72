"""What all encoders share: tables of any kind in, numbers with names out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler

from skmtc.features import (
    ArtistEmbedding,
    ArtistPopularityEncoder,
    GenreEncoder,
    PopularityEncoder,
    SongEmbedding,
)

ENCODERS = [
    PopularityEncoder(),
    ArtistPopularityEncoder(),
    GenreEncoder(),
    ArtistEmbedding(vector_size=3, random_state=0),
    SongEmbedding(vector_size=3, random_state=0),
]


@pytest.fixture(params=ENCODERS, ids=lambda encoder: type(encoder).__name__)
def encoder(request):
    return clone(request.param)


@pytest.fixture
def songs():
    return pd.DataFrame({"name": ["b", "a", "b", "c"], "year": [2000.0, 1990.0, 2010.0, 1980.0]})


@pytest.fixture
def membership():
    return csr_array([[1, 2, 0], [2, 0, 1], [3, 1, 0], [0, 0, 2]])


def test_columns_are_encoded_one_by_one(encoder, songs, membership):
    both = encoder.fit_transform(songs, membership)
    names = encoder.get_feature_names_out().tolist()
    blocks = [clone(encoder).fit(songs[[c]], membership) for c in songs]
    own = np.hstack([one.transform(songs[[c]]) for one, c in zip(blocks, songs, strict=True)])
    np.testing.assert_array_equal(both, own)
    assert names == [name for one in blocks for name in one.get_feature_names_out()]
    assert len(names) == both.shape[1]


def test_in_a_column_transformer(encoder, songs, membership):
    expected = clone(encoder).fit_transform(songs[["name"]], membership)
    parts = [("name", encoder, ["name"]), ("rest", "passthrough", ["year"])]
    transformer = ColumnTransformer(parts).set_output(transform="pandas")
    features = transformer.fit_transform(songs, membership)
    np.testing.assert_array_equal(features.iloc[:, :-1], expected)
    np.testing.assert_array_equal(transformer.transform(songs), features)
    assert all(name.startswith("name__name_") for name in features.columns[:-1])


def test_in_a_pipeline(encoder, songs, membership):
    pipeline = Pipeline([("encode", encoder), ("scale", StandardScaler())])
    features = pipeline.fit_transform(songs[["name"]], membership)
    expected = clone(encoder).fit_transform(songs[["name"]], membership)
    np.testing.assert_allclose(features, StandardScaler().fit_transform(expected))
    assert len(pipeline.get_feature_names_out()) == features.shape[1]


def test_in_a_feature_union(encoder, songs, membership):
    union = FeatureUnion([("one", encoder), ("two", clone(encoder))])
    features = union.fit_transform(songs[["name"]], membership)
    expected = clone(encoder).fit_transform(songs[["name"]], membership)
    np.testing.assert_array_equal(features, np.hstack([expected, expected]))


def test_all_kinds_of_tables_agree(encoder, songs, membership):
    strings = songs[["name"]]
    expected = encoder.fit_transform(strings, membership)
    for table in (
        strings.to_numpy(dtype=object),
        strings.to_numpy(dtype=str),
        strings.astype("category"),
        strings.astype("string"),
        pl.DataFrame({"name": songs["name"].tolist()}),
    ):
        np.testing.assert_array_equal(clone(encoder).fit_transform(table, membership), expected)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_values_are_not_ids(encoder, songs, membership, missing):
    with_missing = pd.DataFrame({"name": ["b", "a", "b", missing]}, dtype=object)
    features = encoder.fit(with_missing, membership).transform(with_missing)
    assert np.isfinite(features).all()
    new = encoder.transform(pd.DataFrame({"name": ["never seen"]}))
    np.testing.assert_array_equal(features[3], new[0])
    array = clone(encoder).fit(with_missing.to_numpy(), membership)
    np.testing.assert_array_equal(array.transform(with_missing.to_numpy()), features)


def test_whole_numbers_are_found_among_floats(encoder, membership):
    encoder.fit(pd.DataFrame({"name": [3, 1, 3, 2]}), membership)
    known = encoder.transform(pd.DataFrame({"name": [3, 2]}))
    with_missing = encoder.transform(pd.DataFrame({"name": [3.0, 2.0, np.nan]}))
    np.testing.assert_array_equal(with_missing[:2], known)


def test_a_second_fit_forgets_the_first(encoder, songs, membership):
    again = clone(encoder).fit(songs, membership).fit(songs[["name"]], membership)
    once = encoder.fit(songs[["name"]], membership)
    np.testing.assert_array_equal(again.transform(songs[["name"]]), once.transform(songs[["name"]]))


def test_wrong_tables(encoder, songs, membership):
    with pytest.raises(NotFittedError):
        encoder.transform(songs)
    with pytest.raises(ValueError, match="one row per song"):
        encoder.fit(songs, membership.T)
    encoder.fit(songs, membership)
    with pytest.raises(ValueError, match=r"[Ff]eature names"):
        encoder.transform(songs.rename(columns={"name": "other"}))
    with pytest.raises(ValueError, match="input_features"):
        encoder.get_feature_names_out(["only one"])
