"""What the parts of the multitask ranker are worth: each is taken away, or changed, alone."""

from sklearn.base import clone
from study import Entry

from skmtc import HistoryTerms, MultitaskPlaylistRanker
from skmtc.features import make_song_features

DEFAULT = "default"
WITHOUT_HISTORY = "no history terms"
REFERENCES = (DEFAULT, WITHOUT_HISTORY)
# Penalties under which no weight of a block is left.
NO_USERS = {"user_l2": 1e9}
NO_PLAYLISTS = {"playlist_l1": 1e9}
NO_SHARED = {"shared_l1": 1e9}
SEEDS = (0,)


def make_variants(train, setting, *, tiny=False):
    """Return the ranker with all defaults and its variants by name.

    The default has history terms. Losses, weights and features are compared without them, with "no
    history terms", as the terms are fitted on top and make up for a part of what is taken away.
    """
    features = make_song_features(
        train.drop(columns="title"), new_songs=setting == "cold songs", random_state=0
    )
    terms = ("artist",) if setting == "cold songs" else ("song", "artist", "co-occurrence")
    plain = MultitaskPlaylistRanker(song_features=features, random_state=0)
    variants = {DEFAULT: clone(plain).set_params(history=HistoryTerms(terms))}
    if len(terms) > 1:
        for term in terms:
            others = tuple(other for other in terms if other != term)
            ranker = clone(plain).set_params(history=HistoryTerms(others))
            variants[f"history without {term}"] = ranker
    variants[WITHOUT_HISTORY] = plain
    changes = without_weights(setting) | other_losses() | without_features(features)
    if tiny:
        changes = dict(list(changes.items())[:2])
    for name, parameters in changes.items():
        variants[f"{WITHOUT_HISTORY}, {name}"] = clone(plain).set_params(**parameters)
    return {name: Entry(ranker) for name, ranker in variants.items()}


def without_weights(setting):
    """Return the parameters under which a block of weights is zero."""
    blocks = {"no user weights": NO_USERS, "no shared weights": NO_SHARED}
    # New playlists have no weights of their own, but those of others take up what is peculiar.
    blocks["no playlist weights"] = NO_PLAYLISTS
    if setting == "cold songs":
        blocks["shared weights alone"] = NO_USERS | NO_PLAYLISTS
    return blocks


def other_losses():
    """Return the parameters of the ranking loss, and of other exponents."""
    return {
        "ranking loss": {"loss": "ranking"},
        "push 0.5": {"push": 0.5},
        "push 2": {"push": 2.0},
        "push 4": {"push": 4.0},
    }


def without_features(features):
    """Return the parameters that leave out a block of features; identities are not used at all."""
    used = [name for name, *_ in features.transformers if "identity" not in name]
    return {f"no features: {name}": {f"song_features__{name}": "drop"} for name in used}
