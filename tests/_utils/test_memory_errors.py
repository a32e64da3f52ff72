"""What is said when features or weights do not fit memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

from skmtc import MatrixFactorizationRanker, MultitaskPlaylistRanker, PopularityRanker
from skmtc.rankers import _matrix_factorization

N = 40
X = pd.DataFrame(
    {
        "user": [f"u{i // 8}" for i in range(N)],
        "playlist": [f"p{i // 4}" for i in range(N)],
        "song": [f"s{i}" for i in range(N)],
        "genre": [f"g{i % 3}" for i in range(N)],
        "label": [f"l{i % 20}" for i in range(N)],
        "unused": [f"x{i}" for i in range(N)],
        "country": [f"c{i // 8}" for i in range(N)],
    }
)


class Huge(OneHotEncoder):
    """An encoder whose array no machine has room for."""

    def fit_transform(self, X, y=None):  # noqa: ARG002
        """Ask numpy for it."""
        return np.zeros((len(X), 2**50))


HUGE = make_column_transformer((Huge(), ["genre", "label"]))
PLAIN = make_column_transformer((OneHotEncoder(), ["genre"]))


def test_features_name_the_array_and_the_columns():
    ranker = MultitaskPlaylistRanker(song_features=HUGE)
    with pytest.raises(MemoryError) as reported:
        ranker.fit(X)
    message = str(reported.value)
    assert "The features of 40 rows must fit memory; got 'Unable to allocate" in message
    assert f"shape (40, {2**50})" in message
    assert "in ColumnTransformer of `song_features`" in message
    assert "'label' (20), 'genre' (3)." in message  # and no column that is not used
    assert "TagEncoder(n_components=64)" in message
    assert not hasattr(ranker, "song_features_")


def test_attributes_of_users_are_reported_as_such():
    huge = make_column_transformer((Huge(), ["country"]))
    ranker = MultitaskPlaylistRanker(song_features=PLAIN, user_features=huge)
    with pytest.raises(MemoryError, match=r"of `user_features`\. .*'country' \(5\)"):
        ranker.fit(X)


def test_features_of_new_songs(monkeypatch):
    ranker = MultitaskPlaylistRanker(song_features=PLAIN, tol=0.1).fit(X)

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(OneHotEncoder, "transform", fail)
    with pytest.raises(MemoryError, match=r"got no memory for more in ColumnTransformer"):
        ranker.predict(X.head(2).assign(song=["new", "newer"]))


def test_a_fit_names_its_largest_arrays(monkeypatch):
    def fail(*_, **__):
        raise MemoryError("Unable to allocate 9.00 GiB")

    monkeypatch.setattr(_matrix_factorization.MatrixFactorizationRanker, "_als", fail)
    ranker = MatrixFactorizationRanker(n_factors=2**22, content_model=None)
    with pytest.raises(MemoryError) as reported:
        ranker.fit(X)
    message = str(reported.value)
    assert "MatrixFactorizationRanker must fit memory; got 'Unable to allocate 9.00 GiB'" in message
    assert "40 songs x 4,194,304 features (1.2 GiB)" in message
    assert "5 users x 4,194,304 features (160 MiB)" in message


def test_tables_without_names(monkeypatch):
    monkeypatch.setattr(PopularityRanker, "_fit_popularity", Huge.fit_transform)
    ranker = PopularityRanker(artist=None)
    with pytest.raises(TypeError):  # other errors stay as they are
        ranker.fit(X)
    array = np.column_stack([np.arange(8) // 2, np.arange(8) // 2, np.arange(8), np.arange(8)])
    huge = make_column_transformer((Huge(), [3]))
    with pytest.raises(MemoryError, match=r"in ColumnTransformer of `song_features`\. Encode"):
        MultitaskPlaylistRanker(song_features=huge, user=0, playlist=1, song=2).fit(array)
