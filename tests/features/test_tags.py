"""TagEncoder."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse

from skmtc.features import TagEncoder

SONGS = pd.DataFrame({"tags": ["rock|pop", "rock", ["pop", "jazz"], None, "rock; live|jazz", ""]})


def draw(n_songs=300, n_tags=60, seed=0):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(n_tags, 0.3), size=8)
    cells = [
        "|".join(f"t{tag}" for tag in np.unique(rng.choice(n_tags, 4, p=chances[i % 8])))
        for i in range(n_songs)
    ]
    return pd.DataFrame({"tags": cells})


def slow_vectors(cells, tags):
    """Return the vectors of the docstring, written out."""
    n_songs = len(cells)
    idf = [np.log((1 + n_songs) / (1 + sum(tag in cell for cell in cells))) + 1 for tag in tags]
    rows = np.array([[w * (t in cell) for t, w in zip(tags, idf, strict=True)] for cell in cells])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def test_weights_are_those_of_the_docstring():
    encoder = TagEncoder(separator="|").fit(SONGS)
    cells = [{"rock", "pop"}, {"rock"}, {"pop", "jazz"}, set(), {"rock; live", "jazz"}, set()]
    vectors = encoder.transform(SONGS)
    assert issparse(vectors)
    tags = encoder.tags_[0].tolist()
    assert sorted(tags) == ["jazz", "pop", "rock"]
    np.testing.assert_allclose(vectors.toarray(), slow_vectors(cells, tags))
    assert encoder.n_unknown_ == [2]
    assert encoder.get_feature_names_out().tolist() == [f"tags_{tag}" for tag in tags]


def test_without_idf_tags_weigh_the_same():
    vectors = TagEncoder(separator="|", idf=False).fit_transform(SONGS).toarray()
    np.testing.assert_allclose(np.sort(vectors[0])[1:], np.sqrt(0.5))


def test_frequencies_choose_tags():
    assert TagEncoder(separator="|", min_frequency=3).fit(SONGS).tags_[0].tolist() == []
    counted = TagEncoder(separator="|", min_frequency=1).fit(SONGS)
    assert "rock; live" in counted.tags_[0]
    assert TagEncoder(separator="|", max_tags=1).fit(draw()).tags_[0].shape == (1,)
    shares = TagEncoder(min_frequency=0.2).fit(draw())
    cells = draw()["tags"].str.split("|")
    expected = {t for t in set(cells.explode()) if cells.map(lambda c, t=t: t in c).mean() >= 0.2}
    assert set(shares.tags_[0]) == expected


@pytest.mark.parametrize("n_components", [None, 7])
def test_unknown_tags_and_missing_cells_are_rows_of_zeros(n_components):
    encoder = TagEncoder(n_components=n_components, random_state=0).fit(draw())
    vectors = encoder.transform(pd.DataFrame({"tags": ["never heard", None, "t3|new", "t3"]}))
    vectors = vectors.toarray() if issparse(vectors) else vectors
    np.testing.assert_array_equal(vectors[:2], 0)
    np.testing.assert_array_equal(vectors[2], vectors[3])
    assert np.abs(vectors[3]).max() > 0


@pytest.mark.parametrize("n_components", [3, 20, 50])
def test_components_keep_as_much_as_any_can(n_components):
    songs = draw()
    whole = TagEncoder().fit_transform(songs).toarray()
    encoder = TagEncoder(n_components=n_components, random_state=0)
    vectors = encoder.fit_transform(songs)
    assert vectors.shape[1] == n_components == len(encoder.get_feature_names_out())
    best = (np.linalg.svd(whole, compute_uv=False)[:n_components] ** 2).sum()
    assert (vectors**2).sum() == pytest.approx(best, rel=1e-3)


def test_few_tags_are_not_reduced():
    songs = draw()
    same = TagEncoder(n_components=1000).fit_transform(songs)
    np.testing.assert_array_equal(same, TagEncoder().fit_transform(songs).toarray())


@pytest.mark.parametrize("n_components", [None, 7])
def test_renaming_and_permuting_tags_changes_nothing(n_components):
    songs = draw()
    names = {f"t{i}": f"{(i * 37) % 60:02d} renamed" for i in range(60)}
    renamed = songs["tags"].map(
        lambda cell: "|".join(names[tag] for tag in reversed(cell.split("|")))
    )
    encoder = TagEncoder(n_components=n_components, random_state=0)
    one, other = (encoder.fit_transform(t) for t in (songs, renamed.to_frame()))
    one, other = (m.toarray() if issparse(m) else m for m in (one, other))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_columns_are_encoded_each_on_its_own():
    songs = draw().assign(genre=["rock", "pop"] * 150)
    both = TagEncoder().fit(songs)
    assert both.separators_ == ["|", None]
    alone = TagEncoder().fit_transform(songs[["genre"]]).toarray()
    np.testing.assert_array_equal(both.transform(songs).toarray()[:, -2:], alone)


def test_a_fold_without_tags_has_a_feature_of_zeros():
    empty = pd.DataFrame({"tags": [None, None, ""]}, dtype=object)
    assert TagEncoder().fit_transform(empty).shape == (3, 1)
    np.testing.assert_array_equal(TagEncoder(n_components=3).fit_transform(empty), np.zeros((3, 1)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"separator": ""}, "`separator` must be a string that is not empty"),
        ({"min_frequency": 0}, "`min_frequency` must be a positive integer"),
        ({"min_frequency": 1.5}, "`min_frequency` must be a positive integer"),
        ({"max_tags": 0}, "`max_tags` must be"),
        ({"n_components": 1.5}, "`n_components` must be"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TagEncoder(**parameters).fit(SONGS)


def test_a_cell_that_is_no_tag():
    with pytest.raises(TypeError, match=r"string or a number.*got dict"):
        TagEncoder().fit(pd.DataFrame({"tags": [{"a": 1}]}))
