"""Small tables whose results can be worked out by hand, shared by tests."""

import pandas as pd

ARTIST_OF_SONG = {"s1": "a1", "s2": "a1", "s3": "a2", "s4": "a3", "s5": "a3"}


def five_songs():
    """Return five songs by three artists in five playlists of three users.

    ======== ================ =========== =================
    playlist songs            artists     artists of user
    ======== ================ =========== =================
    gym, run s1 s3 and s1     a1 a2; a1   ana: a1 a2
    tea      s3 s4            a2 a3       bob: a2 a3
    bed, sun s4 s5 and s2     a3; a1      eve: a1 a3
    ======== ================ =========== =================

    Songs are in 2, 1, 2, 2, 1 playlists; so artists are 3, 2, 3 times. Playlists that hold both:
    a1 a1 3 (gym run sun), a2 a2 2, a3 a3 2, a1 a2 1 (gym), a2 a3 1 (tea), a1 a3 none.
    """
    rows = [
        ("ana", "gym", "s1"),
        ("ana", "gym", "s3"),
        ("ana", "run", "s1"),
        ("bob", "tea", "s3"),
        ("bob", "tea", "s4"),
        ("eve", "bed", "s4"),
        ("eve", "bed", "s5"),
        ("eve", "sun", "s2"),
    ]
    X = pd.DataFrame(rows, columns=["user", "playlist", "song"])
    return X.assign(artist=X["song"].map(ARTIST_OF_SONG))


def new_songs():
    """Return a new song of each artist of `five_songs`, of an unknown one and of none."""
    return pd.DataFrame(
        {"song": ["n1", "n2", "n3", "n4", "n5"], "artist": ["a1", "a2", "a3", "a9", None]}
    )


def scores_of(ranker, query, songs=None):
    """Return the scores of songs (all known ones, or a table) for one query, in their order."""
    queries = pd.DataFrame([query])
    vectors = ranker.song_vectors(songs) @ ranker.query_vectors(queries).T
    dense = vectors.toarray() if hasattr(vectors, "toarray") else vectors
    return dense.ravel().tolist()
