"""
======================================
How realistic are generated playlists?
======================================

:func:`~skmtc.datasets.make_playlists` samples playlists from the multitask model. Its presets
"30music" and "aotm2011" have the sizes of the two data sets of the paper. Do they have the long
tails of real playlists, where few users have many playlists and few songs are in many? And how well
can any ranker perform on them?
"""

# %%
# Generate the playlists
# ----------------------
# Both presets with a tenth of their users, playlists, songs and artists, which keeps the means and
# takes seconds.

import matplotlib.pyplot as plt
import numpy as np

from skmtc.datasets import make_playlists

tables = {
    "30music": make_playlists(807, 1_745, 6_400, 1_070, preset="30music", random_state=0),
    "aotm2011": make_playlists(1_418, 8_471, 14_800, 1_620, preset="aotm2011", random_state=0),
}
for name, X in tables.items():
    n_playlists, n_users = X["playlist"].nunique(), X["user"].nunique()
    print(
        f"{name}: {n_playlists} playlists of {n_users} users ({n_playlists / n_users:.1f} each), "
        f"{X['song'].nunique()} songs of {X['artist'].nunique()} artists, "
        f"{len(X) / n_playlists:.1f} songs a playlist"
    )

# %%
# The two histograms
# ------------------
# Both axes are logarithmic. In the appendix of the paper, both counts decrease slowly, over two
# orders of magnitude and more.


def draw_histogram(axes, counts, label):
    """Draw how many users or songs have a count, in bins that double in width."""
    edges = 2.0 ** np.arange(np.ceil(np.log2(counts.max() + 1)) + 1)
    found, _ = np.histogram(counts, edges)
    axes.stairs(found, edges, label=label, linewidth=2)
    axes.set(xscale="log", yscale="log")


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, X in tables.items():
    draw_histogram(left, X.groupby("user")["playlist"].nunique(), name)
    draw_histogram(right, X.groupby("song").size(), name)
left.set(xlabel="playlists of a user", ylabel="users", title="Playlists per user")
right.set(xlabel="playlists with a song", ylabel="songs", title="Song popularity")
right.legend()
plt.show()

# %%
# The true weights
# ----------------
# ``return_truth=True`` also returns the weights that the playlists were sampled with. Ranking songs
# by them shows what any ranker can achieve on such data: the mean rank of the songs of a playlist
# among all, as a share of the catalogue, by the shared weights alone, with those of the user, and
# with those of the playlist.

X, truth = make_playlists(return_truth=True, random_state=0)
features = truth.songs.filter(regex=r"^x\d+$")
weights = {"shared": truth.shared}
ranks = {"shared": [], "+ user": [], "+ playlist": []}
for playlist, rows in X.groupby("playlist"):
    weights["+ user"] = weights["shared"] + truth.user.loc[rows["user"].iloc[0]]
    weights["+ playlist"] = weights["+ user"] + truth.playlist.loc[playlist]
    for name, known in weights.items():
        ranks[name].append((features @ known).rank(pct=True).loc[rows["song"]].mean())

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for (name, values), style in zip(ranks.items(), (":", "--", "-"), strict=True):
    axes.hist(values, np.linspace(0, 1, 41), histtype="step", ls=style, lw=2, label=name)
axes.set(xlabel="mean rank of a playlist's songs (1 is the top)", ylabel="playlists", xlim=(0.3, 1))
axes.legend(title="true weights", loc="upper left")
plt.show()

# %%
# What we learnt
# --------------
# Most users have one or two playlists and most songs are in a few playlists, while the largest
# counts are many times as high: these are long tails, and for most users and songs there is little
# to learn from. The true weights show the limit: with the weights of users, the songs of playlists
# rank far higher than by the shared weights alone, and weights of playlists add a little.


def describe(counts):
    """Describe the tail of some counts in words."""
    return f"median {counts.median():.0f}, largest {counts.max()}"


for name, X in tables.items():
    per_user, per_song = X.groupby("user")["playlist"].nunique(), X.groupby("song").size()
    print(f"{name}: playlists of a user: {describe(per_user)}; with a song: {describe(per_song)}")
for name, values in ranks.items():
    print(f"mean rank by true weights, {name}: {np.mean(values):.2f}")
