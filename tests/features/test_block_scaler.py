"""BlockScaler."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.compose import ColumnTransformer

from skmtc.features import BlockScaler


@pytest.mark.parametrize("n_columns", [1, 5, 200])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_every_block_gets_the_same_length(n_columns, size):
    X = size * (7 + np.random.default_rng(0).standard_normal((100, n_columns)))
    scaled = BlockScaler(length=2.0).fit_transform(X)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)
    assert np.sqrt((scaled**2).sum(axis=1).mean()) == pytest.approx(2.0)
    # One factor for all: proportions within the block stay.
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(scaled * centred[0, 0], centred * scaled[0, 0], rtol=1e-6)


def test_rows_of_zeros_are_neutral_and_do_not_count():
    X = np.random.default_rng(0).standard_normal((50, 3)) + 5
    alone = BlockScaler().fit(X)
    with_unknown = BlockScaler().fit(np.vstack([X, np.zeros((50, 3))]))
    np.testing.assert_allclose(alone.mean_, with_unknown.mean_)
    assert alone.scale_ == pytest.approx(with_unknown.scale_)
    np.testing.assert_array_equal(alone.transform(np.zeros((2, 3))), 0)


def test_missing_values_are_neutral():
    X = np.array([[1.0, 5.0], [3.0, np.nan], [np.nan, 7.0]])
    scaled = BlockScaler().fit_transform(X)
    assert scaled[1, 1] == scaled[2, 0] == 0
    np.testing.assert_allclose(scaled[:, 0] / scaled[1, 0], [-1, 1, 0])


def test_sparse_blocks_stay_sparse():
    X = csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    scaler = BlockScaler(length=1.0).fit(X)
    scaled = scaler.transform(X)
    assert issparse(scaled)
    np.testing.assert_allclose(scaled.toarray(), X.toarray() / np.sqrt(2.5))
    assert scaler.mean_ is None
    np.testing.assert_allclose(scaler.transform(X.toarray()), scaled.toarray())
    assert scaler.fit_transform(csr_array((3, 0))).shape == (3, 0)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_a_constant_block_becomes_zero(value):
    scaled = BlockScaler().fit_transform(np.full((7, 2), value))
    np.testing.assert_allclose(scaled, 0, atol=1e-6)


def test_weights_of_blocks_are_those_of_a_column_transformer():
    X = np.random.default_rng(0).standard_normal((40, 4))
    blocks = [("a", BlockScaler(), [0]), ("b", BlockScaler(), [1, 2, 3])]
    weighted = ColumnTransformer(blocks, transformer_weights={"b": 0.5}).fit_transform(X)
    lengths = [(weighted[:, part] ** 2).sum(axis=1).mean() for part in (slice(0, 1), slice(1, 4))]
    np.testing.assert_allclose(lengths, [9.0, 9.0 / 4])


def test_wrong_length():
    with pytest.raises(ValueError, match="`length` must be a number above 0; got 0"):
        BlockScaler(length=0).fit([[1.0]])
