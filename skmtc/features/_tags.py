"""TF-IDF encoding of tags and other columns with several values per song."""

from array import array

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from skmtc._table import Ids
from skmtc._typing import Seed
from skmtc._utils.fitted_state import Array, Each, IdArray, Plain
from skmtc._utils.validation import check_number
from skmtc.features._base_encoder import (
    BaseColumnEncoder,
    check_frequency,
    fewest_rows,
    ones_at,
)
from skmtc.features._tag_cells import find_separator, read_tags
from skmtc.features.embedding import leading_eigenvectors

_NO_CODES = np.empty(0, dtype=np.intp)


class TagEncoder(BaseColumnEncoder):
    """Encode tags by their inverse document frequency, in vectors of unit length.

    A cell holds one tag or several, as a list or as a string with a separator. Each tag is a
    feature: log((1 + n_songs) / (1 + n_songs_with_the_tag)) + 1 for a song that has it. The
    vector of a song is then scaled to unit length, so that a song with many tags counts no more
    than one with few. With `n_components`, the vectors are reduced by a truncated singular value
    decomposition.

    A tag that was not in `fit` adds nothing, and a song without a known tag gets a row of zeros,
    which `BlockScaler` leaves at the centre of all songs.

    Parameters
    ----------
    separator : str or None, default="auto"
        What separates the tags of a string, as in "rock|pop". "auto" finds it in each column
        among "|", ";" and ",": tokens between separators must be repeated. None: a string is one
        tag.

    min_frequency : int or float, default=2
        Tags of fewer training songs than this are ignored. A float is a share of the songs.

    max_tags : int or None, default=None
        Use at most this many tags of a column, the most frequent ones.

    idf : bool, default=True
        Whether rare tags weigh more. False gives each tag of a song the same weight.

    n_components : int or None, default=None
        Number of dimensions that tags are reduced to, in a dense array. A column with no more
        tags than this keeps them all as they are. None: one sparse feature per tag.

    random_state : int, RandomState instance or None, default=None
        Seed of the decomposition.

    Attributes
    ----------
    tags_ : list of ndarray
        Tags of each column that are used, the most frequent first.

    idf_ : list of ndarray
        Their weights.

    separators_ : list of str or None
        What separates the tags of each column.

    components_ : list of ndarray of shape (n_tags, n_components) or None
        Directions that tags are projected on; None for a column that is not reduced.

    n_unknown_ : list of int
        Number of training songs without any of the tags that are used, by column.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    GenreEncoder : One-hot genres with the paper's mean imputation.
    IdentityEncoder : Names with very many values, such as artists.

    Examples
    --------
    Two of four songs are rock; pop is rarer and weighs more. Nothing is known of the last song.

    >>> import pandas as pd
    >>> from skmtc.features import TagEncoder
    >>> songs = pd.DataFrame({"tags": ["rock", "rock|pop", "pop|rock", None]})
    >>> encoder = TagEncoder().fit(songs)
    >>> encoder.get_feature_names_out().tolist()
    ['tags_rock', 'tags_pop']
    >>> encoder.transform(songs).toarray().round(2)
    array([[1.  , 0.  ],
           [0.63, 0.78],
           [0.63, 0.78],
           [0.  , 0.  ]])
    """

    _fitted_state = {
        "tags_": Each(IdArray("tags", ordered=False)),
        "idf_": Each(Array("tags", above=0)),
        "separators_": Each(Plain(str, optional=True)),
        "components_": Each(Array("tags", "components", optional=True)),
        "n_unknown_": Each(Plain.count()),
    }

    def __init__(
        self,
        *,
        separator: str | None = "auto",
        min_frequency: float | None = 2,
        max_tags: int | None = None,
        idf: bool = True,
        n_components: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.separator = separator
        self.min_frequency = min_frequency
        self.max_tags = max_tags
        self.idf = idf
        self.n_components = n_components
        self.random_state = random_state

    def _check_parameters(self):
        if self.separator is not None and not (isinstance(self.separator, str) and self.separator):
            raise ValueError(
                f"`separator` must be a string that is not empty, or None; got {self.separator!r}. "
                "Pass e.g. '|', or None if a string is one tag."
            )
        check_frequency(self.min_frequency)
        for name in ("max_tags", "n_components"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), at_least=1, whole=True)

    def _reset(self):
        self.tags_, self.idf_, self.separators_ = [], [], []
        self.components_, self.n_unknown_ = [], []

    def _fit_column(self, column, membership):
        self.separators_.append(
            find_separator(column) if self.separator == "auto" else self.separator
        )
        rows, places, tags = _read(column, self.separators_[-1])
        ids, codes = Ids.factorize(tags, "tag") if len(tags) else (Ids(tags, "tag"), _NO_CODES)
        counts = ones_at(rows, codes[places], (len(column), len(ids)))
        chosen = _most_frequent(counts, fewest_rows(self.min_frequency, len(column)), self.max_tags)
        counts = csr_array(counts[:, chosen])
        self.tags_.append(ids.values[chosen])
        self.idf_.append(_idf(counts) if self.idf else np.ones(len(chosen)))
        self.n_unknown_.append(int((np.diff(counts.indptr) == 0).sum()))
        self.components_.append(self._fit_components(self._weighted(counts, -1)))

    def _fit_components(self, vectors):
        """Return the leading right singular vectors; None if the tags are kept as they are."""
        if self.n_components is None or 0 < vectors.shape[1] <= self.n_components:
            return None
        if vectors.shape[1] == 0:  # one feature of zeros, as steps of a pipeline need at least one
            return np.zeros((0, 1))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        # Right singular vectors of X are the eigenvectors of X'X. More threads inside BLAS would
        # sum in another order.
        with threadpool_limits(1, user_api="blas"):
            gram = csr_array(vectors.T @ vectors)
            return leading_eigenvectors(gram, self.n_components, seed)[0]

    def _transform_column(self, column, j):
        rows, places, tags = _read(column, self.separators_[j])
        codes = (Ids(self.tags_[j], "tag").codes(tags) if len(tags) else _NO_CODES)[places]
        known = codes >= 0
        counts = ones_at(rows[known], codes[known], (len(column), len(self.tags_[j])))
        vectors = self._weighted(counts, j)
        if self.n_components is None:
            return vectors
        components = self.components_[j]
        return vectors.toarray() if components is None else vectors @ components

    def _column_names(self, column, j):
        if self.components_[j] is None:
            return [f"{column}_{tag}" for tag in self.tags_[j]]
        return [f"{column}_component{i}" for i in range(self.components_[j].shape[1])]

    def _weighted(self, counts, j):
        """Return weighted tags, with rows of unit length."""
        weights = counts.data * self.idf_[j][counts.indices]
        vectors = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
        lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1))
        vectors.data /= np.repeat(lengths, np.diff(vectors.indptr))
        return vectors


def _read(column, separator):
    """Return the row of each tag of each row, its place among the distinct tags, and these."""
    present = np.flatnonzero(column.notna().to_numpy())
    place_of_tag = {}
    # Numbers, not the texts of all cells: a text takes ten times the memory of its place.
    lengths, places = np.empty(len(present), dtype=np.intp), array("i")
    for i, cell in enumerate(column.iloc[present]):
        tags = read_tags(cell, separator, column.name)
        lengths[i] = len(tags)
        places.extend([place_of_tag.setdefault(tag, len(place_of_tag)) for tag in tags])
    tags = pd.Index(list(place_of_tag)) if place_of_tag else pd.Index([], dtype=object)
    return np.repeat(present, lengths), np.asarray(places), tags


def _most_frequent(counts, fewest, max_tags):
    """Return the codes of the tags to use, the most frequent first.

    Ties are broken by which songs have the tag, not by its name: a decomposition that starts
    from a random matrix gives the same result when tags are renamed.
    """
    frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
    by_songs = np.random.default_rng(0).standard_normal(counts.shape[0]) @ counts
    order = np.lexsort((by_songs, -frequencies))
    return order[frequencies[order] >= fewest][:max_tags]


def _idf(counts):
    return TfidfTransformer().fit(counts).idf_ if counts.shape[1] else np.ones(0)
