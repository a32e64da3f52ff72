"""Artists of songs, for the history term of artists."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skmtc.rankers.history._song_artists import append_song_artists, artist_codes, read_artists

SONGS = pd.DataFrame({"artist": ["b", None, "a", "b"]})


def test_codes_are_positions_among_sorted_artists():
    artists, codes = read_artists(SONGS, "artist")
    assert artists.tolist() == ["a", "b"]
    assert codes.tolist() == [1, -1, 0, 1]


def test_no_artist_at_all_is_fine_but_no_column_is_not():
    artists, codes = read_artists(SONGS.assign(artist=None), "artist")
    assert len(artists) == 0
    assert codes.tolist() == [-1] * 4
    with pytest.raises(ValueError, match="needs a column of artists; got no column 'singer'"):
        read_artists(SONGS, "singer")


def test_new_songs_have_codes_of_known_artists():
    new = pd.DataFrame({"artist": ["b", "c", None]})
    assert artist_codes(new, "artist", np.array(["a", "b"], dtype=object)).tolist() == [1, -1, -1]
    assert artist_codes(new[[]], "artist", np.array(["a"], dtype=object)).tolist() == [-1] * 3


@pytest.mark.parametrize("column", [["c", "b"], None])
def test_appended_artists_follow_the_known_ones(column):
    artists, codes = read_artists(SONGS, "artist")
    rows = pd.DataFrame(index=[0, 1]) if column is None else pd.DataFrame({"artist": column})
    # The first two songs are new, the others those of before, in another order.
    appended = SimpleNamespace(song_source=np.array([-1, -1, 3, 2, 1, 0]), song_rows=rows)
    artists, codes = append_song_artists(artists, codes, appended, "artist")
    expected = ["a", "b"] if column is None else ["a", "b", "c"]
    assert list(artists) == expected
    first = [-1, -1] if column is None else [2, 1]
    assert codes.tolist() == [*first, 1, 0, -1, 1]
