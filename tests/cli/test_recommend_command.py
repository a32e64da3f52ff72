"""`skmtc recommend`."""

import io
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from commands import error_of, run

from skmtc.cli import main
from skmtc.cli._recommend_command import find_id
from skmtc.datasets import make_playlists
from skmtc.persistence import load


@pytest.fixture(scope="module")
def ranker(model):
    return load(model)


def _csv(capsys, *arguments):
    assert main(["recommend", *map(str, arguments), "--format", "csv"]) == 0
    return pd.read_csv(io.StringIO(capsys.readouterr().out))


def test_formats_agree_with_the_ranker(model, ranker, folder, tmp_path):
    arguments = ["recommend", model, "--user", "user3", "-n", "4"]
    songs, scores = ranker.recommend(pd.DataFrame({"user": ["user3"]}), n_recommendations=4)
    table = run(*arguments, folder=tmp_path).stdout.splitlines()
    assert table[0].split() == ["rank", "song", "score", "artist", "genre"]
    artists = pd.read_csv(folder / "playlists.csv").drop_duplicates("song").set_index("song")
    assert [line.split()[3] for line in table[1:]] == artists.loc[songs[0], "artist"].tolist()
    assert [line.split()[1] for line in table[1:]] == songs[0].tolist()
    rows = json.loads(run(*arguments, "--format", "json", folder=tmp_path).stdout)
    assert [row["song"] for row in rows] == songs[0].tolist()
    np.testing.assert_allclose([row["score"] for row in rows], scores[0])
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert [row["artist"] for row in rows] == artists.loc[songs[0], "artist"].tolist()
    assert {"year", "genre", "x0"} <= set(rows[0])
    assert not {"user", "playlist", "age", "country"} & set(rows[0])


def test_titles_come_first_and_are_safe(tmp_path, capsys):
    X = make_playlists(n_users=10, n_songs=30, random_state=0)
    X["album"] = "album"
    X["track_name"] = X["song"].map({"song3": "=1+1", "song4": "a\x1b[31mred"}).fillna("plain")
    X.loc[X["song"] == "song5", "track_name"] = None
    X.to_csv(tmp_path / "titles.csv", index=False)
    path = str(tmp_path / "model.skops")
    arguments = ["fit", str(tmp_path / "titles.csv"), "--ranker", "popularity", "--quiet"]
    assert main([*arguments, "--out", path]) == 0
    capsys.readouterr()
    asked = ["recommend", path, "--new-user", "", "-n", str(X["song"].nunique())]
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["rank", "song", "score", "track_name", "artist", "album", "genre"]
    cells = {line.split()[1]: line.split()[3] for line in lines[1:]}
    assert cells["song4"] == r"a\x1b[31mred"
    assert cells["song5"] == "-"
    assert main([*asked, "--format", "csv"]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out)).set_index("song")
    assert found.loc["song3", "track_name"] == "'=1+1"
    assert found["year"].dtype.kind == "i"


def test_diversity(model, ranker, capsys):
    query = pd.DataFrame({"user": ["user3"]})
    expected, _ = ranker.recommend(query, n_recommendations=5, diversity=0.7)
    found = _csv(capsys, model, "--user", "user3", "-n", "5", "--diversity", "0.7")
    assert found["song"].tolist() == expected[0].tolist()
    assert main(["recommend", str(model), "--user", "user3", "--diversity", "2"]) == 2
    assert "must be a number from 0 to 1; got '2'" in capsys.readouterr().err


def test_a_known_playlist_gets_songs_that_it_does_not_have(model, ranker, folder, capsys):
    X = pd.read_csv(folder / "playlists.csv")
    own = set(X[X["playlist"] == "playlist7"]["song"])
    found = _csv(capsys, model, "--playlist", "playlist7", "-n", "1000")
    assert set(found["song"]) == set(ranker.songs_) - own
    everything = _csv(capsys, model, "--playlist", "playlist7", "-n", "1000", "--include-seen")
    assert set(everything["song"]) == set(ranker.songs_)


def test_new_users_by_their_attributes(model, ranker, capsys):
    found = _csv(capsys, model, "--new-user", "age=31,country=AU", "-n", "5")
    query = pd.DataFrame({"age": [31.0], "country": ["AU"]})
    songs, scores = ranker.recommend(query, n_recommendations=5)
    assert found["song"].tolist() == songs[0].tolist()
    np.testing.assert_allclose(found["score"], scores[0])
    unknown = _csv(capsys, model, "--new-user", "", "-n", "5")
    shared = np.sort(ranker.song_vectors_ @ ranker.shared_coef_)[::-1]
    np.testing.assert_allclose(unknown["score"], shared[:5])


@pytest.fixture(scope="module")
def titled(tmp_path_factory):
    """Fit and store a ranker of playlists that have titles: the genre of most of their songs."""
    folder = tmp_path_factory.mktemp("titles")
    X = make_playlists(30, 120, 80, n_features=2, random_state=0)
    genres = X.groupby("playlist")["genre"].agg(lambda g: next(iter(g.mode()), "none"))
    X.assign(title=X["playlist"].map("for " + genres)).to_csv(folder / "X.csv", index=False)
    path = folder / "model.skops"
    arguments = ["fit", str(folder / "X.csv"), "--out", str(path), "--ranker", "multitask"]
    assert main([*arguments, "--quiet"]) == 0
    return path


def test_a_title_of_a_new_playlist(titled, capsys):
    ranker = load(titled)
    genre = ranker.playlist_features_.get_feature_names_out()[0].rpartition("_")[2]
    for whom in ([], ["--user", "user3"], ["--new-user", "age=31,country=AU"]):
        found = _csv(capsys, titled, *whom, "--new-playlist", f"title={genre}, fast", "-n", "5")
        query = {"title": [f"{genre}, fast"]}
        query |= {"user": ["user3"]} if "--user" in whom else {}
        query |= {"age": [31.0], "country": ["AU"]} if "--new-user" in whom else {}
        songs, scores = ranker.recommend(pd.DataFrame(query), n_recommendations=5)
        assert found["song"].tolist() == songs[0].tolist()
        np.testing.assert_allclose(found["score"], scores[0])
    asked = ["recommend", str(titled), "--new-playlist"]
    assert main([*asked, "title=unheard"]) == 0
    assert "no known playlist has a word of these attributes" in capsys.readouterr().err
    assert main([*asked, "titel=rock"]) == 1
    assert "Nearest: 'title'" in capsys.readouterr().err
    assert main([*asked, "title=rock", "--playlist", "playlist3"]) == 2
    assert "drop --playlist" in capsys.readouterr().err


def test_somebody_must_ask(model, capsys):
    assert main(["recommend", str(model)]) == 2
    assert "Pass one of --playlist, --user, --new-user and" in capsys.readouterr().err


def test_titles_need_a_model_that_uses_them(model, capsys):
    assert main(["recommend", str(model), "--new-playlist", "title=rock", "-n", "3"]) == 0
    assert "the model does not use attributes of playlists" in capsys.readouterr().err


def test_new_songs(model, folder, capsys):
    arguments = ["recommend", str(model), "--user", "user1", "--songs", str(folder / "new.csv")]
    assert main([*arguments, "--format", "csv"]) == 0
    reported = capsys.readouterr()
    found = pd.read_csv(io.StringIO(reported.out))
    assert set(found["song"]) == {f"new{i}" for i in range(6)}
    assert "`skmtc fit --new-songs` ranks them better" in reported.err
    assert "there are 6 songs to choose from, fewer than the 20 asked for" in reported.err


def test_the_recommended_ranker_serves_new_songs_and_new_users(folder, tmp_path, capsys):
    path = tmp_path / "model.skops"
    assert main(["fit", str(folder / "playlists.csv"), "--out", str(path), "--quiet"]) == 0
    assert "StackingRanker, fitted in" in capsys.readouterr().out
    for who in (["--user", "user1"], ["--new-user", "age=31,country=AU"]):
        arguments = ["recommend", str(path), *who, "--songs", str(folder / "new.csv"), "-n", "3"]
        assert main([*arguments, "--format", "csv"]) == 0
        reported = capsys.readouterr()
        assert len(pd.read_csv(io.StringIO(reported.out))) == 3
        assert "--new-songs" not in reported.err


def test_ids_that_are_numbers_are_found_by_their_digits(folder, tmp_path, capsys):
    path = tmp_path / "model.skops"
    arguments = ["fit", str(folder / "numbers.parquet"), "--ranker", "popularity"]
    assert main([*arguments, "--out", str(path), "--quiet"]) == 0
    capsys.readouterr()
    found = _csv(capsys, path, "--playlist", "7", "-n", "3")
    assert found["song"].dtype.kind == "i"
    (tmp_path / "new.csv").write_text("song,artist\n9001,artist1\n")
    found = _csv(capsys, path, "--user", "3", "--songs", tmp_path / "new.csv")
    assert found["song"].tolist() == [9001]
    (tmp_path / "new.csv").write_text("song,artist\nnine,artist1\n")
    arguments = ["recommend", str(path), "--user", "3"]
    assert main([*arguments, "--songs", str(tmp_path / "new.csv")]) == 1
    assert "Ids of songs must be numbers, as in the model" in capsys.readouterr().err


def test_find_id():
    assert find_id("007", np.array(["7", "007"]), "song") == "007"
    assert find_id("7", np.array([5, 7]), "song") == 7
    assert find_id("7", np.array([5.0, 7.0]), "song") == 7.0
    with pytest.raises(ValueError, match=r"got '77', which is not among its 2 songs. Nearest: '7'"):
        find_id("77", np.array([5, 7]), "song")


def test_unknown_ids_are_reported_with_the_nearest(model, tmp_path, capsys):
    done = run("recommend", model, "--user", "usr12", folder=tmp_path, code=1)
    assert "got 'usr12', which is not among its 30 users. Nearest: 'user12', " in error_of(done)
    assert main(["recommend", str(model), "--playlist", "PLAYLIST5"]) == 1
    assert "Nearest: 'playlist5', " in capsys.readouterr().err
    assert main(["recommend", str(model), "--user", "?"]) == 1
    assert "None is like it. For somebody new pass --new-user." in capsys.readouterr().err


def test_attributes_that_make_no_sense(model, capsys):
    def reported(code, attributes):
        assert main(["recommend", str(model), "--new-user", attributes]) == code
        return capsys.readouterr().err

    assert "There is no attribute of users 'agee'. Nearest: 'age'" in reported(1, "agee=31")
    assert "The attribute age must be a number; got 'old'" in reported(1, "age=old")
    assert "must be like age=31,country=AU; got 'age'" in reported(2, "age")
    assert "no known user has country=XX: it counts as missing" in reported(0, "country=XX")


def test_models_without_users(folder, tmp_path, capsys):
    path = tmp_path / "model.skops"
    arguments = ["fit", str(folder / "ids.csv"), "--no-user", "--ranker", "popularity", "--quiet"]
    assert main([*arguments, "--out", str(path)]) == 0
    capsys.readouterr()
    assert len(_csv(capsys, path, "--playlist", "playlist1", "-n", "2")) == 2
    assert main(["recommend", str(path), "--user", "user1"]) == 1
    assert "The model must know users; got one fitted without owners" in capsys.readouterr().err
    assert main(["recommend", str(path), "--new-user", "age=3"]) == 0
    assert "does not use attributes of users" in capsys.readouterr().err


def test_a_pickle_needs_trust(folder, tmp_path, capsys):
    class Trap:
        def __reduce__(self):
            return open, (str(tmp_path / "sprung"), "w")

    (tmp_path / "trap.skops").write_bytes(pickle.dumps(Trap()))
    assert main(["recommend", str(tmp_path / "trap.skops"), "--user", "user1"]) == 1
    assert "A pickle can run any code: pass --trust" in capsys.readouterr().err
    assert not (tmp_path / "sprung").exists()
    path = tmp_path / "model.pkl"
    arguments = ["fit", str(folder / "ids.csv"), "--ranker", "popularity", "--quiet"]
    assert main([*arguments, "--out", str(path)]) == 0
    assert main(["recommend", str(path), "--user", "user1"]) == 1
    capsys.readouterr()
    assert len(_csv(capsys, path, "--user", "user1", "-n", "3", "--trust")) == 3
