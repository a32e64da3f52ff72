"""User features whose cosine says how alike users are."""

from sklearn.compose import ColumnTransformer

from skmtc.features._genre import GenreEncoder
from skmtc.features._roles import is_auto
from skmtc.features._scaling import scaled_numbers
from skmtc.features._user_roles import UserRoles, guess_user_roles


def make_user_features(
    columns=None, *, numeric="auto", categorical="auto", clip=4.0, min_frequency=None
):
    """Make a transformer of user attributes such as age, gender and country.

    A new user is ranked for by the weights of the most similar known users, and similarity is the
    cosine of these features. So all attributes must be of like size, and a missing one must not
    make users alike or unlike:

    - numbers (age) get medians for missing values, are standardised and clipped;
    - names (gender, country) are encoded one-hot; where a name is missing or new, each name
      counts by its frequency among the known users.

    Parameters
    ----------
    columns : DataFrame, list of str, UserRoles or None, default=None
        Where roles that are not given come from: guessed from the types of a table (with one row
        per user, or a membership table), from names alone, or as they are in `UserRoles`. None: all
        roles are given, by name or by position.

    numeric : list, str, int or None, default="auto"
        Columns of numbers. "auto" stands for what `guess_user_roles` finds, None for none.

    categorical : list, str, int or None, default="auto"
        Columns of names.

    clip : float, default=4.0
        Standardised numbers are clipped at plus and minus this. The lower, the less they count
        beside the names.

    min_frequency : int, float or None, default=None
        Names of fewer users than this are pooled. A float is a share of the users.

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
    >>> features.fit_transform(users).round(2)
    array([[-1.  ,  1.  ,  0.  ],
           [ 1.  ,  1.  ,  0.  ],
           [-1.  ,  0.67,  0.33],
           [ 1.  ,  0.  ,  1.  ]])
    >>> features.get_feature_names_out().tolist()
    ['numeric__age', 'categorical__country_AU', 'categorical__country_DE']
    """
    roles = _roles(columns, {"numeric": numeric, "categorical": categorical})
    encoder = GenreEncoder(separator=None, min_frequency=min_frequency)
    parts = [
        ("numeric", scaled_numbers(clip), roles.numeric),
        ("categorical", encoder, roles.categorical),
    ]
    parts = [part for part in parts if part[2]]
    if not parts:
        raise ValueError(
            f"User features need at least one column with a role; got none: {roles}. Name the "
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
