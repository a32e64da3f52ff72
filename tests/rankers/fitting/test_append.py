"""What a table adds: as if it had been there from the start."""

import numpy as np
import pandas as pd
import pytest

from skmtc import MultitaskPlaylistRanker
from skmtc.rankers.fitting._append import append_rows, append_table

LEFT_OUT = "ignore:Left out of fit"


def _draw(rng, *, n_rows, n_songs=12, n_playlists=8, n_users=4):
    """Sample rows with repeats; the owner and the feature follow from the ids."""
    playlist = rng.integers(n_playlists, size=n_rows)
    song = rng.integers(n_songs, size=n_rows)
    return pd.DataFrame(
        {
            "user": [f"u{p % n_users}" for p in playlist],
            "playlist": [f"p{p}" for p in playlist],
            "song": song * 10,
            "tempo": np.sin(song + 1.0),
        }
    )


def _fit(X, **parameters):
    return MultitaskPlaylistRanker(**parameters).fit(X)


def _assert_same_tables(extension, ranker):
    for role in ("song", "playlist", "user"):
        ids = getattr(extension, f"{role}s").values
        np.testing.assert_array_equal(ids, getattr(ranker, f"{role}s_"))
        assert ids.dtype == getattr(ranker, f"{role}s_").dtype
    np.testing.assert_array_equal(extension.user_of_playlist, ranker.user_of_playlist_)
    np.testing.assert_array_equal(extension.membership.toarray(), ranker.membership_.toarray())
    assert extension.membership.has_sorted_indices
    assert extension.membership.dtype == ranker.membership_.dtype


@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("user", ["user", None])
def test_tables_are_those_of_a_fit_to_all_rows(seed, user):
    rng = np.random.default_rng(seed)
    first, second = _draw(rng, n_rows=15), _draw(rng, n_rows=rng.integers(1, 30))
    if user is None:
        first, second = first.drop(columns="user"), second.drop(columns="user")
    ranker = _fit(first, user=user)
    extension = append_table(ranker, second)
    together = _fit(pd.concat([first, second]), user=user)
    _assert_same_tables(extension, together)
    n_repeated = ranker.left_out_["repeated rows"] + extension.left_out["repeated rows"]
    assert n_repeated == together.left_out_["repeated rows"]
    for role in ("song", "playlist", "user"):
        source = getattr(extension, f"{role}_source")
        known = getattr(extension, f"{role}s").values[source >= 0]
        np.testing.assert_array_equal(known, getattr(ranker, f"{role}s_")[source[source >= 0]])
    new = extension.songs.values[extension.song_source < 0]
    np.testing.assert_array_equal(extension.song_rows["song"], new)


def test_new_songs_follow_those_that_a_playlist_has():
    X = pd.DataFrame({"user": 1, "playlist": 1, "song": [5, 3], "tempo": [1.0, 2.0]})
    other = pd.DataFrame({"user": 2, "playlist": 2, "song": [9], "tempo": [3.0]})
    ranker = _fit(pd.concat([X, other]))
    more = pd.DataFrame({"user": 1, "playlist": 1, "song": [4, 5, 7], "tempo": [0.0, 1.0, 4.0]})
    extension = append_table(ranker, more)
    assert extension.songs.values.tolist() == [3, 4, 5, 7, 9]
    assert extension.membership.toarray().tolist() == [[2, 3, 1, 4, 0], [0, 0, 0, 0, 1]]
    assert extension.left_out == {"repeated rows": 1, "playlists with every song": 0}
    assert extension.named_users.tolist() == [0]
    assert extension.song_source.tolist() == [0, -1, 1, -1, 2]


def test_a_playlist_that_becomes_full_is_left_out_with_its_user():
    X = pd.DataFrame(
        {"user": [1, 2, 2], "playlist": [1, 2, 2], "song": [1, 1, 2], "tempo": [0.0, 0.0, 1.0]}
    )
    X = pd.concat([X, X.assign(user=3, playlist=3, song=3, tempo=2.0)]).drop_duplicates()
    ranker = _fit(X)
    rest = pd.DataFrame({"user": 2, "playlist": 2, "song": [3], "tempo": [2.0]})
    extension = append_table(ranker, rest)
    assert extension.playlists.values.tolist() == [1, 3]
    assert extension.users.values.tolist() == [1, 3]
    assert extension.user_of_playlist.tolist() == [0, 1]
    assert extension.named_users.tolist() == []
    assert extension.left_out["playlists with every song"] == 1


def test_a_playlist_keeps_its_owner():
    X = _draw(np.random.default_rng(0), n_rows=20).drop_duplicates()
    ranker = _fit(X)
    with pytest.raises(ValueError, match="must keep its owner"):
        append_table(ranker, X.iloc[[0]].assign(user="somebody else"))
    two = pd.concat([X.iloc[[0]]] * 2).assign(playlist="new", user=["u0", "u1"])
    with pytest.raises(ValueError, match="must have one owner"):
        append_table(ranker, two)


def test_ids_are_of_the_same_type_as_in_fit():
    X = _draw(np.random.default_rng(0), n_rows=20).drop_duplicates()
    with pytest.raises(TypeError, match="song ids must be of the same type"):
        append_table(_fit(X), X.assign(song=X["song"].astype(str)))


def test_whole_and_fractional_ids_mix():
    X = _draw(np.random.default_rng(0), n_rows=20).drop_duplicates()
    extension = append_table(_fit(X), X.iloc[[0]].assign(song=15.5, tempo=1.0))
    assert 15.5 in extension.songs.values.tolist()
    assert (np.diff(extension.songs.values) > 0).all()


def test_rows_join_in_their_places():
    joined = append_rows(np.array([1, -1, 0]), np.array([[1.0], [2.0]]), 0.0)
    assert joined.tolist() == [[2.0], [0.0], [1.0]]
