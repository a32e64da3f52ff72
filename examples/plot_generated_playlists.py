"""
===================================
Generated playlists have long tails
===================================

:func:`~skmtc.datasets.make_playlists` draws playlists from the multitask model. Its presets
"30music" and "aotm2011" come near the two data sets of the paper: in their sizes, and in the long
tails of playlists per user and of song popularity. Few users have many playlists and few songs are
in many, so that there is little to learn from for most users and songs.
"""

# %%
# Draw the playlists
# ------------------
# The first preset as it is, and the second with a tenth of its users, playlists, songs and
# artists, which keeps the means and takes seconds.

import matplotlib.pyplot as plt
import numpy as np

from skmtc.datasets import make_playlists

tables = {
    "30music": make_playlists(preset="30music", random_state=0),
    "aotm2011, a tenth": make_playlists(
        1_418, 8_471, 14_800, 1_620, preset="aotm2011", random_state=0
    ),
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
# Both axes are logarithmic. As in the appendix of the paper, both counts fall off slowly, over
# two orders of magnitude and more.


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
# What is true is known
# ---------------------
# With ``return_truth=True`` the weights come along that the playlists were drawn with. Ranking the
# songs by them shows how far any ranker can get on such data: here the mean rank of the songs of a
# playlist among all, as a share of the catalogue, by the shared weights alone and by all weights.

X, truth = make_playlists(return_truth=True, random_state=0)
features = truth.songs.filter(regex=r"^x\d+$")
by_shared, by_all = [], []
for playlist, rows in X.groupby("playlist"):
    own = truth.user.loc[rows["user"].iloc[0]] + truth.playlist.loc[playlist]
    for ranks, weights in ((by_shared, truth.shared), (by_all, truth.shared + own)):
        ranks.append((features @ weights).rank(pct=True).loc[rows["song"]].mean())
print(f"shared weights: {np.mean(by_shared):.2f}, all weights: {np.mean(by_all):.2f}")
