"""TF-IDF encoding of titles and other free text."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from skmtc._typing import Seed
from skmtc._utils.fitted_state import Each, Part
from skmtc._utils.validation import check_number
from skmtc.features._base_encoder import BaseColumnEncoder, check_frequency

# What counts as a word.
WORD = r"\w+"


class TextEncoder(BaseColumnEncoder):
    """Encode free text by the words in it: tf-idf, reduced to a few dimensions or sparse.

    Each column goes through scikit-learn's `TfidfVectorizer` and `TruncatedSVD`; vectors have
    unit length. A text that is missing, or has no known word, becomes a row of zeros, which
    `BlockScaler` leaves at the centre of all songs. A letter or digit alone is a word, too, as in
    "R&B".

    Parameters
    ----------
    n_components : int or None, default=64
        Number of dimensions. A column with fewer words has one dimension less than words. None:
        one sparse feature per word.

    min_frequency : int or float, default=2
        Words in fewer training songs than this are ignored. A float is a share of the songs.

    random_state : int, RandomState instance or None, default=None
        Seed of the decomposition.

    Attributes
    ----------
    vectorizers_ : list of TfidfVectorizer or None
        One per column; None for a column without any word that is frequent enough.

    decompositions_ : list of TruncatedSVD or None
        One per column; None for a column of fewer than two words, and without `n_components`.

    n_features_in_ : int
        Number of columns seen in `fit`.

    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if all are strings.

    See Also
    --------
    TagEncoder : Names of which a cell holds several, such as tags.

    Examples
    --------
    >>> import pandas as pd
    >>> from skmtc.features import TextEncoder
    >>> songs = pd.DataFrame({"title": ["Blue moon", "Blue sky", "Sky high", "Moon high", None]})
    >>> encoder = TextEncoder(n_components=2, random_state=0)
    >>> encoder.fit_transform(songs).shape
    (5, 2)
    >>> encoder.transform(pd.DataFrame({"title": ["unheard words"]}))
    array([[0., 0.]])
    """

    _fitted_state = {
        "vectorizers_": Each(Part(optional=True)),
        "decompositions_": Each(Part(optional=True)),
    }

    def __init__(
        self,
        *,
        n_components: int | None = 64,
        min_frequency: float | None = 2,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.min_frequency = min_frequency
        self.random_state = random_state

    def _check_parameters(self):
        if self.n_components is not None:
            check_number("n_components", self.n_components, at_least=1, whole=True)
        check_frequency(self.min_frequency)

    def _reset(self):
        self.vectorizers_, self.decompositions_ = [], []

    def _fit_column(self, column, membership):
        vectorizer = TfidfVectorizer(min_df=self.min_frequency, token_pattern=WORD)
        try:
            words = vectorizer.fit_transform(_texts(column))
        except ValueError:  # no word is frequent enough
            self.vectorizers_.append(None)
            self.decompositions_.append(None)
            return
        self.vectorizers_.append(vectorizer)
        most = words.shape[1] - 1
        n_components = 0 if self.n_components is None else min(self.n_components, most)
        if n_components < 1:
            self.decompositions_.append(None)
            return
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        # More threads inside BLAS would sum in another order.
        with threadpool_limits(1, user_api="blas"):
            svd = TruncatedSVD(n_components, random_state=seed).fit(words)
        self.decompositions_.append(svd)

    def _transform_column(self, column, j):
        vectorizer, svd = self.vectorizers_[j], self.decompositions_[j]
        if vectorizer is None:
            return np.zeros((len(column), 1))  # steps of a pipeline need at least one feature
        words = vectorizer.transform(_texts(column))
        if svd is None:
            return csr_array(words) if self.n_components is None else words.toarray()
        with threadpool_limits(1, user_api="blas"):
            return normalize(svd.transform(words))

    def _column_names(self, column, j):
        vectorizer, svd = self.vectorizers_[j], self.decompositions_[j]
        if vectorizer is None:
            return [f"{column}_component0"]
        if svd is None:
            return [f"{column}_{word}" for word in vectorizer.get_feature_names_out()]
        return [f"{column}_component{i}" for i in range(svd.n_components)]


def _texts(column):
    return column.astype(object).where(column.notna(), "").map(str).tolist()
