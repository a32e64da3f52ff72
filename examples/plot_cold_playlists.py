"""
=================================================
Who should rank the new playlists of known users?
=================================================

A known user has other playlists to learn from. Simple rules use them, such as "the user's own songs
first", and so do matrix factorisation and models with feature weights. Which of them finds the
songs of a user's next playlist, and how many playlists must a user have for it to help?
"""

# %%
# Nine rankers, one split
# -----------------------
# All rankers train on the same table, from which some playlists of two users in five are held
# out. Three of the rankers learn weights of the same song features.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from skmtc import (
    CollocatedArtistRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PairwiseRanker,
    PopularityRanker,
    RidgeRanker,
    SameArtistRanker,
    evaluate,
)
from skmtc.datasets import load_sample
from skmtc.features import make_song_features
from skmtc.model_selection import ColdPlaylistSplit

X = load_sample().X
((train, test),) = ColdPlaylistSplit(user_size=0.4, random_state=0).split(X)
X_train, X_test = X.iloc[train], X.iloc[test]
features = make_song_features(X, random_state=0)
factors = {"n_factors": 16, "content_model": None, "random_state": 0}
rankers = {
    "popularity": PopularityRanker(),
    "same artist (SAGH)": SameArtistRanker(),
    "collocated artists (CAGH)": CollocatedArtistRanker(),
    "own songs first": OwnSongsRanker(),
    "factors of users (WMF)": MatrixFactorizationRanker(**factors),
    "factors of playlists": MatrixFactorizationRanker(target="playlist", **factors),
    "ridge regression": RidgeRanker(song_features=features),
    "pairwise (BPR)": PairwiseRanker(song_features=features, random_state=0),
    "multitask": MultitaskPlaylistRanker(song_features=features, random_state=0),
}
evaluated = {
    name: evaluate(ranker.fit(X_train), X_test, ["auc", "hit_rate@20"])
    for name, ranker in rankers.items()
}
print(f"{len(evaluated['popularity'])} new playlists of {X_test['user'].nunique()} known users")

# %%
# Hit rates
# ---------
# Bars are the mean share of a new playlist's songs that are among the 20 best. The whiskers are two
# standard errors on each side, clustered by user, as playlists of one user are similar.


def mean_and_error(table, metric):
    """Return the mean over playlists, and its standard error by user."""
    by_user = table.groupby("user")[metric].agg(["mean", "size"])
    share = by_user["size"] / by_user["size"].sum()
    deviations = by_user["mean"] - (share * by_user["mean"]).sum()
    return table[metric].mean(), np.sqrt((share**2 * deviations**2).sum())


means, errors = np.transpose([mean_and_error(t, "hit_rate@20") for t in evaluated.values()])
uses_features = [hasattr(ranker, "shared_coef_") or "ridge" in n for n, ranker in rankers.items()]
colours = np.where(uses_features, "#0072B2", "#E69F00")
figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
axes.barh(list(rankers), means, xerr=2 * errors, color=colours, error_kw={"capsize": 3})
axes.invert_yaxis()
axes.set(xlabel="hit rate at 20", title="New playlists of known users", xlim=(0, 0.7))
kinds = [Patch(color="#E69F00"), Patch(color="#0072B2")]
axes.legend(kinds, ["no song features", "weights of song features"], loc="upper right")
plt.show()

# %%
# How much must be known of a user?
# ---------------------------------
# The same hit rates, by the number of playlists that the user has in training.

n_known = X_train.groupby("user")["playlist"].nunique()
edges = [1, 2, 4, 8, np.inf]
labels = ["1", "2 or 3", "4 to 7", "8 or more"]
shown = {
    "popularity": ("#000000", "o"),
    "own songs first": ("#E69F00", "s"),
    "multitask": ("#0072B2", "^"),
}
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, (colour, marker) in shown.items():
    group = pd.cut(evaluated[name]["user"].map(n_known), edges, right=False, labels=labels)
    rates = evaluated[name].groupby(group, observed=False)["hit_rate@20"].mean()
    axes.plot(labels, rates, label=name, color=colour, marker=marker)
counts = group.value_counts().reindex(labels)
axes.set_xticks(range(4), [f"{label}\n({counts[label]} tested)" for label in labels])
axes.set(xlabel="playlists of the user in training", ylabel="hit rate at 20", ylim=(0, None))
axes.grid(alpha=0.3)
axes.legend()
plt.show()

# %%
# What we learnt
# --------------
# "The user's own songs first" is a simple baseline without features that beats popularity and both
# rules about artists, so compare any ranker with it. It needs users with many playlists. The
# multitask ranker is ahead of every rule and of the other rankers with song features, and of
# popularity even for users with one known playlist; matrix factorisation of playlists is tied with
# it. The difference of two rankers has a smaller error than their means, since both are evaluated
# on the same playlists:

ahead = evaluated["multitask"].set_index("playlist")
for name, table in evaluated.items():
    if name != "multitask":
        gain = table.assign(gain=ahead.loc[table["playlist"], "hit_rate@20"].values)
        gain["gain"] -= gain["hit_rate@20"]
        mean, error = mean_and_error(gain, "gain")
        print(f"multitask - {name:26} {mean:+.3f} (standard error {error:.3f})")
