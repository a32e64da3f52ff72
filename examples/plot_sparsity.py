"""
===========================================
Which weights does the penalty set to zero?
===========================================

Shared and playlist weights have an l1 penalty, which sets most of them exactly to zero. How many
weights are not zero at each strength, which features are the last to vanish, and which strength
ranks best?
"""

# %%
# The path of the shared weights
# ------------------------------
# ``regularization_path`` reads the table once, and fits settings from strong to weak penalties,
# each from the weights of the one before. Playlists are generated with a shared weight of ``x0``
# only; all other weights differ between users. So ``x0`` should be the only feature at strong
# penalties.

import matplotlib.pyplot as plt
import numpy as np

from skmtc import MultitaskPlaylistRanker, regularization_path
from skmtc.datasets import make_playlists
from skmtc.model_selection import ColdPlaylistSplit

X = make_playlists(100, 600, 800, 100, random_state=0).drop(columns="year")
((train, test),) = ColdPlaylistSplit(random_state=0).split(X)
X_train, X_test = X.iloc[train], X.iloc[test]
ranker = MultitaskPlaylistRanker(random_state=0)

shared_l1 = np.geomspace(0.5, 0.005, 9)
path = regularization_path(ranker, X_train, [{"shared_l1": value} for value in shared_l1])
coef = np.array([r.shared_coef_[:-1] for r in path])

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for number, name in enumerate(path[0].feature_names_out_[:-1]):
    looks = {"color": "#0072B2", "lw": 2.5} if name == "x0" else {"color": "0.5", "lw": 1}
    axes.plot(shared_l1, coef[:, number], marker=".", **looks)
axes.plot([], [], color="#0072B2", lw=2.5, label="x0, the only true one")
axes.plot([], [], color="0.5", lw=1, label="the other features")
axes.set(xscale="log", xlabel="shared_l1", ylabel="shared weight")
axes.invert_xaxis()
axes.grid(alpha=0.3)
axes.legend()
plt.show()

# %%
# Playlists with weights of their own
# -----------------------------------
# The same for the penalty on the weights of playlists. On the left, the share of weights that are
# not zero, and of playlists with any such weight. On the right, the AUC for the playlists that were
# trained on and for new ones of the same users, for whom playlist weights do not count.

playlist_l1 = np.geomspace(5.0, 0.05, 9)
path = regularization_path(ranker, X_train, [{"playlist_l1": value} for value in playlist_l1])
weights_left = [(r.playlist_coef_ != 0).mean() for r in path]
playlists_left = [(r.playlist_coef_ != 0).any(axis=1).mean() for r in path]
auc_known = [r.score(X_train) for r in path]
auc_new = [r.score(X_test) for r in path]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(playlist_l1, playlists_left, color="#0072B2", marker="o", label="playlists with weights")
left.plot(playlist_l1, weights_left, color="#D55E00", marker="s", ls="--", label="weights")
left.set(ylabel="share that is not zero", title="Sparsity")
right.plot(playlist_l1, auc_known, color="#009E73", marker="^", label="trained on")
right.plot(playlist_l1, auc_new, color="black", marker="D", ls="--", label="new playlists")
right.set(ylabel="AUC", title="Ranking")
for axes in (left, right):
    axes.set(xscale="log", xlabel="playlist_l1")
    axes.invert_xaxis()
    axes.grid(alpha=0.3)
    axes.legend()
plt.show()

# %%
# What we learnt
# --------------
# The feature with a true shared weight enters first and keeps the largest weight. At weak penalties
# other features enter, which these hundred users have in common by chance. Weights of playlists
# matter little for new playlists: from strong to weak penalties their AUC hardly changes, while
# that of the training playlists keeps rising. The two curves of the right panel are for different
# playlists, so compare only their slopes.

alone = [f"{v:.3g}" for v, row in zip(shared_l1, coef, strict=True) if np.count_nonzero(row) == 1]
print(f"x0 is alone among the shared weights at shared_l1 of {', '.join(alone)}")
best = int(np.argmax(auc_new))
print(
    f"best for new playlists: playlist_l1={playlist_l1[best]:.2g}, with "
    f"{weights_left[best]:.1%} of the weights; the weakest penalty costs "
    f"{auc_new[best] - auc_new[-1]:.3f} AUC there, and gains {auc_known[-1] - auc_known[best]:.3f} "
    "on the playlists that were trained on"
)
