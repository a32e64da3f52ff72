"""Genre annotations of the Million Song Dataset."""

import pandas as pd
from sklearn.utils import Bunch

from skmtc._typing import StrPath
from skmtc.datasets.reading import MAX_BYTES, LoadReport, Source, clean_text

DESCRIPTION = (
    "Genres by track of the Million Song Dataset, in the format of Top-MAGD (Schindler et al., "
    "ISMIR 2012) and of the tagtraum annotations (Schreiber, ISMIR 2015)."
)


def load_genres(path: StrPath, *, max_bytes: int = MAX_BYTES) -> Bunch:
    r"""Load genre annotations from a local copy.

    Parameters
    ----------
    path : path-like
        `msd-topMAGD-genreAssignment.cls` or `msd_tagtraum_cd2c.cls`, plain or gzip: lines of a
        track id, a genre and perhaps a second genre, separated by tabs.

    max_bytes : int, default=8 GiB
        Refuse a file that is larger than this once decompressed.

    Returns
    -------
    bunch : Bunch
        `genres`, a table with the columns genre and second_genre by MSD track id; `dropped` and
        `repaired`, counts by reason; `DESCR`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skmtc.datasets import load_genres
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "genres.cls")
    ...     _ = path.write_text("# a comment\nTR1\tRock\tPop\nTR2\tJazz\n")
    ...     bunch = load_genres(path)
    >>> bunch.genres["genre"].to_dict()
    {'TR1': 'Rock', 'TR2': 'Jazz'}
    """
    load_report = LoadReport("the genres")
    source = Source(path, max_bytes)
    rows = {}
    for line in source.lines():
        if line.lstrip().startswith("#"):
            continue
        fields = _fields(line, load_report)
        if fields is None:
            load_report.drop("malformed lines")
        elif fields[0] in rows:
            load_report.drop("tracks seen before")
        else:
            rows[fields[0]] = fields[1:]
    source.report(load_report)
    if not rows:
        raise ValueError(
            f"The genre file must hold lines of a track, a tab and a genre; got none in "
            f"{str(path)!r} ({load_report.listing()}). Check the path."
        )
    genres = pd.DataFrame(
        list(rows.values()),
        columns=["genre", "second_genre"],
        index=pd.Index(list(rows), dtype=object, name="track"),
        dtype=object,
    )
    load_report.warn(stacklevel=3)
    descr = f"{DESCRIPTION}\n\nAs loaded: {load_report.listing()}."
    return Bunch(genres=genres, DESCR=descr, **load_report.counts())


def _fields(line, load_report):
    """Split a line into track, genre and second genre or None; None where that fails."""
    fields = [clean_text(f.strip()) for f in line.split("\t")]
    if len(fields) == 1:
        fields = [clean_text(f) for f in line.split()]
        if len(fields) == 2:
            load_report.repair("lines with a space for a tab")
    if not 2 <= len(fields) <= 3 or fields[0] is None or fields[1] is None:
        return None
    return (*fields, None)[:3]
