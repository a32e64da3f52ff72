"""Song vectors of a fitted ranker in PostgreSQL, searched by pgvector.

Needs the package `psycopg`, and a server with the extension `vector`.
"""

import numpy as np


def store_songs(connection, ranker, new_songs=None):
    """Store the vectors of the training catalogue, or of a table of new songs."""
    if new_songs is None:
        ids, vectors = ranker.songs_, ranker.song_vectors()
    else:
        ids, vectors = new_songs[ranker.song], ranker.song_vectors(new_songs)
    size = vectors.shape[1]
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS songs (id text PRIMARY KEY, vector vector({size}))"
    )
    with connection.cursor().copy("COPY songs (id, vector) FROM STDIN") as rows:
        for song, vector in zip(ids, vectors, strict=True):
            rows.write_row((str(song), as_text(vector)))
    connection.commit()


def index_songs(connection):
    """Make a graph (HNSW) for inner products, which finds nearly the best songs quickly."""
    connection.execute("CREATE INDEX songs_by_score ON songs USING hnsw (vector vector_ip_ops)")
    connection.commit()


def best_songs(connection, query_vector, n, *, without=(), effort=100):
    """Return the ids and scores of the songs with the largest inner products.

    `without` are songs that the playlist has. With an index, `effort` songs are looked at, at least
    as many as are asked for and left out; without one, all are, and the answer is exact.
    """
    connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", [str(effort)])
    # pgvector has the negative inner product, as its indexes go by the smallest distance.
    return connection.execute(
        "SELECT id, -(vector <#> %(query)s::vector) FROM songs WHERE id <> ALL(%(without)s) "
        "ORDER BY vector <#> %(query)s::vector LIMIT %(n)s",
        {"query": as_text(query_vector), "without": [str(one) for one in without], "n": n},
    ).fetchall()


def as_text(vector):
    """Write a vector as pgvector reads it, in single precision."""
    return "[" + ",".join(map(str, np.asarray(vector, dtype=np.float32).tolist())) + "]"
