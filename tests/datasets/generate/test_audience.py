"""Generated users."""

import numpy as np
import pytest

from skmtc.datasets.generate._audience import make_audience


@pytest.fixture(scope="module")
def audience():
    centres = np.random.RandomState(1).normal(size=(9, 8))
    return make_audience(np.random.RandomState(0), centres, n_users=4000, n_countries=3)


@pytest.mark.parametrize("attribute", ["gender", "country"])
def test_attributes_carry_information_about_weights(audience, attribute):
    # The groups' mean weights differ by far more than chance makes means of such groups differ.
    values = audience.users[attribute].to_numpy()
    groups = [audience.coef[values == value, 1:] for value in np.unique(values)]
    means = np.array([group.mean(axis=0) for group in groups])
    chance = np.sqrt(sum(group.var(axis=0) / len(group) for group in groups))
    assert (np.ptp(means, axis=0) / chance).max() > 5


def test_the_young_lean_towards_recent_songs(audience):
    assert np.corrcoef(audience.users["age"], audience.coef[:, 1])[0, 1] < -0.3


def test_users_of_one_kind_still_differ(audience):
    alike = audience.users.groupby(["gender", "country"]).indices
    within = np.mean([audience.coef[rows, 2:].std(axis=0).mean() for rows in alike.values()])
    assert within > 0.1


def test_one_feature_and_many_countries():
    audience = make_audience(
        np.random.RandomState(0), np.zeros((3, 1)), n_users=200, n_countries=12
    )
    assert audience.coef.shape == (200, 1)
    assert audience.users["country"].nunique() == 12
