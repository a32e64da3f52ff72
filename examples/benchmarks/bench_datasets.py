"""Time the loading of playlists in the format of the Million Playlist Dataset.

The slices are made here, from random tracks with a long tail, indented as in the real set::

    python examples/benchmarks/bench_datasets.py               # 100 slices, 6.6 M rows
    python examples/benchmarks/bench_datasets.py --tiny
    python examples/benchmarks/bench_datasets.py --preset 30music
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import peak_megabytes

from skmtc.datasets import load_mpd, make_playlists

PLAYLISTS_PER_SLICE = 1000


def track(position, song):
    """Give one track as the real set has it."""
    artist, album = song % 9973, song // 8
    return {
        "pos": position,
        "artist_name": f"Artist number {artist}",
        "track_uri": f"spotify:track:{song:022d}",
        "artist_uri": f"spotify:artist:{artist:022d}",
        "track_name": f"A song called {song}",
        "album_uri": f"spotify:album:{album:022d}",
        "duration_ms": 150_000 + song % 100_000,
        "album_name": f"An album called {album}",
    }


def write_slice(folder, number, rng, n_songs, mean_length):
    """Write one slice of playlists, and give the number of its rows."""
    first = number * PLAYLISTS_PER_SLICE
    playlists = []
    for pid in range(first, first + PLAYLISTS_PER_SLICE):
        length = 5 + rng.poisson(mean_length - 5)
        songs = np.minimum(rng.pareto(0.8, size=length) * 500, n_songs - 1).astype(int)
        playlists.append(
            {
                "name": f"playlist {pid}",
                "collaborative": "false",
                "pid": pid,
                "modified_at": 1493424000,
                "num_tracks": int(length),
                "tracks": [track(i, int(song)) for i, song in enumerate(songs)],
            }
        )
    last = first + PLAYLISTS_PER_SLICE - 1
    text = json.dumps({"info": {"slice": f"{first}-{last}"}, "playlists": playlists}, indent=4)
    (folder / f"mpd.slice.{first}-{last}.json").write_text(text)
    return sum(len(p["tracks"]) for p in playlists)


def bench_mpd(n_slices, n_songs, mean_length):
    """Write slices, load them, and print rows per second and peak memory."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n_rows = sum(write_slice(folder, n, rng, n_songs, mean_length) for n in range(n_slices))
        n_bytes = sum(path.stat().st_size for path in folder.iterdir())
        before = peak_megabytes()
        start, start_cpu = time.perf_counter(), time.process_time()
        bunch = load_mpd(folder)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    print(
        f"load_mpd: {n_slices} slices, {n_bytes / 2**30:.2f} GiB, {n_rows} rows read in "
        f"{seconds:.1f} s: {n_rows / seconds:,.0f} rows/s ({n_rows / cpu_seconds:,.0f} by CPU "
        f"time); peak {peak_megabytes():.0f} MB "
        f"({before:.0f} MB before); table of {len(bunch.X)} rows, {len(bunch.songs)} songs; "
        f"dropped {bunch.dropped}"
    )


def bench_generator(preset):
    """Make playlists, and print the time, the peak memory and the sizes."""
    start = time.perf_counter()
    X = make_playlists(preset=preset, random_state=0)
    seconds = time.perf_counter() - start
    sizes = {name: X[name].nunique() for name in ("user", "playlist", "song", "artist")}
    print(
        f"make_playlists: preset {preset}, {len(X)} rows in {seconds:.1f} s; peak "
        f"{peak_megabytes():.0f} MB; {sizes}"
    )


def main(arguments=None):
    """Run the benchmark of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slices", type=int, default=100, help="number of slices to make and load")
    parser.add_argument("--preset", help="time make_playlists with this preset instead")
    parser.add_argument("--tiny", action="store_true", help="one slice and the tiny preset")
    chosen = parser.parse_args(arguments)
    if chosen.tiny:
        bench_generator("tiny")
        bench_mpd(1, n_songs=2_000, mean_length=8)
    elif chosen.preset:
        bench_generator(chosen.preset)
    else:
        bench_mpd(chosen.slices, n_songs=700_000, mean_length=66)


if __name__ == "__main__":
    main()
