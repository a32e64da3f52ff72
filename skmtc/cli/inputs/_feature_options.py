"""Features for any table: made of what its columns are guessed to be, and shown as code."""

from dataclasses import dataclass, field, replace

from skmtc.cli._errors import CommandError
from skmtc.cli._safe_text import printable
from skmtc.features import (
    PlaylistRoles,
    SongRoles,
    UserRoles,
    guess_playlist_roles,
    guess_song_roles,
    guess_user_roles,
    make_playlist_features,
    make_song_features,
    make_user_features,
)

# What the code of each transformer imports, by the parameter of a ranker.
IMPORTED = {
    "song_features": ("SongRoles", "make_song_features"),
    "user_features": ("UserRoles", "make_user_features"),
    "playlist_features": ("PlaylistRoles", "make_playlist_features"),
}
IS_ID = "has the name of an id"  # too common to mention


@dataclass
class Features:
    """The roles of a table's columns, and the transformers that follow from them.

    Attributes
    ----------
    songs : SongRoles
        What describes songs.

    users : UserRoles
        What describes users.

    playlists : PlaylistRoles
        What describes playlists.

    seed : int
        Seed of the embeddings.
    """

    songs: SongRoles = field(default_factory=SongRoles)
    users: UserRoles = field(default_factory=UserRoles)
    playlists: PlaylistRoles = field(default_factory=PlaylistRoles)
    seed: int = 0

    @classmethod
    def of(cls, table, seed=0):
        """Guess the roles of a table's columns."""
        guesses = guess_song_roles, guess_user_roles, guess_playlist_roles
        return cls(*(guess(table.X, **table.ids) for guess in guesses), seed)

    @property
    def describes_songs(self):
        """Whether new songs can be told apart."""
        return any(column != self.songs.song for column in self.songs.used)

    def transformers(self, *, new_songs=False):
        """Return transformers by the parameter of a ranker; None if nothing is described.

        That of new songs has no popularity and no vectors of songs.
        """
        if new_songs and not self.describes_songs:
            raise CommandError(
                "New songs need columns that describe them, such as artist, tags or year; got a "
                "table with ids only. Add such columns."
            )
        songs = make_song_features(self.songs, new_songs=new_songs, random_state=self.seed)
        users = make_user_features(self.users) if self.users.used else None
        playlists = make_playlist_features(self.playlists) if self.playlists.used else None
        return {"song_features": songs, "user_features": users, "playlist_features": playlists}

    def code(self, *, new_songs=False):
        """Return the code of the transformers that are not None, by parameter."""
        asked = "new_songs=True, " if new_songs else ""
        songs = f"make_song_features({_code(self.songs)}, {asked}random_state={self.seed})"
        code = {"song_features": songs}
        if self.users.used:
            code["user_features"] = f"make_user_features({_code(self.users)})"
        if self.playlists.used:
            code["playlist_features"] = f"make_playlist_features({_code(self.playlists)})"
        return code

    def describe(self):
        """Return one line with the columns that are used, and why others are left out."""
        vector = self.songs.vector
        used = [c for c in self.songs.used if c != self.songs.song and c not in vector]
        used += vector if len(vector) < 4 else [f"{vector[0]} … {vector[-1]}"]
        parts = [f"songs are described by {', '.join(used) or 'their playlists only'}"]
        others = {"users": self.users.used, "playlists": self.playlists.used}
        parts += [f"{who} by {', '.join(columns)}" for who, columns in others.items() if columns]
        unused = ", ".join(f"{column} ({reason})" for column, reason in self._unused().items())
        return printable("; ".join(parts) + (f"; not used: {unused}" if unused else ""))

    def _unused(self):
        """Return why columns describe neither songs, users nor playlists, without ids."""
        reasons = {}
        used = self.users.used + self.playlists.used
        for column, reason in self.songs.left_out.items():
            if column in used or reason == IS_ID:
                continue
            # Columns that describe users have another reason to be left out.
            is_owners = reason in ("describes users", "describes playlists")
            reasons[column] = self.users.left_out.get(column, reason) if is_owners else reason
        return reasons


def _code(roles):
    """Return the expression that makes roles, without what is left out."""
    return repr(replace(roles, left_out={}))
