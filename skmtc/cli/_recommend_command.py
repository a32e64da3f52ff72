"""`skmtc recommend`: songs for a playlist, a user, or somebody new."""

import json
import re

import numpy as np
import pandas as pd

from skmtc.cli._errors import CommandError, UsageError, check_name, nearest
from skmtc.cli._model_file import read_model
from skmtc.cli._progress_lines import note
from skmtc.cli._safe_text import cell_of_terminal, csv_text, json_text
from skmtc.datasets import read_table

FORMATS = ("table", "csv", "json")
# Display names of songs, and the number of such columns on a terminal. CSV and JSON have all.
NAME_WORDS = ("title", "name", "track", "artist", "artists", "album", "genre", "genres", "tags")
MOST_SHOWN = 4
LONGEST_NAME = 28


def run_recommend(args):
    """Recommend songs with a stored model."""
    asked = (args.playlist, args.user, args.new_user, args.new_playlist)
    if all(one is None for one in asked):
        raise UsageError("Pass one of --playlist, --user, --new-user and --new-playlist.")
    if args.playlist is not None and args.new_playlist is not None:
        raise UsageError(
            "--new-playlist goes with --user or --new-user, or alone; drop --playlist."
        )
    ranker = read_model(args.model, trust=args.trust)
    query = _query(ranker, args)
    candidates = None if args.songs is None else _new_songs(ranker, args.songs)
    found = ranker.recommend(
        query,
        n_recommendations=_how_many(ranker, args, query, candidates),
        candidates=candidates,
        exclude_seen=not args.include_seen,
        diversity=args.diversity,
        as_frame=True,
    )
    place = found.columns.get_loc("rank")
    found = found.iloc[:, place:].rename(columns={found.columns[place + 1]: "song"})
    print(_shown(found, args.format))


def find_id(text, known, role):
    """Find an id that is given as text; numbers are compared by their digits."""
    known = pd.Index(known)
    texts = known.astype(str)
    place = texts.get_indexer([text])[0]
    if place < 0 and pd.api.types.is_float_dtype(known.dtype):
        place = texts.get_indexer([f"{text}.0"])[0]
    if place < 0:
        hint = " For somebody new pass --new-user." if role == "user" else ""
        near = nearest(text, texts) or " None is like it."
        raise CommandError(
            f"The model must know the {role}; got {text!r}, which is not among its {len(known):,} "
            f"{role}s.{near}{hint}"
        )
    return known[place]


def _query(ranker, args):
    query = _who_asks(ranker, args)
    if args.new_playlist is not None:
        attributes = _read_attributes(ranker, "playlist", args.new_playlist)
        if attributes and not any(_is_known(ranker, pd.DataFrame(attributes))):
            note("no known playlist has a word of these attributes: they have no effect")
        query = query.assign(**attributes)
    return query


def _is_known(ranker, row):
    """Return whether any value is known, for each row of attributes of playlists."""
    return abs(ranker.playlist_features_.transform(row)).sum(axis=1) > 0


def _who_asks(ranker, args):
    """Return the query with the ids, or with the attributes of a new user."""
    if args.playlist is not None:
        found = find_id(args.playlist, ranker.playlists_, "playlist")
        query = {ranker.playlist: [found]}
        if ranker.user is not None:
            owner = ranker.user_of_playlist_[ranker.playlists_ == found][0]
            query[ranker.user] = ranker.users_[[owner]]
        return pd.DataFrame(query)
    if args.user is not None:
        if ranker.user is None:
            raise CommandError(
                "The model must know users; got one fitted without owners. Use --playlist or "
                "--new-user."
            )
        return pd.DataFrame({ranker.user: [find_id(args.user, ranker.users_, "user")]})
    return _new_user(ranker, args.new_user or {})


def described_columns(ranker, role):
    """Return which columns describe users or playlists, and whether they are numbers, by name."""
    transformer = getattr(ranker, f"{role}_features_", None)
    parts = [] if transformer is None else transformer.transformers
    return {column: name == "numeric" for name, _, columns in parts for column in columns}


def _new_user(ranker, attributes):
    row = _read_attributes(ranker, "user", attributes)
    _note_unknown_values(ranker, row)
    # A row needs at least one column: a user without attributes has a missing one.
    return pd.DataFrame(row or {"": [None]})


def _read_attributes(ranker, role, attributes):
    """Return the columns of a new user or playlist."""
    known = described_columns(ranker, role)
    if attributes and not known:
        note(f"the model does not use attributes of {role}s: every new {role} gets the same songs")
        return {}
    row = {}
    for name, value in attributes.items():
        check_name(f"attribute of {role}s", name, list(known), CommandError)
        row[name] = [_number(name, value) if known[name] else value]
    return row


def _note_unknown_values(ranker, row):
    """Print which values no known user has."""
    for part, encoder, columns in ranker.user_features_.transformers_ if row else ():
        if part != "categorical":
            continue
        for column, values in zip(columns, encoder.tags_, strict=True):
            if column in row and row[column][0] not in values:
                near = nearest(row[column][0], values)
                note(f"no known user has {column}={row[column][0]}: it counts as missing.{near}")


def _number(name, value):
    try:
        return float(value)
    except ValueError:
        raise CommandError(f"The attribute {name} must be a number; got {value!r}.") from None


def _new_songs(ranker, path):
    songs = read_table(path, user=None, playlist=None, song=ranker.song)
    if pd.api.types.is_numeric_dtype(ranker.songs_.dtype):
        try:
            songs[ranker.song] = songs[ranker.song].astype(ranker.songs_.dtype)
        except ValueError as error:
            raise CommandError(
                f"Ids of songs must be numbers, as in the model; got {error}."
            ) from None
    elif pd.api.types.is_numeric_dtype(songs[ranker.song].dtype):
        songs[ranker.song] = songs[ranker.song].astype(str)
    # With these it would be a table of the songs of each user or playlist.
    others = [c for c in (ranker.user, ranker.playlist) if c in songs.columns]
    songs = songs.drop(columns=others)
    names = getattr(ranker, "feature_names_out_", ())
    is_new = ~songs[ranker.song].isin(ranker.songs_)
    if is_new.any() and any("song_popularity" in str(name) for name in names):
        note(
            "the model counts on popularity, which new songs do not have; one made by `skmtc fit "
            "--new-songs` ranks them better"
        )
    return songs


def _how_many(ranker, args, query, candidates):
    """Return the number of songs to recommend; where there are fewer, all of them."""
    songs = ranker.songs_ if candidates is None else candidates[ranker.song].to_numpy()
    there = len(songs)
    if args.playlist is not None and not args.include_seen:
        found = ranker.playlists_ == query[ranker.playlist][0]
        row = ranker.membership_[[int(np.flatnonzero(found)[0])]]
        there -= int(np.isin(songs, ranker.songs_[row.indices]).sum())
    if there == 0:
        raise CommandError("There must be a song to recommend; got none. Add --include-seen.")
    if there < args.n:
        note(f"there are {there} songs to choose from, fewer than the {args.n} asked for")
    return min(args.n, there)


def _shown(table, form):
    if form == "csv":
        return csv_text(table).rstrip("\n")
    if form == "json":
        # Use pandas, as json does not support numpy's numbers.
        return json_text(json.loads(table.to_json(orient="records", double_precision=15)))
    shown = {}
    for label in ["rank", "song", "score", *readable_columns(table)]:
        column = table[label]
        if label == "song":
            column = [cell_of_terminal(cell) for cell in column]
        elif label not in ("rank", "score"):
            column = ["-" if pd.isna(c) else cell_of_terminal(c, LONGEST_NAME) for c in column]
        shown[cell_of_terminal(label, LONGEST_NAME)] = column
    return pd.DataFrame(shown).to_string(index=False, float_format=lambda x: f"{x:.4f}")


def readable_columns(table):
    """Return the columns with display names of songs: titles and artists first."""
    texts = [
        c for c in table.columns[3:] if not pd.api.types.is_numeric_dtype(table[c].dtype)
    ]  # after rank, song and score

    def place(label):
        words = re.findall(r"[a-z]+", str(label).lower())
        return next((at for at, word in enumerate(NAME_WORDS) if word in words), len(NAME_WORDS))

    return sorted(texts, key=place)[:MOST_SHOWN]
