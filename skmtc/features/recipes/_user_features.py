"""User features whose cosine is the similarity of users."""

from typing import Any

from sklearn.compose import ColumnTransformer

from skmtc._typing import Columns, Seed
from skmtc.features._tags import TagEncoder
from skmtc.features.recipes._scaling import scaled_numbers
from skmtc.features.roles import UserRoles, guess_user_roles, is_auto

# Dimensions of a column of names: cities beyond the 64 most frequent ones are rarely shared.
MOST_COMPONENTS = 64


def make_user_features(
    columns: Any = None,
    *,
    numeric: Columns = "auto",
    categorical: Columns = "auto",
    clip: float = 4.0,
    min_frequency: float | None = 1,
    random_state: Seed = None,
) -> ColumnTransformer:
    """Make a transformer of user attributes such as age, gender and country.

    A new user is scored with the weights of the most similar known users, and similarity is the
    cosine of these features. All attributes therefore have similar sizes, and a missing one is 0,
    so that it adds nothing to the product of two users.

    - Numbers (age) are standardised and clipped; missing values become the mean, which is 0.
    - Names (gender, country, city, tags) are encoded by `TagEncoder` as vectors of unit length,
      with one dimension per name or, of a column with more than 64 names, the 64 leading ones.
      A name that is missing or new is a vector of zeros.

    Parameters
    ----------
    columns : DataFrame, list of str, UserRoles or None, default=None
        Where roles that are not given come from: guessed from the types of a table (with one row
        per user, or a membership table), from names alone, or as they are in `UserRoles`. None: all
        roles are given, by name or by position.

    numeric : list, str, int or None, default="auto"
        Columns of numbers. "auto" stands for what `guess_user_roles` finds, None for none.

    categorical : list, str, int or None, default="auto"
        Columns of names, one or several in a cell.

    clip : float, default=4.0
        Standardised numbers are clipped at plus and minus this. The lower, the less they count
        beside the names.

    min_frequency : int or float, default=1
        Names of fewer users than this are ignored. A float is a share of the users.

    random_state : int, RandomState instance or None, default=None
        Seed of the reduction of columns with many names.

    Returns
    -------
    transformer : ColumnTransformer
        To be passed as `user_features`, with the parts ``numeric`` and ``categorical``.

    See Also
    --------
    guess_user_roles : The guess about columns, to be read and changed.
    make_song_features : The same for songs.

    Examples
    --------
    The mean age is 30 with standard deviation 10; the third user does not tell a country.

    >>> import pandas as pd
    >>> from skmtc.features import make_user_features
    >>> users = pd.DataFrame({
    ...     "user": ["ana", "bob", "eve", "joe"],
    ...     "age": [20, 40, 20, 40],
    ...     "country": ["AU", "AU", None, "DE"],
    ... })
    >>> features = make_user_features(users)
    >>> features.fit_transform(users)
    array([[-1.,  1.,  0.],
           [ 1.,  1.,  0.],
           [-1.,  0.,  0.],
           [ 1.,  0.,  1.]])
    >>> features.get_feature_names_out().tolist()
    ['numeric__age', 'categorical__country_AU', 'categorical__country_DE']
    """
    roles = _roles(columns, {"numeric": numeric, "categorical": categorical})
    encoder = TagEncoder(
        min_frequency=min_frequency, n_components=MOST_COMPONENTS, random_state=random_state
    )
    parts = [
        ("numeric", scaled_numbers(clip), roles.numeric),
        ("categorical", encoder, roles.categorical),
    ]
    parts = [part for part in parts if part[2]]
    if not parts:
        raise ValueError(
            f"User features need at least one column with a role; got none: {roles!r}. Name the "
            "columns to use with `numeric` or `categorical`, or pass user_features=None to the "
            "ranker where nothing is known of users."
        )
    return ColumnTransformer(parts, sparse_threshold=0)


def _roles(columns, given):
    if isinstance(columns, UserRoles):
        own = {"numeric": columns.numeric, "categorical": columns.categorical}
        given = {role: own[role] if is_auto(name) else name for role, name in given.items()}
        columns = None
    return guess_user_roles(columns, **given)
