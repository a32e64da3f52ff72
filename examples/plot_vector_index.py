"""
=================================
Does serving need a vector index?
=================================

Every score is the inner product of a query vector and a song vector. Songs can therefore be stored
in a vector index, which finds good songs without scoring all of them. How does it compare to
``recommend`` in recall and in time per request?
"""

# %%
# A catalogue, and its vectors
# ----------------------------
# Long playlists, in which most songs of a large catalogue appear. The index stores
# ``song_vectors()``, and a request is one row of ``query_vectors``. Songs that are released later
# are added by ``song_vectors(table)``, without a new fit.

import time

import faiss
import matplotlib.pyplot as plt
import numpy as np

from skmtc import MultitaskPlaylistRanker
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features

X = make_playlists(300, 1_500, 20_000, 2_000, n_features=16, mean_length=60, random_state=0)
features = make_song_features(X, artist=None).set_params(song="drop")  # no vectors
ranker = MultitaskPlaylistRanker(song_features=features, tol=1e-2, random_state=0).fit(X)
song_vectors = ranker.song_vectors().astype(np.float32)
queries = X[["user"]].drop_duplicates().head(200)
query_vectors = ranker.query_vectors(queries).astype(np.float32)
print(f"{len(song_vectors):,} songs; vectors of {song_vectors.shape[1]} numbers")

# %%
# Exact, and nearly exact
# -----------------------
# ``recommend`` and faiss's flat index are exact. The HNSW graph of faiss is approximate: its search
# keeps ``efSearch`` candidates, and more of them find more songs. Such graphs work best for
# distances. So songs get one more dimension, which makes all vectors equally long, and queries have
# a zero there: the nearest song is then the one with the largest score.

faiss.omp_set_num_threads(1)
lengths = np.linalg.norm(song_vectors, axis=1)
missing = np.sqrt(np.maximum(lengths.max() ** 2 - lengths**2, 0.0))
stored = np.column_stack([song_vectors, missing]).astype(np.float32)
asked = np.column_stack([query_vectors, np.zeros(len(queries))]).astype(np.float32)

flat = faiss.IndexFlatIP(stored.shape[1])
flat.add(stored)
graph = faiss.IndexHNSWFlat(stored.shape[1], 32)
graph.hnsw.efConstruction = 60
start = time.perf_counter()
graph.add(stored)
print(f"graph made in {time.perf_counter() - start:.1f} s")


def ask_one_by_one(search, requests):
    """Return what is found for each request, and the median milliseconds of a request."""
    found, seconds = [], []
    for number in range(len(requests)):
        start = time.perf_counter()
        found.append(search(requests[number : number + 1]))
        seconds.append(time.perf_counter() - start)
    return np.concatenate(found), 1e3 * np.median(seconds)


def from_index(index):
    """Return a function that finds the positions of the ten best songs."""
    return lambda vectors: index.search(vectors, 10)[1]


def from_ranker(users):
    """Find the ids of the ten best songs."""
    return ranker.recommend(users, n_recommendations=10)[0]


best = from_ranker(queries)


def recall(songs):
    """Return the share of the ten best songs that were found."""
    return np.mean([len(set(a) & set(b)) / 10 for a, b in zip(songs, best, strict=True)])


answers = {}
for effort in (10, 20, 40, 80, 160, 320):
    graph.hnsw.efSearch = effort
    found, milliseconds = ask_one_by_one(from_index(graph), asked)
    answers[f"graph, efSearch {effort}"] = recall(ranker.songs_[found]), milliseconds
found, milliseconds = ask_one_by_one(from_index(flat), asked)
answers["flat index, exact"] = recall(ranker.songs_[found]), milliseconds
found, milliseconds = ask_one_by_one(from_ranker, queries)
answers["recommend, one request"] = 1.0, milliseconds
start = time.perf_counter()
from_ranker(queries)
answers["recommend, all together"] = 1.0, 1e3 * (time.perf_counter() - start) / len(queries)

# %%
# Recall and time
# ---------------
# The time of ``recommend`` is that of the whole call, including reading the table of queries. The
# times of indexes do not include making query vectors.

figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
looks = {"graph": ("#0072B2", "o"), "flat index": ("#009E73", "^"), "recommend": ("#D55E00", "s")}
for kind, (colour, marker) in looks.items():
    points = {name: point for name, point in answers.items() if name.startswith(kind)}
    recalls, milliseconds = np.transpose(list(points.values()))
    axes.plot(milliseconds, recalls, color=colour, marker=marker, ls="-" if kind == "graph" else "")
    for name, (share, spent) in points.items():
        label = name.removeprefix(f"{kind}, ").replace("efSearch ", "")
        place = (-6, 6) if kind == "graph" else (0, -16)
        if kind != "flat index":
            axes.annotate(label, (spent, share), place, textcoords="offset points", ha="center")
axes.legend(["graph (HNSW), by efSearch", "flat index, exact", "recommend"], loc="lower right")
axes.set(xscale="log", xlabel="milliseconds per request", ylabel="recall of the ten best")
axes.set_ylim(top=1.01)
axes.margins(x=0.1)
axes.grid(alpha=0.3)
plt.show()

# %%
# What we learnt
# --------------
# A graph finds nearly all of the songs that ``recommend`` returns, and all of them with a larger
# ``efSearch``, in a fraction of a millisecond. At this size, so does a flat index, which is exact
# and needs no tuning. A call of ``recommend`` for one user takes far longer than its share of a
# call for many. So pass many users per call if you can, and use an index if requests come one by
# one.

for name, (share, spent) in answers.items():
    print(f"{name:26} recall {share:.3f}, {spent:8.3f} ms per request")
