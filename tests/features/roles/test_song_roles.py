"""guess_song_roles."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from skmtc import MultitaskPlaylistRanker, RidgeRanker, make_ranker
from skmtc.datasets import make_playlists
from skmtc.features import SongRoles, guess_song_roles, guess_user_roles, make_song_features

N = 600
rng = np.random.default_rng(0)


def names(n, stem="name", n_rows=N):
    """Return names of which each of `n` occurs equally often."""
    return [f"{stem}{i % n}" for i in range(n_rows)]


def songs(**columns):
    """Return a table with one row per song."""
    return pd.DataFrame({"song": np.arange(N), **columns})


def role_of(column, label="thing", **given):
    """Return the role of a column of songs, or the reason why it has none."""
    roles = guess_song_roles(songs(**{label: column}), **given)
    found = ("numeric", "date", "tags", "identity", "vector", "text", "key", "artist")
    used = [r for r in found if label in np.atleast_1d(getattr(roles, r))]
    assert len(used) + (label in roles.left_out) == 1
    return used[0] if used else roles.left_out[label]


@pytest.fixture
def table():
    n = 3
    return pd.DataFrame(
        {
            "user": ["u", "u", "u", "u", "v", "v"],
            "playlist": ["p", "p", "r", "r", "q", "q"],
            "song": ["s1", "s2", "s1", "s3", "s1", "s4"],
            "artist_name": ["A", "B", "A", "C", "A", "B"],
            "artist_id": [1, 2, 1, 3, 1, 2],
            "genre": [["rock"], ["pop", "rock"], ["rock"], ["pop"], ["rock"], ["jazz"]],
            "key": [0, 11, 0, 4, 0, 11],
            "year": [2009, 1999, 2009, 2001, 2009, 1999],
            "live": [True, False, True, False, True, True],
            "title": ["Go", "Stop", "Go", "Wait", "Go", "Run"],
            "album_id": [5.0, 6.0, 5.0, 7.0, 5.0, np.nan],
            "released": ["2009-01", "1999-05-02", "2009-01", "2001", "2009-01", "1999-05-02"],
            "loudness": [np.nan] * 2 * n,
            "scale": [1] * 2 * n,
            "age": [31, 31, 31, 31, 25, 25],
            "created_at": ["2011-05-01"] * 2 + ["2011-05-02"] * 2 + ["2011-05-03"] * 2,
            "position": [1, 2, 2, 1, 3, 1],
        }
    )


def test_roles_of_a_membership_table(table):
    assert guess_song_roles(table) == SongRoles(
        song="song",
        artist="artist_id",
        key="key",
        numeric=["year", "live"],
        date=["released"],
        tags=["genre"],
        left_out={
            "user": "has the name of an id",
            "playlist": "has the name of an id",
            "artist_name": "says the same as column 'artist_id'",
            "title": "is free text; pass text=['title'] to use it",
            "album_id": "says the same as column 'artist_id'",
            "loudness": "has no values",
            "scale": "has one value only",
            "age": "describes users",
            "created_at": (
                "has dates of playlists; use them with TimeSplit(created='created_at'), or for "
                "sample weights with half_life_weights"
            ),
            "position": (
                "differs between rows of one song; pass numeric=['position'] to use the first row"
            ),
        },
    )


def test_every_column_is_used_or_left_out_once(table):
    for given in ({}, {"text": "auto"}, {"numeric": None}, {"tags": ["genre"]}, {"song": None}):
        roles = guess_song_roles(table, **given)
        assert sorted([*roles.used, *roles.left_out]) == sorted(table.columns)


def test_the_order_of_columns_and_rows_and_the_names_of_values_change_nothing(table):
    expected = guess_song_roles(table)
    turned = guess_song_roles(table[table.columns[::-1]])
    for role in ("numeric", "date", "tags", "identity", "vector", "text"):
        assert set(getattr(turned, role)) == set(getattr(expected, role))
    assert turned.left_out == expected.left_out
    assert guess_song_roles(table.iloc[::-1]) == expected
    renamed = table.assign(genre=[[f"x{t[::-1]}" for t in tags] for tags in table["genre"]])
    assert guess_song_roles(renamed) == expected


@pytest.mark.parametrize("kind", [int, float, str, "category"])
def test_ids_of_any_type(table, kind):
    ids = {c: pd.factorize(table[c])[0] for c in ("user", "playlist", "song", "artist_id")}
    typed = table.assign(**{c: pd.Series(codes).astype(kind) for c, codes in ids.items()})
    assert guess_song_roles(typed) == guess_song_roles(table)


@pytest.mark.parametrize("change", [str.upper, str.title, lambda c: c.replace("_", " ")])
def test_names_in_any_spelling(table, change):
    roles, expected = guess_song_roles(table.rename(columns=change)), guess_song_roles(table)
    assert roles.used == [change(column) for column in expected.used]
    assert list(roles.left_out) == [change(column) for column in expected.left_out]


def test_given_roles_stay_as_they_are(table):
    roles = guess_song_roles(table, artist="artist_name", tags=None, key=None, numeric="year")
    assert (roles.artist, roles.key, roles.tags) == ("artist_name", None, [])
    assert roles.numeric == ["year"]
    assert roles.left_out["live"] == "was not chosen; add it to numeric to use it"
    assert roles.left_out["genre"] == "was not chosen; add it to tags to use it"
    assert roles.left_out["artist_id"] == "says the same as column 'artist_name'"
    assert guess_song_roles(table, key=None).numeric == ["key", "year", "live"]
    assert guess_song_roles(table, artist=3).artist == "artist_name"
    without = guess_song_roles(table, artist=None)
    assert without.artist is None
    assert without.left_out["artist_id"].endswith("pass artist='artist_id' to use it")
    assert guess_song_roles(table, text="auto").text == ["title"]
    assert guess_song_roles(table, text=["title"]).text == ["title"]
    assert guess_song_roles(table, numeric=["position"]).numeric == ["position"]


def test_the_generated_table():
    roles = guess_song_roles(make_playlists(random_state=0))
    assert (roles.song, roles.artist) == ("song", "artist")
    assert roles.numeric == ["year", *(f"x{i}" for i in range(8))]
    assert roles.tags == ["genre"]
    assert {"user", "playlist", "age", "country"} == {*roles.left_out} - {"gender"}
    many = guess_song_roles(make_playlists(n_features=16, random_state=0))
    assert (many.numeric, len(many.vector)) == (["year"], 16)


@pytest.mark.parametrize(
    ("label", "column", "role"),
    [
        ("tempo", rng.normal(size=N), "numeric"),
        ("duration_ms", rng.integers(0, 200, N), "numeric"),
        ("release_year", rng.integers(1950, 2020, N).astype(float), "numeric"),
        ("explicit", rng.random(N) < 0.5, "numeric"),
        ("label_count", rng.integers(0, 99, N), "numeric"),
        ("n_tags", rng.integers(0, 9, N), "numeric"),
        ("key", rng.integers(0, 12, N), "key"),
        ("key", rng.integers(0, 88, N), "numeric"),
        ("key", names(12), "tags"),
        ("when", pd.date_range("2011-01-01", periods=N), "date"),
        ("when", pd.date_range("2011-01-01", periods=N).strftime("%Y-%m-%d"), "date"),
        ("when", pd.date_range("2011-01-01", periods=N).strftime("%Y-%m"), "date"),
        ("when", pd.date_range("2011-01-01", periods=N).strftime("%Y-%m-%dT%H:%M:%SZ"), "date"),
        ("when", list(pd.date_range("2011-01-01", periods=N).date), "date"),
        ("when", ["2011-05-03", "2011-05", "2011", "1999-12-31"] * (N // 4), "date"),
        ("release_date", ["2011", "1999"] * (N // 2), "date"),
        ("code", ["2011", "1999"] * (N // 2), "tags"),
        ("when", ["2011-05-03", "unknown"] * (N // 2), "tags"),
        ("album", names(200), "identity"),
        ("album", rng.integers(0, 200, N), "identity"),
        ("album", np.where(rng.random(N) < 0.1, np.nan, rng.integers(0, 200, N)), "identity"),
        ("record_label", names(20), "identity"),
        ("Publisher", pd.Series(names(60), dtype="category"), "identity"),
        ("collection_id", rng.integers(0, 100, N), "identity"),
        ("scene", names(51), "identity"),
        ("scene", names(50), "tags"),
        ("scene", pd.Series(rng.integers(0, 9, N)).astype("category"), "tags"),
        ("language", names(9), "tags"),
        ("genre", rng.integers(0, 99, N), "tags"),
        ("spotify_genres", names(300), "tags"),
        ("flag", [True, False, None] * (N // 3), "tags"),
        ("words", [[f"t{i % 7}", f"t{i % 5}"] for i in range(N)], "tags"),
        ("words", [(f"t{i % 7}",) * (i % 3 + 1) for i in range(N)], "tags"),
        ("words", [{f"t{i % 7}", f"t{i % 5}"} for i in range(N)], "tags"),
        ("words", [np.array([f"t{i % 7}", "t"], dtype=object) for i in range(N)], "tags"),
        ("words", [f"{4000 + i % 90}|{7000 + i % 70}|{i % 50}" for i in range(N)], "tags"),
        ("words", [f"t{i % 90}, t{i % 70}" for i in range(N)], "tags"),
        ("genres", [[i % 9, i % 7] for i in range(N)], "tags"),
        ("artists", [f"t{i % 90};t{i % 70}" for i in range(N)], "tags"),
        ("audio", list(rng.normal(size=(N, 5))), "vector"),
        ("audio", rng.normal(size=(N, 2)).tolist(), "vector"),
        ("audio", [None, *map(tuple, rng.normal(size=(N - 1, 3)))], "vector"),
        ("label", [f"two words{i}" for i in range(N // 3)] * 3, "identity"),
    ],
)
def test_roles_by_content(label, column, role):
    assert role_of(column, label) == role


@pytest.mark.parametrize(
    ("label", "column", "reason"),
    [
        ("title", names(300), "is free text; pass text=['title'] to use it"),
        ("title", [f"{i}|{i % 5}" for i in range(N)], "is free text; pass text=['title']"),
        ("thing", [f"a song {i}" for i in range(N)], "is free text; pass text=['thing']"),
        ("thing", names(N), "has hardly any value more than once; pass identity=['thing']"),
        ("album_uri", names(N), "has the name of an id; pass identity=['album_uri'] to use it"),
        ("preview_url", names(N), "has the name of an id; pass identity=['preview_url']"),
        ("track_uri", names(N), "says the same as column 'song'"),
        ("user_id", names(9), "has the name of an id"),
        ("thing", [[f"t{i}"] for i in range(N)], "has hardly any value more than once; pass tags"),
        ("thing", [[0.5] * (i % 5 + 1) for i in range(N)], "has lists of different lengths; make"),
        ("thing", [[{"a": 1}], [{"b": 2}]] * (N // 2), "has lists of values that are no strings"),
        ("thing", [None] * N, "has no values"),
        ("thing", ["a", None] * (N // 2), "has one value only"),
        ("thing", [["a"]] * N, "has one value only"),
        ("thing", np.arange(N) * 1j, "has values of type complex; convert"),
        ("thing", pd.to_timedelta(np.arange(N), "s"), "has values of type timedelta64; convert"),
        ("thing", pd.Series([1.5, None, 2] * (N // 3), dtype=object), "has numbers of type object"),
        ("Unnamed: 0", np.arange(N) + 1, "has the number of the row"),
    ],
)
def test_reasons(label, column, reason):
    assert role_of(column, label).startswith(reason)


def test_free_text_is_used_on_request():
    assert role_of([f"a song {i}" for i in range(N)], text="auto") == "text"
    assert role_of(names(300), "title", text="title") == "text"


def test_numbered_columns_are_a_vector():
    wide = {f"emb_{i}": rng.normal(size=N) for i in range(20)}
    order = [f"emb_{i}" for i in rng.permutation(20)]
    roles = guess_song_roles(songs(**wide, year=rng.integers(0, 9, N))[["song", "year", *order]])
    assert roles.vector == list(wide)
    assert roles.numeric == ["year"]
    dead = guess_song_roles(songs(**wide | {"emb_4": 0.0}))
    assert dead.vector == [c for c in wide if c != "emb_4"]
    assert dead.left_out == {"emb_4": "has one value only"}
    few = {c: wide[c] for c in list(wide)[:15]}
    assert guess_song_roles(songs(**few)).numeric == list(few)
    gap = {c: column for c, column in wide.items() if c != "emb_4"}
    assert guess_song_roles(songs(**gap)).numeric == list(gap)
    assert guess_song_roles(songs(**wide), vector=None).numeric == list(wide)


def test_duplicates_of_another_column():
    year = np.where(rng.random(N) < 0.1, np.nan, rng.integers(1950, 2020, N))
    tags = [[f"t{i % 7}"] for i in range(N)]
    X = songs(year=year, year_again=year, less=-year, tags=tags, genres_x=list(map(list, tags)))
    X["id_of_song"], X["copied_song"] = names(100), X["song"]
    for frame in (X, X[X.columns[::-1]]):
        roles = guess_song_roles(frame)
        assert {*roles.numeric} == {"year", "less"}
        assert roles.left_out == {
            "year_again": "is the same as column 'year'",
            "genres_x": "is the same as column 'tags'",
            "copied_song": "is the same as column 'song'",
        }


def test_names_that_say_the_same_as_ids():
    artist = rng.integers(0, 100, N)
    album = artist * 2 + rng.integers(0, 2, N)
    X = songs(artist_id=artist, artist_name=[f"A{i}" for i in artist], album_id=album)
    X["album_name"] = [f"B{i // 3}" for i in album]  # albums of one name
    X["singer"] = [f"S{i}" for i in artist]
    roles = guess_song_roles(X)
    assert (roles.artist, roles.identity) == ("artist_id", ["album_id"])
    assert roles.left_out == {
        "artist_name": "says the same as column 'artist_id'",
        "album_name": "says the same as column 'album_id'",
        "singer": "says the same as column 'artist_id'",
    }
    assert guess_song_roles(X, artist="singer").artist == "singer"


def test_ids_have_the_values_of_ids():
    X = songs(track=names(12), track_id=np.arange(N)).drop(columns="song")
    assert guess_song_roles(X).song == "track_id"  # a track of an album is no song
    assert guess_song_roles(X.rename(columns={"track_id": "isrc"})).song == "isrc"
    assert guess_song_roles(songs(isrc=names(N))).song == "song"
    assert guess_song_roles(songs(artist=rng.normal(size=N))).artist is None
    assert guess_song_roles(songs(artist="me")).left_out == {"artist": "has one value only"}
    assert guess_song_roles(songs(artists=names(9))).artist == "artists"


def memberships(n_songs=500, n_rows=5000, seed=0):
    rng = np.random.default_rng(seed)
    song, playlist = rng.integers(0, n_songs, n_rows), np.sort(rng.integers(0, 300, n_rows))
    year, created = rng.integers(1950, 2020, n_songs), rng.integers(0, 9, 300)
    return pd.DataFrame(
        {
            "user": playlist // 3,
            "playlist": playlist,
            "song": song,
            "year": year[song],
            "created": created[playlist],
            "age": 18 + playlist // 3 % 50,
            "rank": rng.integers(0, 50, n_rows),
            "note": [f"t{i}" for i in playlist],
        }
    )


def test_cells_that_are_missing_in_some_rows_do_not_drop_a_column():
    X = make_playlists(random_state=0)
    rng = np.random.default_rng(0)
    roles = guess_song_roles(X)
    missing = X.assign(
        x0=X["x0"].mask(rng.random(len(X)) < 0.1), genre=X["genre"].mask(rng.random(len(X)) < 0.1)
    )
    assert guess_song_roles(missing).used == roles.used


def test_a_column_that_is_nearly_empty_does_not_describe_songs_by_chance():
    X = make_playlists(random_state=0)
    rng = np.random.default_rng(0)
    # Ratings of single rows: hardly any song has two, so hardly any two can differ.
    ratings = pd.Series(rng.integers(1, 6, len(X)).astype(float)).mask(rng.random(len(X)) > 0.02)
    roles = guess_song_roles(X.reset_index(drop=True).assign(rating=ratings))
    assert roles.left_out["rating"].startswith("differs between rows of one song")


def test_one_wrong_value_does_not_drop_a_column():
    X = memberships()
    assert guess_song_roles(X).numeric == ["year"]
    X.loc[:4, "year"] = 0
    assert guess_song_roles(X).numeric == ["year"]
    X.loc[:40, "year"] = 0
    assert guess_song_roles(X).left_out["year"].startswith("differs between rows of one song; pass")


DATES = {
    "dates": lambda dates: dates,
    "with a time zone": lambda dates: dates.tz_localize("America/New_York"),
    "strings": lambda dates: dates.strftime("%Y-%m-%d"),
    "periods": lambda dates: dates.to_period("M"),
    "unix time": lambda dates: (dates - pd.Timestamp(0)) // pd.Timedelta(1, "s"),
    "objects": lambda dates: pd.Series(dates).dt.date.array,
}


@pytest.mark.parametrize("convert", DATES.values(), ids=DATES)
@pytest.mark.parametrize("label", ["added_at", "created_at"])
def test_dates_of_playlists_and_rows_have_a_role_of_their_own(label, convert):
    X = make_playlists(random_state=0)
    playlists = pd.factorize(X["playlist"])[0]
    days = np.random.default_rng(0).integers(0, 900, len(X))
    days = days[playlists] if label == "created_at" else days
    X[label] = convert(pd.Timestamp("2011-01-01") + pd.to_timedelta(days, "D"))
    whose = "playlists" if label == "created_at" else "rows"
    for roles in (guess_song_roles(X), guess_user_roles(X), guess_user_roles(X, user=None)):
        assert label not in roles.used
        reported = f"has dates of {whose}; use them with TimeSplit(created={label!r})"
        assert roles.left_out[label].startswith(reported)
    # Nothing is refused, and nothing is learned of them.
    ranker = MultitaskPlaylistRanker(song_features=StandardScaler(), tol=0.1).fit(X)
    assert label not in "".join(ranker.feature_names_out_)
    chosen = [c for _, _, c in make_ranker(X).estimators[0][1].song_features.transformers]
    assert chosen
    assert all(label not in columns for columns in chosen)
    assert RidgeRanker().fit(X).predict(X.drop(columns=label)[:3]).shape == (3,)


def test_dates_of_songs_and_users_are_theirs():
    X = make_playlists(random_state=0)
    days = pd.to_timedelta(pd.factorize(X["song"])[0] * 7, "D")
    X["released"] = (pd.Timestamp("1990-01-01") + days).to_period("D")
    X["member_since"] = pd.Timestamp("2009-01-01") + pd.to_timedelta(
        pd.factorize(X["user"])[0], "D"
    )
    assert guess_song_roles(X).date == ["released"]
    assert guess_user_roles(X).left_out["member_since"].startswith("has dates; convert them")
    assert make_song_features(X).fit_transform(X.drop_duplicates("song")).shape[0] > 1


def test_what_describes_users_and_playlists():
    X = memberships()
    reasons = guess_song_roles(X).left_out
    assert reasons["age"] == "describes users"
    assert reasons["created"] == "describes playlists"  # small numbers are no dates
    assert reasons["note"] == "describes playlists"
    assert reasons["rank"].startswith("differs between rows of one song; pass numeric=['rank']")
    other = X.rename(columns={"user": "who", "playlist": "list", "song": "what"})
    given = {"user": "who", "playlist": "list", "song": "what"}
    renamed = guess_song_roles(other, **given).left_out
    assert {c: r for c, r in renamed.items() if c not in given.values()} == {
        c: r for c, r in reasons.items() if c not in given
    }
    # If each song is in one playlist, its rows agree on everything.
    once = X.drop_duplicates("song")
    assert guess_song_roles(once).numeric == ["year", "rank"]
    assert guess_song_roles(once).left_out["age"] == "describes users"


def test_large_tables_are_read_fast():
    n_rows, n_songs = 200_000, 50_000
    X = memberships(n_songs, n_rows)
    tags = np.empty(n_songs, dtype=object)
    tags[:] = [[f"t{i % 97}", f"t{i % 89}"] for i in range(n_songs)]
    vectors = np.empty(n_songs, dtype=object)
    vectors[:] = list(np.random.default_rng(0).normal(size=(n_songs, 32)))
    X["words"] = [list(cell) for cell in tags[X["song"]]]
    X["audio"] = vectors[X["song"]]
    X["ids"] = [f"{i % 97}|{i % 1009}" for i in X["song"]]
    X["released"] = pd.Timestamp("2000-01-01") + pd.to_timedelta(X["song"] % 5000, "D")
    X["released"] = X["released"].dt.strftime("%Y-%m-%d")
    start = time.process_time()
    roles = guess_song_roles(X)
    assert time.process_time() - start < 5
    assert (roles.tags, roles.vector, roles.date) == (["words", "ids"], ["audio"], ["released"])


def test_roles_are_shown():
    roles = SongRoles(song="song", vector=[f"x{i}" for i in range(20)], left_out={"a": "is odd"})
    assert str(roles) == "song: song\nvector: x0, x1, … x19 (20 columns)\nleft out:\n  a: is odd"
    assert eval(repr(roles)) == roles
    assert repr(replace(roles, vector=[], left_out={})) == "SongRoles(song='song')"
    assert repr(SongRoles(artist=0)) == "SongRoles(artist=0)"


def test_used_columns_are_listed_once_and_position_0_counts():
    assert SongRoles(song=0, numeric=[1], tags="genre", text=[1]).used == [0, 1, "genre"]


def test_names_alone():
    labels = ["user", "song", "genre", "tags", "album", "record_label", "year", "tempo"]
    roles = guess_song_roles([*labels, "title", "preview_url", "release_date"])
    assert roles == SongRoles(
        song="song",
        numeric=["year", "tempo"],
        date=["release_date"],
        tags=["genre", "tags"],
        identity=["album", "record_label"],
        left_out={
            "user": "has the name of an id",
            "title": "is free text; pass text=['title'] to use it",
            "preview_url": "has the name of an id; pass identity=['preview_url'] to use it",
        },
    )
    assert guess_song_roles(["Genres", "ArtistId", "emb"]).artist == "ArtistId"
    assert guess_song_roles([f"e{i}" for i in range(16)]).vector == [f"e{i}" for i in range(16)]
    assert guess_song_roles(["title"], text="auto").text == ["title"]
    assert guess_song_roles(None, song=2, tags=3, numeric=[0, 1]).used == [2, 0, 1, 3]


@pytest.mark.parametrize("columns", ["table", "names"])
def test_a_column_that_is_not_there(table, columns):
    with pytest.raises(ValueError, match="got 'style'"):
        guess_song_roles(table if columns == "table" else list(table), tags="style")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"numeric": ["title"]}, "role `numeric` must have numbers; got 'title'"),
        ({"key": "title"}, "role `key` must have numbers; got 'title'"),
        ({"tags": "tempo"}, "role `tags` must have names, codes .* got 'tempo' of type float64"),
        ({"tags": ["time"]}, "role `tags` must have names, codes .* got 'time'"),
        ({"identity": ["genre"]}, "role `identity` must have names or codes.* got 'genre'"),
        ({"vector": ["genre"]}, "role `vector` must have numbers, or lists .* got 'genre'"),
        ({"date": ["year"]}, "role `date` must have dates.* got 'year' of type int64"),
        ({"text": ["year"]}, "role `text` must have strings; got 'year'"),
    ],
)
def test_columns_of_the_wrong_type(table, wrong, message):
    table["tempo"] = [99.5, 120.1, 99.5, 1, 2, 3]
    table["time"] = pd.Timestamp("2020-01-01")
    with pytest.raises(TypeError, match=message):
        guess_song_roles(table, **wrong)


def test_columns_must_be_named(table):
    with pytest.raises(TypeError, match="named by strings"):
        guess_song_roles(table.set_axis(range(table.shape[1]), axis=1))


def test_the_table_is_not_changed(table):
    before = table.copy(deep=True)
    guess_song_roles(table, text="auto")
    pd.testing.assert_frame_equal(table, before)
