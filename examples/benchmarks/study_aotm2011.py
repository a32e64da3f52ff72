"""The paper's experiments with new playlists and new users, on the real playlists of AotM-2011.

The table has no attributes of songs or users, so that features of songs are learned from the
training playlists: vectors by `SongEmbedding`, and popularity. Songs in at least 10 playlists and
playlists of at least 5 songs are kept. Rankers that have something to choose are tuned on training
rows, split once more by the same rule; not on a share of the users, with whom vectors of songs are
worse, so that stronger penalties seem better. Then each is fitted on all training rows and
evaluated on the playlists that were held out::

    python study_aotm2011.py aotm2011.csv.gz --csv study_aotm2011.csv
    python study_aotm2011.py aotm2011.csv.gz --settings "cold users" --csv study_aotm2011.csv
    python study_aotm2011.py aotm2011.csv.gz --csv study_aotm2011.csv --parts folder
    python study_aotm2011.py --tiny                # seconds, on generated playlists

The file has the columns user_id, playlist_id, song_id and pos. With `--parts`, a run that was
stopped goes on where it was. Rows of settings that the CSV has already and that are not run again
stay in it. Intervals are of 95 %, by bootstrap over users; those of the lead compare rankers
playlist by playlist.
"""

import argparse

from playlists import read_playlists
from study import Entry, Study, add_options, part_of_grid, run_study

from skmtc import (
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PopularityRanker,
)
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features
from skmtc.model_selection import ColdPlaylistSplit, ColdUserSplit

SPLITTERS = (ColdPlaylistSplit(), ColdUserSplit())
FACTOR_GRID = {
    "n_factors": [32, 128],
    "factor_l2": [10.0, 100.0, 300.0, 1000.0],
    "confidence": [10.0, 30.0, 100.0],
}
# New users have nothing but shared weights, so that theirs is the penalty that counts.
MULTITASK_GRIDS = {
    "cold playlists": {"user_l2": [0.1, 0.3, 1.0], "shared_l1": [0.001]},
    "cold users": {"user_l2": [0.3], "shared_l1": [0.003, 0.01, 0.03, 0.1]},
}


def main():
    """Run the study of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", help="CSV file of the playlists")
    add_options(parser, SPLITTERS)
    options = parser.parse_args()
    if bool(options.path) == options.tiny:
        parser.error("pass either the path of a table or --tiny")

    def entries(train, setting):
        return make_entries(train, setting, options)

    run_study(Study(*read(options), entries, SPLITTERS), options)


def read(options):
    """Return the name and the table of the run."""
    if options.tiny:
        X = make_playlists(repeat=0.15, random_state=0)
        return "make_playlists('small')", X[["user", "playlist", "song"]]
    return "AotM-2011", read_playlists(options.path)


def make_entries(train, setting, options):
    """Return all rankers by name."""
    tiny = options.tiny
    features = make_song_features(train[["song"]], random_state=0)
    if tiny:
        features.set_params(song__encode__vector_size=8)
    common = {"n_jobs": options.jobs, "random_state": 0}
    factors = MatrixFactorizationRanker(content_model=None, **common)
    multitask = MultitaskPlaylistRanker(song_features=features, **common)
    history = MultitaskPlaylistRanker(
        song_features=features, history=("song", "co-occurrence"), **common
    )
    entries = {
        "popularity": Entry(PopularityRanker(artist=None)),
        "own songs first": Entry(OwnSongsRanker(artist=None)),
        "matrix factorisation": Entry(factors, part_of_grid(FACTOR_GRID, tiny=tiny)),
        "multitask": Entry(multitask, part_of_grid(MULTITASK_GRIDS[setting], tiny=tiny)),
    }
    if setting == "cold users":  # who have no history
        return entries
    goal = "hit_rate@100"
    return entries | {
        "multitask + history": Entry(history, searched_as="multitask"),
        "matrix factorisation, tuned by hit rate": Entry(
            factors, searched_as="matrix factorisation", goal=goal
        ),
        "multitask, tuned by hit rate": Entry(multitask, searched_as="multitask", goal=goal),
    }


if __name__ == "__main__":
    main()
