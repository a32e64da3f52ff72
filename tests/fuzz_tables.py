"""Tables as people really send them: odd ids, odd types, odd numbers; shared by tests."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

SPELLINGS = {
    "int": int,
    "negative int": lambda code: -7 * code,
    "large int": lambda code: 2**53 + code,
    "float": lambda code: code / 2,
    "str": str,
    "mixed width": lambda code: "é" * (code % 5) + f"{code}",
    "unicode": lambda code: chr(0x1F3A7 + code) + "\u200d" + chr(0x5D0 + code % 20),
    "blank": lambda code: " " * code,
    "tuple-like": lambda code: f"('{code}', nan)",
}
DTYPES = {
    "int": ["int64", "int8", "uint16", "Int64", "category", "object", "int64[pyarrow]", "float64"],
    "negative int": ["int64", "Int32", "category", "int64[pyarrow]"],
    "large int": ["int64", "Int64", "uint64"],
    "float": ["float64", "float32", "Float64", "category"],
}
STRING_DTYPES = ["object", "category", "string", "string[pyarrow]"]
ODD_NUMBERS = [0.0, 1.0, -1.0, 1e-300, 1e30, -1e30, 1e300, np.inf, -np.inf, np.nan]
NUMBER_DTYPES = ["float32", "Float64", "double[pyarrow]", "int64", "bool", "object"]


@st.composite
def id_columns(draw, codes):
    """Spell codes as ids of some type."""
    spelling = draw(st.sampled_from(sorted(SPELLINGS)))
    ids = [SPELLINGS[spelling](int(code)) for code in codes]
    dtype = draw(st.sampled_from(DTYPES.get(spelling, STRING_DTYPES)))
    return pd.Series(ids).astype(dtype)


@st.composite
def number_columns(draw, codes):
    """Sample one number per code, tame or odd, of some type."""
    n_codes = int(codes.max()) + 1
    kind = draw(st.sampled_from(["tame"] * 9 + ["constant", "odd", "large"]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    values = rng.normal(size=n_codes)
    if kind == "constant":
        values[:] = draw(st.sampled_from(ODD_NUMBERS))
    elif kind == "odd":
        values[rng.integers(n_codes)] = draw(st.sampled_from(ODD_NUMBERS))
    elif kind == "large":
        values *= draw(st.sampled_from([1e3, 1e8, 1e14, 1e16, 1e30]))
    dtype = draw(st.sampled_from(["float64"] * 4 + NUMBER_DTYPES))
    if dtype in ("bool", "int64"):
        values = np.clip(np.nan_to_num(values), -1e9, 1e9)
    column = pd.Series(values[codes])
    with np.errstate(over="ignore"):
        return column.round().astype(dtype) if dtype == "int64" else column.astype(dtype)


@st.composite
def fuzz_tables(draw):
    """Sample a membership table, mostly a good one, of any size from one row on."""
    n_rows = draw(st.integers(1, 40))
    n_users, n_playlists, n_songs, n_artists = (
        draw(st.integers(1, most)) for most in (5, 8, 12, 4)
    )
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    playlists = rng.integers(n_playlists, size=n_rows)
    songs = rng.integers(n_songs, size=n_rows)
    users = rng.integers(n_users, size=n_playlists)[playlists]
    if draw(st.integers(0, 19)) == 0:  # owners that do not agree
        users = rng.integers(n_users, size=n_rows)
    columns = {
        "user": draw(id_columns(users)),
        "playlist": draw(id_columns(playlists)),
        "song": draw(id_columns(songs)),
        "artist": draw(id_columns(songs % n_artists)),
        "x0": draw(number_columns(songs)),
        "x1": draw(number_columns(songs)),
        "age": draw(number_columns(users)),
    }
    if draw(st.integers(0, 19)) == 0:
        hole = draw(st.sampled_from(sorted(columns)))
        columns[hole] = columns[hole].mask(rng.random(n_rows) < 0.3)
    return pd.DataFrame(columns)


@st.composite
def parts_of(draw, X):
    """Sample rows of a table, some with new ids or missing attributes."""
    rows = X.iloc[draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=6))]
    rows = rows.reset_index(drop=True)
    for label in draw(st.sets(st.sampled_from(list(X.columns)), max_size=2)):
        change = draw(st.sampled_from(["new", "missing", "drop"]))
        if change == "drop":
            rows = rows.drop(columns=label)
        elif change == "missing":
            rows = rows.assign(**{label: rows[label].mask(np.ones(len(rows), dtype=bool))})
        elif pd.api.types.is_numeric_dtype(rows[label].dtype):
            rows = rows.assign(**{label: rows[label].astype("float64") + 1000})
        else:
            rows = rows.assign(**{label: "new " + rows[label].astype(str)})
    return rows
