"""
===============================
Does it work on a million rows?
===============================

A table with a million rows is not large for a music service. How long do a fit, an evaluation and
recommendations for all users take on an ordinary machine, and how does the time grow?
"""

# %%
# The table
# ---------
# Long playlists, as on streaming services, from a small catalogue with few features, so that this
# page builds fast: the time of a fit grows with the rows, and with playlists times songs. The
# scripts in ``examples/benchmarks`` measure larger catalogues.

import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skmtc import MultitaskPlaylistRanker, evaluate
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features
from skmtc.model_selection import ColdPlaylistSplit

start = time.perf_counter()
X = make_playlists(1_250, 5_000, 1_500, 250, n_features=5, mean_length=206, random_state=0)
print(f"{len(X):,} rows, {X.memory_usage(deep=True).sum() / 1e6:.0f} MB")
print(f"{X['playlist'].nunique():,} playlists of {X['user'].nunique():,} users")
print(f"{X['song'].nunique():,} songs")
print(f"generated in {time.perf_counter() - start:.1f} s")

# %%
# Four steps, three sizes
# -----------------------
# Four steps are timed for all users, for a fifth of them, and for a fifth of these. The fits use
# two threads, which never change a result, and a loose tolerance, which is good enough for ranking
# (see :ref:`sphx_glr_auto_examples_plot_solvers.py`). A small fit comes first, so that the time of
# compiling (with the extra ``fast``) is not counted.

small = make_playlists(preset="tiny", random_state=0).drop(columns="year")
MultitaskPlaylistRanker().fit(small)


def timed(function, *args, **kwargs):
    """Return the seconds of a call, and what it returns."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return time.perf_counter() - start, result


def split(X):
    """Return the training and the test table."""
    ((train, test),) = ColdPlaylistSplit(user_size=0.1, random_state=0).split(X)
    return X.iloc[train], X.iloc[test]


users = np.random.default_rng(0).permutation(X["user"].unique())
features = make_song_features(X, tags=None, artist=None).set_params(song="drop")
rows = []
for share in (1 / 25, 1 / 5, 1):
    part = X[X["user"].isin(users[: round(share * len(users))])]
    ranker = MultitaskPlaylistRanker(song_features=features, tol=1e-2, n_jobs=2, random_state=0)
    split_time, (X_train, X_test) = timed(split, part)
    fit_time, _ = timed(ranker.fit, X_train)
    evaluate_time, evaluated = timed(evaluate, ranker, X_test, "auc")
    everybody = X_train[["user"]].drop_duplicates()
    recommend_time, (songs, _) = timed(ranker.recommend, everybody, n_recommendations=100)
    rows.append(
        {
            "rows": len(part),
            "split": split_time,
            "fit": fit_time,
            "evaluate": evaluate_time,
            "recommend": recommend_time,
            "auc": evaluated["auc"].mean(),
        }
    )
times = pd.DataFrame(rows)
print(times.round(3).to_string(index=False))

# %%
# How the time grows
# ------------------
# Both axes are logarithmic; the dotted line is proportional to the number of rows.

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
looks = {
    "fit": ("#0072B2", "o"),
    "split": ("#009E73", "^"),
    "recommend": ("#D55E00", "s"),
    "evaluate": ("#000000", "D"),
}
for step, (colour, marker) in looks.items():
    axes.plot(times["rows"], times[step], color=colour, marker=marker, label=step)
line = times["fit"].iloc[-1] * times["rows"] / times["rows"].iloc[-1]
axes.plot(times["rows"], line, color="0.5", ls=":", label="in proportion")
axes.set(xscale="log", yscale="log", xlabel="rows of the table", ylabel="seconds")
axes.set_xticks(times["rows"], [f"{n:,}" for n in times["rows"]])
axes.set_xticks([], minor=True)
axes.grid(alpha=0.3)
axes.legend()
plt.show()

# %%
# What we learnt
# --------------
# Yes, in seconds. The fit takes most of the time. Features are made once per song, not once per
# row, and scores are computed in blocks that fit scikit-learn's ``working_memory``.

whole = times.iloc[-1]
print(f"{whole['rows']:,.0f} rows: fitted in {whole['fit']:.1f} s to an AUC of {whole['auc']:.3f}")
print(f"the 100 best songs for each of {len(songs):,} users in {whole['recommend']:.2f} s")
