"""The most important features of all users, a user or a playlist."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from skmtc._table import shown
from skmtc._table.queries import Queries
from skmtc._utils.validation import check_choice, check_number
from skmtc.inspection._score_decomposition import WEIGHTS, check_has_weights, last_step, weights_of


def top_features(
    ranker: Any, *, user: Any = None, playlist: Any = None, n: int = 10, by: str = "total"
) -> pd.DataFrame:
    """List the features with the most important weights.

    Features have different units, so weights cannot be compared. The effect of a feature is
    its weight times its standard deviation over the training catalogue: how much it spreads the
    scores of songs. The constant feature has no effect, as it is the same for all songs.

    Parameters
    ----------
    ranker : estimator
        Fitted ranker with weights of features, such as `MultitaskPlaylistRanker`, or Pipeline or
        search that ends in one.

    user : id or None, default=None
        A user known from training. None: the owner of `playlist`; without either, the weights are
        those of all.

    playlist : id or None, default=None
        A playlist known from training.

    n : int, default=10
        Number of features to return; all if there are fewer.

    by : {"total", "shared", "user", "playlist"}, default="total"
        Weights to sort by: with "user", the list shows how the user differs from
        all.

    Returns
    -------
    features : DataFrame
        One row per feature, the largest effect first, with its name as index and columns "shared",
        "user" (if a user or playlist is asked for), "playlist" (if a playlist is), which are the
        parts of its weight; "total", their sum; "deviation", the feature's standard deviation;
        and "effect", the weight that was asked for by `by` times the deviation.

    See Also
    --------
    explain : Contributions to the score of a song.

    Examples
    --------
    The ridge weights of the gym playlist are 2 / (16 + 0.04) of tempo and 0.1 / (0.04 + 0.04) of
    year. Year has the larger one, but all songs are of nearly the same year:

    >>> import pandas as pd
    >>> from skmtc import RidgeRanker
    >>> from skmtc.inspection import top_features
    >>> X = pd.DataFrame({
    ...     "user": ["ana", "bob", "bob", "bob"],
    ...     "playlist": ["gym", "bed", "bed", "bed"],
    ...     "song": ["s1", "s2", "s3", "s4"],
    ...     "tempo": [2.0, 2.0, -2.0, -2.0],
    ...     "year": [0.1, -0.1, 0.1, -0.1],
    ... })
    >>> ranker = RidgeRanker(l2=0.01).fit(X)
    >>> features = top_features(ranker, user="ana", n=2)
    >>> features[["total", "deviation", "effect"]].round(3).reset_index()
      feature  total  deviation  effect
    0   tempo  0.125        2.0   0.249
    1    year  1.250        0.1   0.125
    """
    ranker = last_step(ranker)
    check_has_weights(ranker)
    check_number("n", n, at_least=1, whole=True)
    query, asked = _query(ranker, user, playlist)
    check_choice("by", by, (*asked, "total"))
    table = pd.DataFrame(
        {name: values[0] for name, values in weights_of(ranker, query).items() if name in asked},
        index=pd.Index(ranker.feature_names_out_, name="feature"),
    )
    table["total"] = table.sum(axis=1)
    table["deviation"] = _deviations(ranker.song_vectors_)
    table["effect"] = table[by] * table["deviation"]
    order = np.argsort(-table["effect"].abs().to_numpy(), kind="stable")
    return table.iloc[order[:n]]


def _query(ranker, user, playlist):
    """Return the query of known ids, and the names of the parts that it has."""
    user_code = -1 if user is None else _code(ranker, "user", user)
    playlist_code = -1 if playlist is None else _code(ranker, "playlist", playlist)
    if playlist is not None:
        owner = ranker.user_of_playlist_[playlist_code]
        if user is not None and owner != user_code:
            raise ValueError(
                f"The playlist must belong to the user; got playlist {shown(playlist)} of user "
                f"{shown(ranker.users_[owner])} and user={shown(user)}. Leave out `user`, or name "
                "the owner."
            )
        user_code = owner
    query = Queries(np.array([user_code]), np.array([playlist_code]), pd.DataFrame(index=[0]))
    return query, WEIGHTS[: 3 if playlist is not None else 2 if user is not None else 1]


def _code(ranker, role, value):
    code = ranker.reader.codes(role, [value])[0]
    if code < 0:
        known = getattr(ranker, f"{role}s_")
        raise ValueError(
            f"`{role}` must be one of the {len(known)} {role}s seen in fit; got {shown(value)}. "
            f"Known are e.g. {', '.join(map(shown, known[:3]))}."
        )
    return code


def _deviations(vectors):
    """Return the standard deviation of each feature over songs."""
    if not issparse(vectors):
        return np.std(vectors, axis=0, dtype=np.float64)
    mean = np.asarray(vectors.mean(axis=0, dtype=np.float64)).ravel()
    squares = np.asarray(vectors.power(2).mean(axis=0, dtype=np.float64)).ravel()
    return np.sqrt(np.maximum(squares - mean**2, 0.0))
