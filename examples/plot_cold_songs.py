"""
========================================
Which features rank new songs correctly?
========================================

A newly released song is in no playlist: it has no popularity, and matrix factorisation has no
factors for it. It only has features. Which features rank new songs well for a playlist, and how
does a new song rank among known songs?
"""

# %%
# Features one by one
# -------------------
# The latest tenth of the songs is held out, and the new songs compete with each other. The
# multitask ranker gets one kind of feature at a time: numbers such as those from audio, the genre,
# vectors of the artist, learned from playlists, then all of them. There are two baselines: a rule
# about artists, and matrix factorisation with a regression that predicts the factors of a song from
# all of its features.

import matplotlib.pyplot as plt
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import RidgeCV

from skmtc import (
    CollocatedArtistRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    evaluate,
)
from skmtc.datasets import load_sample
from skmtc.features import make_song_features
from skmtc.inspection import HitRateDisplay
from skmtc.model_selection import ColdSongSplit

X = load_sample().X
((train, test),) = ColdSongSplit(random_state=0).split(X)
X_train, X_test = X.iloc[train], X.iloc[test]
everything = make_song_features(X, new_songs=True, random_state=0)


def multitask(*names):
    """Make a ranker with some parts of the song features."""
    parts = [part for part in everything.transformers if part[0] in names]
    features = ColumnTransformer(parts, sparse_threshold=0)
    return MultitaskPlaylistRanker(song_features=features, random_state=0)


rankers = {
    "collocated artists (CAGH)": CollocatedArtistRanker(),
    "factors from features": MatrixFactorizationRanker(
        n_factors=16, song_features=everything, content_model=RidgeCV(), random_state=0
    ),
    "multitask: genre": multitask("tags"),
    "multitask: artist": multitask("artist"),
    "multitask: numbers": multitask("numeric"),
    "multitask: all": multitask("tags", "artist", "numeric"),
}
evaluated = {
    name: evaluate(ranker.fit(X_train), X_test, ["auc", "hit_rate@10"])
    for name, ranker in rankers.items()
}
found = {name: table["hit_rate@10"].mean() for name, table in evaluated.items()}
n_new = X_test["song"].nunique()

figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
colours = ["#0072B2" if name.startswith("multitask") else "#E69F00" for name in found]
axes.barh(list(found), found.values(), color=colours)
axes.axvline(10 / n_new, color="black", ls=":", label="random")
axes.invert_yaxis()
axes.set(xlabel=f"hit rate at 10 of {n_new} new songs", title="Songs that nobody has yet")
axes.legend(loc="upper right")
plt.show()

# %%
# New songs beside known ones
# ---------------------------
# In production, new songs compete with the whole catalogue. If popularity and song embeddings are
# features, a new song has neither, and gets their mean. How do the songs of a playlist rank among
# new and known songs together?

of_known_songs = MultitaskPlaylistRanker(
    song_features=make_song_features(X, random_state=0), random_state=0
).fit(X_train)
mixed = {"new_songs=True": rankers["multitask: all"], "new_songs=False": of_known_songs}
lengths = [1, 2, 5, 10, 20, 50, 100, 200, 500]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
shown = HitRateDisplay.from_estimators(mixed, X_test, k=lengths, candidates="all", ax=axes)
axes.set_title("New songs among the whole catalogue")
plt.show()

# %%
# What we learnt
# --------------
# In this table the numbers contain all the information; genre and artist alone are better than
# random, and add nothing to the numbers. Factors that are predicted from features find many songs,
# but fewer than the multitask ranker; the rule about artists finds few new songs. Pass
# ``new_songs=True`` if new songs compete with known ones: with features that only known songs have,
# few new songs rank near the top.

for name, table in evaluated.items():
    print(f"{name:32} AUC {table['auc'].mean():.3f}, hit rate at 10 {found[name]:.3f}")
shares = dict(zip(mixed, shown.values[:, lengths.index(100)].round(3).tolist(), strict=True))
print(f"found among the 100 best of the whole catalogue: {shares}")
