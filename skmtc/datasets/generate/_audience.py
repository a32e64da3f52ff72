"""Generated users: attributes, and weights that depend on them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

COUNTRIES = ("AU", "DE", "US", "BR", "GB", "PL", "JP", "RU")
GENDERS = ("f", "m")

# How far each source moves the score of a typical song, in units of log odds.
COUNTRY_EFFECT, GENDER_EFFECT, AGE_EFFECT, OWN_EFFECT = 0.9, 0.5, 0.5, 0.6
TASTE_GAIN = 2.5  # log odds that songs of the favourite community gain over the average song
FAME_SPREAD = 0.15  # how much users differ in their liking for famous songs


@dataclass(frozen=True)
class Audience:
    """The users of a generated world.

    Attributes
    ----------
    users : DataFrame
        Columns age, gender and country, by user id.

    coef : ndarray of shape (n_users, n_features)
        True weights of the users.
    """

    users: pd.DataFrame
    coef: np.ndarray


def make_audience(rng, centres, *, n_users, n_countries):
    """Sample users whose weights depend on country, gender, age and individual taste."""
    n_features = centres.shape[1]
    country = rng.randint(n_countries, size=n_users)
    gender = rng.randint(len(GENDERS), size=n_users)
    age = np.minimum(16 + rng.gamma(2.0, 7.0, size=n_users).astype(np.int64), 80)

    per_feature = 1.0 / np.sqrt(max(1, n_features - 1))
    coef = COUNTRY_EFFECT * per_feature * rng.normal(size=(n_countries, n_features))[country]
    coef += GENDER_EFFECT * per_feature * rng.normal(size=(len(GENDERS), n_features))[gender]
    coef += OWN_EFFECT * per_feature * rng.normal(size=(n_users, n_features))
    coef += _tastes(rng, centres, country, n_countries)
    if n_features > 1:  # the young lean towards recent songs, by the feature that tells the era
        coef[:, 1] += AGE_EFFECT * (30.0 - age) / 14.0
    coef[:, 0] = FAME_SPREAD * rng.normal(size=n_users)

    ids = pd.Index([f"user{u}" for u in range(n_users)], name="user")
    users = pd.DataFrame(
        {
            "age": age,
            "gender": np.array(GENDERS)[gender],
            "country": np.array(_country_names(n_countries))[country],
        },
        index=ids,
    )
    return Audience(users, coef)


def _tastes(rng, centres, country, n_countries):
    """Return the preference of each user for one community; countries favour different ones."""
    n_communities = len(centres)
    liking = rng.gamma(0.5, size=(n_countries, n_communities)) + 1e-3
    cumulative = np.cumsum(liking / liking.sum(axis=1, keepdims=True), axis=1)
    drawn = rng.uniform(size=len(country))
    favourite = (drawn[:, None] > cumulative[country]).sum(axis=1)
    favourite = np.minimum(favourite, n_communities - 1)  # the last sum may fall short of 1
    squares = (centres**2).sum(axis=1, keepdims=True)
    towards = np.divide(centres, squares, out=np.zeros_like(centres), where=squares > 0)
    return TASTE_GAIN * towards[favourite]


def _country_names(n_countries):
    return [COUNTRIES[c] if c < len(COUNTRIES) else f"country{c}" for c in range(n_countries)]
