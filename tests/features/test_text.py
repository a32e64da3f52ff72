"""TextEncoder."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse

from skmtc.features import TextEncoder

TITLES = pd.DataFrame(
    {"title": ["Blue moon", "Blue sky", "Sky high", "Moon high", "red river", "river red", None]}
)


def test_titles_of_the_same_words_are_close():
    vectors = TextEncoder(n_components=4, random_state=0).fit_transform(TITLES)
    assert vectors.shape == (7, 4)
    np.testing.assert_allclose(np.linalg.norm(vectors[:6], axis=1), 1)
    assert vectors[4] @ vectors[5] == pytest.approx(1)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[4] + 0.3


def test_missing_text_and_unknown_words_are_rows_of_zeros():
    encoder = TextEncoder(n_components=2, random_state=0).fit(TITLES)
    unknown = encoder.transform(pd.DataFrame({"title": [None, "nothing known", ""]}))
    np.testing.assert_array_equal(unknown, 0)


def test_few_words():
    one = pd.DataFrame({"title": ["blue", "blue", None]})
    encoder = TextEncoder().fit(one)
    assert encoder.transform(one).tolist() == [[1], [1], [0]]
    assert encoder.get_feature_names_out().tolist() == ["title_blue"]
    none = TextEncoder().fit(pd.DataFrame({"title": ["all", "words", "differ"]}))
    np.testing.assert_array_equal(none.transform(one), np.zeros((3, 1)))
    assert none.get_feature_names_out().tolist() == ["title_component0"]


@pytest.mark.parametrize("parameters", [{"n_components": 0}, {"min_frequency": 2.5}])
def test_wrong_parameters(parameters):
    with pytest.raises(ValueError, match=f"`{next(iter(parameters))}` must be"):
        TextEncoder(**parameters).fit(TITLES)


def test_words_without_reduction():
    titles = pd.DataFrame({"title": ["R&B", "b sides", None, "unheard"]})
    encoder = TextEncoder(n_components=None, min_frequency=1).fit(titles[:3])
    made = encoder.transform(titles)
    assert issparse(made)
    assert encoder.get_feature_names_out().tolist() == ["title_b", "title_r", "title_sides"]
    np.testing.assert_allclose(np.linalg.norm(made.toarray(), axis=1), [1, 1, 0, 0])
    assert encoder.decompositions_ == [None]
    nothing = TextEncoder(n_components=None).fit(titles[:1])
    np.testing.assert_array_equal(nothing.transform(titles), 0)
