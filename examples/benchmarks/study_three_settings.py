"""The paper's three experiments, new playlists, new users and new songs, on generated playlists.

Playlists are those of `make_playlists(preset="30music")`, which draws them from the model of the
paper, so that this shows what the ranker does where its assumptions hold; how it does on real
playlists is seen in `study_aotm2011.py`. Unless told otherwise there are half as many users,
playlists, songs and artists as in the preset, which is as large as the paper's first data set.
Songs and users have attributes. Features of songs are those of `make_song_features`, for new songs
those of `new_songs=True`. Rankers that have something to choose are tuned on the playlists of a
share of the training users, split once more by the same rule; the best AUC counts. Then each is
fitted on all training rows and evaluated on what was held out::

    python study_three_settings.py --csv study_three_settings.csv
    python study_three_settings.py --scale 1                  # all of the preset
    python study_three_settings.py --settings "cold songs" --csv study_three_settings.csv
    python study_three_settings.py --tiny                     # seconds

With `--parts FOLDER`, a run that was stopped goes on where it was. Rows of settings that the CSV
has already and that are not run again stay in it. Intervals are of 95 %, by bootstrap over users;
those of the lead compare rankers playlist by playlist.
"""

import argparse
import warnings

from study import Entry, Study, add_options, part_of_grid, run_study

from skmtc import (
    CollocatedArtistRanker,
    MatrixFactorizationRanker,
    MultitaskPlaylistRanker,
    OwnSongsRanker,
    PopularityRanker,
    SameArtistRanker,
)
from skmtc.datasets import make_playlists
from skmtc.features import make_song_features, make_user_features
from skmtc.model_selection import ColdPlaylistSplit, ColdSongSplit, ColdUserSplit

SPLITTERS = (ColdPlaylistSplit(), ColdUserSplit(), ColdSongSplit())
# The sizes of preset="30music", which `--scale` multiplies.
SIZES = {"n_users": 8_070, "n_playlists": 17_457, "n_songs": 64_000, "n_artists": 10_700}
FACTOR_GRID = {"n_factors": [32, 64], "factor_l2": [1.0, 10.0]}
MULTITASK_GRID = {"user_l2": [0.1, 0.3, 1.0], "shared_l1": [0.002, 0.02]}


def main():
    """Run the study of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=0.5, help="share of the preset's sizes")
    parser.add_argument(
        "--search-share", type=float, default=0.2, help="share of users for the searches"
    )
    add_options(parser, SPLITTERS)
    options = parser.parse_args()

    def entries(train, setting):
        return make_entries(train, setting, options)

    with warnings.catch_warnings():
        # New songs may be by artists that no training playlist has: these have no vector.
        warnings.filterwarnings("ignore", message=".*unknown.*")
        run_study(Study(*make_table(options), entries, SPLITTERS), options)


def make_table(options):
    """Return the name and the table of the run."""
    if options.tiny:
        return "make_playlists('small')", make_playlists(random_state=0)
    sizes = {name: round(options.scale * size) for name, size in SIZES.items()}
    X = make_playlists(preset="30music", **sizes, random_state=0)
    scaled = "" if options.scale == 1 else f", scaled by {options.scale:g}"
    return f"make_playlists('30music'){scaled}", X


def make_entries(train, setting, options):
    """Return all rankers by name."""
    tiny, share = options.tiny, 1.0 if options.tiny else options.search_share
    songs = make_song_features(train, new_songs=setting == "cold songs", random_state=0)
    users = make_user_features(train)
    if tiny:
        songs.set_params(artist__encode__vector_size=8)
    common = {"song_features": songs, "user_features": users, "random_state": 0}
    common["n_jobs"] = options.jobs
    return {
        "popularity": Entry(PopularityRanker()),
        "own songs first": Entry(OwnSongsRanker()),
        "same artists": Entry(SameArtistRanker()),
        "collocated artists": Entry(CollocatedArtistRanker()),
        "matrix factorisation": Entry(
            MatrixFactorizationRanker(**common), part_of_grid(FACTOR_GRID, tiny=tiny), share
        ),
        "multitask": Entry(
            MultitaskPlaylistRanker(**common), part_of_grid(MULTITASK_GRID, tiny=tiny), share
        ),
    }


if __name__ == "__main__":
    main()
