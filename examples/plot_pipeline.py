"""
============================================
Which features help, and which of them leak?
============================================

Features of songs are made by scikit-learn's transformers: inside the ranker, where they are fitted
with one row per song and see training playlists only, or in front of it, in an ordinary Pipeline.
How is that written, how much does each kind of feature contribute, and what goes wrong if a feature
is computed beforehand?
"""

# %%
# A ColumnTransformer inside the ranker
# -------------------------------------
# scikit-learn's own transformers and those of :mod:`skmtc.features` side by side. The latter learn
# from playlists: they are fitted with ``fit(songs, membership)``.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import load_sample
from skmtc.features import ArtistEmbedding, PopularityEncoder, TagEncoder
from skmtc.model_selection import ColdPlaylistSplit

# Drop the column of the songs' fame, which real tables do not have.
X = load_sample().X.drop(columns="x0")
cv = ColdPlaylistSplit(random_state=0)
audio = [f"x{j}" for j in range(2, 8)]
parts = [
    ("audio", StandardScaler(), audio),
    ("genre", TagEncoder(), ["genre"]),
    ("year", SplineTransformer(n_knots=4), ["year"]),
    ("artist", ArtistEmbedding(vector_size=10, random_state=0), ["artist"]),
    ("popularity", make_pipeline(PopularityEncoder(), StandardScaler()), ["song"]),
]


def ranker_with(parts):
    """Make a ranker with some of the features."""
    features = ColumnTransformer(parts, sparse_threshold=0)
    return MultitaskPlaylistRanker(song_features=features, tol=1e-2, random_state=0)


auc = {}
for n_parts in range(1, len(parts) + 1):
    name = ("+ " if n_parts > 1 else "") + parts[n_parts - 1][0]
    auc[name] = cross_val_score(ranker_with(parts[:n_parts]), X, cv=cv).mean()
print(pd.Series(auc).round(3))

# %%
# A Pipeline around the ranker
# ----------------------------
# Steps in front of the ranker work on rows of the table, and must keep the id columns. Here, one
# step adds a column. Parameters inside the ranker have names, so that a search can tune features
# and penalties together.


def add_decade(X):
    """Add the decade of a song as a name, for a one-hot encoding."""
    return X.assign(decade=(X["year"] // 10 * 10).astype(int).astype(str))


with_decade = [part for part in parts if part[0] != "year"]
with_decade.append(("decade", TagEncoder(), ["decade"]))
pipeline = Pipeline(
    [("decade", FunctionTransformer(add_decade)), ("ranker", ranker_with(with_decade))]
)
search = GridSearchCV(
    pipeline,
    {"ranker__song_features__artist__vector_size": [3, 10, 30]},
    cv=cv,
    refit=False,
).fit(X)
sizes = dict(
    zip(
        search.cv_results_["param_ranker__song_features__artist__vector_size"].tolist(),
        search.cv_results_["mean_test_score"].round(4).tolist(),
        strict=True,
    )
)
print(f"AUC by size of the artist vectors: {sizes}")

# %%
# A feature that leaks
# --------------------
# Popularity could be computed once, over the whole table, and passed as a column like any other.
# This leaks test data: the held-out playlists are counted too. Inside the ranker, the same feature
# is computed from training playlists only. For comparison, the column is also computed from the
# training rows of the split: it is the rows that leak, not the way of counting.

beforehand = ranker_with([*parts[:-1], ("popularity", StandardScaler(), ["counted"])])


def score_with_counts(rows):
    """Count songs in some rows of the table, and score a ranker that has it as a column."""
    counts = X.iloc[rows].groupby("song")["playlist"].nunique()
    table = X.assign(counted=np.log(X["song"].map(counts)))
    return cross_val_score(beforehand, table, cv=cv).mean()


((train, test),) = cv.split(X)
by_hand = score_with_counts(train)
auc["popularity, computed beforehand"] = score_with_counts(np.arange(len(X)))

figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
bars = axes.barh(list(auc), auc.values(), color=["#0072B2"] * len(parts) + ["#D55E00"])
axes.bar_label(bars, fmt=" %.3f")
bars[-1].set_hatch("//")
axes.invert_yaxis()
axes.set(xlabel="AUC, new playlists of known users", xlim=(0.5, 1.0))
plt.show()

# %%
# What we learnt
# --------------
# Popularity contributes more than genre, year and artist together, and the size of the artist
# vectors hardly matters. A popularity that is computed before the split includes the test
# playlists. Its AUC is higher only because of this leak: computed from the training rows, the same
# column comes close to the feature that is learned in ``fit``. Features that are learned from
# playlists belong inside the ranker.

learned_in_fit, leaking = auc["+ popularity"], auc["popularity, computed beforehand"]
print(f"popularity learned in fit: {learned_in_fit:.4f}")
print(f"a column, counted in training rows: {by_hand:.4f}")
print(f"a column, counted in all rows: {leaking:.4f}")
