"""The table that ships with the package."""

from importlib.resources import as_file, files

from sklearn.utils import Bunch

from skmtc.datasets._tables import read_table

SAMPLE_FILE = "sample_playlists.csv.gz"
DESCRIPTION = (
    "Generated playlists: 800 playlists of 200 users, made by make_playlists with the seed 2011. "
    "No real user, artist or song stands behind them."
)


def load_sample() -> Bunch:
    """Load the small generated table that ships with the package.

    Returns
    -------
    bunch : Bunch
        `X`, the membership table with the columns of :func:`make_playlists`; `songs` and `users`,
        tables by id; `dropped` and `repaired`, both empty; `DESCR`.

    Examples
    --------
    >>> from skmtc.datasets import load_sample
    >>> bunch = load_sample()
    >>> bunch.X["user"].nunique(), bunch.X["playlist"].nunique()
    (200, 800)
    """
    with as_file(files("skmtc.datasets") / "data" / SAMPLE_FILE) as path:
        X = read_table(path)
    user_columns = ["age", "gender", "country"]
    songs = X.drop(columns=["user", "playlist", *user_columns]).drop_duplicates("song")
    users = X[["user", *user_columns]].drop_duplicates("user")
    return Bunch(
        X=X,
        songs=songs.set_index("song"),
        users=users.set_index("user"),
        dropped={},
        repaired={},
        DESCR=DESCRIPTION,
    )
