"""Guess the role of a column from its name."""

from skmtc._table.dates import words

ID_NAMES = {
    "user": ("user", "user_id", "user_uri", "username", "user_name", "owner", "owner_id"),
    "playlist": ("playlist", "playlist_id", "playlist_uri", "pid", "playlist_name"),
    "song": ("song", "song_id", "track", "track_id", "track_uri", "song_uri", "isrc"),
    "artist": ("artist", "artist_id", "artist_uri", "artist_name", "artists"),
}
ID_WORDS = ("id", "ids", "uri", "url", "href", "mbid", "uuid", "guid", "isrc", "upc", "ean")
TAG_WORDS = ("genre", "genres", "subgenre", "subgenres", "tag", "tags")
IDENTITY_WORDS = ("album", "label", "publisher", "artist", "artists", "composer")
TEXT_WORDS = ("title", "titles", "description", "lyrics", "comment", "text")
COUNT_WORDS = ("n", "num", "number", "count", "nb")
NAME_WORDS = (*ID_WORDS, "name", "names", "title", "code", "codes")  # endings that add no meaning


def find_name(labels, names):
    """Return the first of some usual names, in any case, that a table has; None without."""
    return next(iter(find_names(labels, names)), None)


def find_names(labels, names):
    """Return the labels that are usual names, in the order of those."""
    plain = {"".join(words(label)): label for label in labels}
    usual = ("".join(words(name)) for name in names)
    return [plain[name] for name in usual if name in plain]


def looks_like_id(label):
    """Check whether a column is named like ids."""
    found = words(label)
    ends = len(found) > 1 and found[-1] in ID_WORDS
    return ends or found in (["id"], ["uri"], ["isrc"]) or is_usual_id(label)


def is_usual_id(label, roles=tuple(ID_NAMES)):
    """Check whether a column has a usual name of the ids of some role."""
    return any(find_name([label], ID_NAMES[role]) is not None for role in roles)


def stem(label):
    """Return the words of a name without those that say that it is an id or a name."""
    found = words(label)
    while len(found) > 1 and found[-1] in NAME_WORDS:
        found.pop()
    return found


def is_tag_name(label):
    """Check whether a column is named like genres or tags."""
    found = stem(label)
    return bool(found) and found[-1] in TAG_WORDS and found[0] not in COUNT_WORDS


def is_identity_name(label):
    """Check whether a column is named like albums, labels or artists."""
    found = stem(label)
    return bool(found) and found[-1] in IDENTITY_WORDS and found[0] not in COUNT_WORDS


def is_text_name(label):
    """Check whether a column is named like titles and other free text."""
    found = words(label)
    of_songs = found in (["name"], ["track", "name"], ["song", "name"], ["playlist", "name"])
    return of_songs or (found[-1:] and found[-1] in TEXT_WORDS and not is_identity_name(label))
