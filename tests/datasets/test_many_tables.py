"""Tables in several files, and tables of other libraries."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from skmtc import PopularityRanker
from skmtc.datasets import make_playlists, read_table, write_table


@pytest.fixture
def X():
    return make_playlists(preset="tiny", random_state=0)


def assert_same(found, X):
    assert list(found.columns) == list(X.columns)
    for column in X.columns:
        assert found[column].astype(X[column].dtype).tolist() == X[column].tolist()


@pytest.fixture
def folder(tmp_path, X):
    for number, rows in enumerate(np.array_split(np.arange(len(X)), 3)):
        write_table(X.iloc[rows], tmp_path / f"part-{number}.parquet")
    return tmp_path


def test_a_folder_of_parquet_files_is_one_table(folder, X):
    found = read_table(folder)
    assert_same(found, X)
    assert all(
        isinstance(found[c].dtype, pd.CategoricalDtype) for c in ("user", "playlist", "song")
    )
    assert not isinstance(found["artist"].dtype, pd.CategoricalDtype)
    assert_same(read_table(sorted(folder.iterdir())), X)


def test_files_of_several_formats_are_one_table(tmp_path, X):
    write_table(X.iloc[:50], tmp_path / "a.parquet")
    write_table(X.iloc[50:], tmp_path / "b.csv.gz")
    found = read_table(tmp_path)
    assert found["song"].tolist() == X["song"].tolist()
    assert found.index.tolist() == list(range(len(X)))


def test_categorical_columns_stay_so(tmp_path, X):
    for part in range(2):
        write_table(X[part::2].astype({"genre": "category"}), tmp_path / f"{part}.parquet")
    assert isinstance(read_table(tmp_path)["genre"].dtype, pd.CategoricalDtype)


def test_numbers_stay_numbers_in_several_files(tmp_path):
    for part in range(2):
        ids = np.arange(part * 4, part * 4 + 4, dtype=np.int32)
        table = pd.DataFrame({"playlist": ids // 2, "song": ids})
        write_table(table, tmp_path / f"{part}.parquet")
    found = read_table(tmp_path, user=None)
    assert (found.dtypes == np.int32).all()
    assert found["song"].tolist() == list(range(8))


@pytest.mark.parametrize(
    "convert",
    [
        lambda X, _: pl.from_pandas(X).lazy(),
        lambda X, _: pl.from_pandas(X),
        lambda X, _: pa.Table.from_pandas(X),
        lambda X, _: X,
        lambda _, folder: dataset.dataset(folder, format="parquet"),
        lambda _, folder: duckdb.read_parquet(str(folder / "*.parquet")),
        lambda _, folder: pl.scan_parquet(folder / "*.parquet"),
    ],
)
def test_tables_of_other_libraries_are_read(X, folder, convert):
    assert_same(read_table(convert(X, folder)), X)


def test_a_dataset_is_fitted_like_its_files(X, folder):
    direct = PopularityRanker().fit(X)
    whole = PopularityRanker().fit(dataset.dataset(folder, format="parquet"))
    parts = PopularityRanker().fit(read_table(folder))
    for ranker in (whole, parts):
        assert ranker.songs_.tolist() == direct.songs_.tolist()
        np.testing.assert_array_equal(ranker.membership_.toarray(), direct.membership_.toarray())


def test_bytes_of_all_files_count_together(folder):
    for part in folder.iterdir():
        read_table(part, max_bytes=30_000)
    with pytest.raises(ValueError, match="more than max_bytes"):
        read_table(folder, max_bytes=30_000)


@pytest.mark.parametrize("end", ["csv", "csv.gz", "parquet"])
def test_repeated_texts_of_all_files_count_together(tmp_path, end):
    for part in range(3):
        songs = [f"s{part}-{i}" for i in range(1000)]
        table = pd.DataFrame({"playlist": "p", "song": songs, "text": "x" * 1000})
        write_table(table, tmp_path / f"{part}.{end}")
    assert len(read_table(tmp_path / f"0.{end}", max_bytes=1_500_000)) == 1000
    assert len(read_table(tmp_path, max_bytes=3_500_000)) == 3000
    with pytest.raises(ValueError, match="max_bytes=2900000"):
        read_table(tmp_path, max_bytes=2_900_000)


def test_small_files_are_read_within_their_bytes(tmp_path):
    n_bytes = 0
    for part in range(3):
        path = tmp_path / f"{part}.csv"
        write_table(pd.DataFrame({"playlist": 1, "song": range(500), "a": 0, "b": 0}), path)
        n_bytes += path.stat().st_size
    assert len(read_table(tmp_path, max_bytes=n_bytes)) == 1500
    with pytest.raises(ValueError, match="The files of a table must not be larger than max_bytes"):
        read_table(tmp_path, max_bytes=n_bytes - 1)


def test_a_plain_file_is_refused_by_its_size(tmp_path):
    path = tmp_path / "t.csv"
    write_table(pd.DataFrame({"playlist": "p" * 1000, "song": range(2000)}), path)
    assert len(read_table(path, max_bytes=path.stat().st_size)) == 2000
    with pytest.raises(ValueError, match="A file must not be larger than max_bytes=1500000"):
        read_table(path, max_bytes=1_500_000)


def test_files_of_one_table_have_the_same_columns(folder, X):
    write_table(X[["playlist", "song"]], folder / "part-9.parquet")
    with pytest.raises(ValueError, match=r"same columns; got \['playlist', 'song'\] in .*part-9"):
        read_table(folder)


def test_files_of_one_table_have_the_same_types(tmp_path):
    parquet.write_table(pa.table({"playlist": [1], "song": [1]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"playlist": [1], "song": ["s"]}), tmp_path / "b.parquet")
    with pytest.raises(TypeError, match="columns of the same types"):
        read_table(tmp_path)


def test_a_damaged_part_is_named(folder):
    (folder / "part-1.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(ValueError, match=r"whole Parquet file .*part-1\.parquet"):
        read_table(folder)


def test_a_folder_must_hold_tables(tmp_path):
    with pytest.raises(FileNotFoundError, match="got none in"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="got an empty one"):
        read_table([])
