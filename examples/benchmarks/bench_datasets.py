"""Time the loading of playlists in the format of the Million Playlist Dataset.

The slices are made here, from random tracks with a long tail, indented as in the real set::

    python examples/benchmarks/bench_datasets.py               # 100 slices, 6.6 M rows
    python examples/benchmarks/bench_datasets.py --tiny
    python examples/benchmarks/bench_datasets.py --preset 30music

The figures are printed, and written with ``--csv FILE``.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from machine import peak_megabytes, write_table

from skmtc.datasets import load_mpd, make_playlists

PLAYLISTS_PER_SLICE = 1000


def track(position, song):
    """Return one track as the real set has it."""
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
    """Write slices, load them, and give rows per second and peak memory."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n_rows = sum(write_slice(folder, n, rng, n_songs, mean_length) for n in range(n_slices))
        n_bytes = sum(path.stat().st_size for path in folder.iterdir())
        before = peak_megabytes()
        start, start_cpu = time.perf_counter(), time.process_time()
        bunch = load_mpd(folder)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    print(f"load_mpd dropped {bunch.dropped}")
    return {
        "what": f"load_mpd, {n_slices} slices",
        "GiB": round(n_bytes / 2**30, 3),
        "rows_read": n_rows,
        "rows": len(bunch.X),
        "songs": len(bunch.songs),
        "seconds": round(seconds, 2),
        "rows_per_second": round(n_rows / seconds),
        "rows_per_cpu_second": round(n_rows / cpu_seconds),
        "peak_MB_before": round(before),
        "peak_MB": round(peak_megabytes()),
    }


def bench_generator(preset):
    """Make playlists, and give the time, the peak memory and the sizes."""
    start = time.perf_counter()
    X = make_playlists(preset=preset, random_state=0)
    seconds = time.perf_counter() - start
    sizes = {f"{name}s": X[name].nunique() for name in ("user", "playlist", "song", "artist")}
    return {
        "what": f"make_playlists, preset {preset}",
        "rows": len(X),
        **sizes,
        "seconds": round(seconds, 2),
        "rows_per_second": round(len(X) / seconds),
        "peak_MB": round(peak_megabytes()),
    }


def main(arguments=None):
    """Run the benchmark of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slices", type=int, default=100, help="number of slices to make and load")
    parser.add_argument("--preset", help="time make_playlists with this preset instead")
    parser.add_argument("--tiny", action="store_true", help="one slice and the tiny preset")
    parser.add_argument("--csv", help="file for the figures")
    chosen = parser.parse_args(arguments)
    if chosen.tiny:
        rows = [bench_generator("tiny"), bench_mpd(1, n_songs=2_000, mean_length=8)]
    elif chosen.preset:
        rows = [bench_generator(chosen.preset)]
    else:
        rows = [bench_mpd(chosen.slices, n_songs=700_000, mean_length=66)]
    for row in rows:
        print(pd.Series(row).to_string())
    if chosen.csv:
        write_table(pd.DataFrame(rows), chosen.csv, "pandas", "orjson")


if __name__ == "__main__":
    main()
