"""A training table, and rows to score that are known and new in every way, shared by tests."""

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

from skmtc.datasets import make_playlists

COLUMNS = ["user", "playlist", "song", "x0", "x1", "x2", "age", "country"]
NUMBERS = make_column_transformer(("passthrough", ["x0", "x1", "x2"]))
# One column of ones per song and a few numbers, as a sparse matrix.
SPARSE = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["song"]),
    ("passthrough", ["x0", "x1"]),
    sparse_threshold=1.0,
)
COUNTRIES = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["country"]))

X_ALL = make_playlists(12, 36, 70, 15, n_features=3, random_state=3)[COLUMNS]
_NEW_USERS = X_ALL["user"].unique()[::5]
_NEW_SONGS = np.sort(X_ALL["song"].unique())[::6]
_OTHERS = X_ALL[~X_ALL["user"].isin(_NEW_USERS)].drop_duplicates("playlist")
# Never the first playlist of a user, so that the user stays known.
_NEW_PLAYLISTS = _OTHERS.loc[_OTHERS["user"].duplicated(), "playlist"].iloc[::4]
_IS_NEW = {
    "user": X_ALL["user"].isin(_NEW_USERS),
    "playlist": X_ALL["playlist"].isin(_NEW_PLAYLISTS),
    "song": X_ALL["song"].isin(_NEW_SONGS),
}
_ANY_NEW = np.logical_or.reduce(list(_IS_NEW.values()))

X_TRAIN = X_ALL[~_ANY_NEW].reset_index(drop=True)

# Rows by what is new; new users with an attribute that somebody has, and with one that nobody has.
COLD_ROWS = {
    "nothing": X_TRAIN.iloc[::9],
    "song": X_ALL[_IS_NEW["song"] & ~_IS_NEW["user"] & ~_IS_NEW["playlist"]],
    "playlist": X_ALL[_IS_NEW["playlist"] & ~_IS_NEW["song"]],
    "user": X_ALL[_IS_NEW["user"] & ~_IS_NEW["song"]],
    "user like nobody": X_ALL[_IS_NEW["user"]].assign(country="nowhere"),
    "everything": X_ALL[_IS_NEW["user"] & _IS_NEW["song"]],
}
