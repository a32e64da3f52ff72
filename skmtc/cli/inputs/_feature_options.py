"""Features for any table: made of what its columns are guessed to be, and shown as code."""

from dataclasses import dataclass, field, replace

from skmtc.cli._errors import CommandError
from skmtc.cli._safe_text import printable
from skmtc.features import (
    SongRoles,
    UserRoles,
    guess_song_roles,
    guess_user_roles,
    make_song_features,
    make_user_features,
)

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

    seed : int
        Seed of the embeddings.
    """

    songs: SongRoles = field(default_factory=SongRoles)
    users: UserRoles = field(default_factory=UserRoles)
    seed: int = 0

    @classmethod
    def of(cls, table, seed=0):
        """Guess the roles of a table's columns."""
        songs = guess_song_roles(table.X, **table.ids)
        users = guess_user_roles(table.X, **table.ids)
        return cls(songs, users, seed)

    @property
    def describes_songs(self):
        """Whether new songs can be told apart."""
        return any(column != self.songs.song for column in self.songs.used)

    @property
    def describes_users(self):
        """Whether new users can be told apart."""
        return bool(self.users.numeric or self.users.categorical)

    def song_features(self, *, new_songs=False):
        """Return the transformer of songs; that of new songs has no popularity and embeddings."""
        if new_songs and not self.describes_songs:
            raise CommandError(
                "New songs need columns that describe them, such as artist, tags or year; got a "
                "table with ids only. Add such columns."
            )
        return make_song_features(self.songs, new_songs=new_songs, random_state=self.seed)

    def user_features(self):
        """Return the transformer of users; None if nothing describes them."""
        return make_user_features(self.users) if self.describes_users else None

    def song_code(self, *, new_songs=False):
        """Return the code that makes the transformer of songs."""
        asked = "new_songs=True, " if new_songs else ""
        return f"make_song_features({_code(self.songs)}, {asked}random_state={self.seed})"

    def user_code(self):
        """Return the code that makes the transformer of users; None if there is none."""
        return f"make_user_features({_code(self.users)})" if self.describes_users else None

    def told(self):
        """Return one line with the columns that are used, and why others are left out."""
        vector = self.songs.vector
        used = [c for c in self.songs.used if c != self.songs.song and c not in vector]
        used += vector if len(vector) < 4 else [f"{vector[0]} … {vector[-1]}"]
        parts = [f"songs are described by {', '.join(used) or 'their playlists only'}"]
        if self.describes_users:
            parts.append(f"users by {', '.join(self.users.used)}")
        told = ", ".join(f"{column} ({reason})" for column, reason in self._unused().items())
        return printable("; ".join(parts) + (f"; not used: {told}" if told else ""))

    def _unused(self):
        """Return why columns describe neither songs nor users, without ids."""
        reasons = {}
        for column, reason in self.songs.left_out.items():
            if column in self.users.used or reason == IS_ID:
                continue
            # Columns that describe users have another reason to be left out.
            is_owners = reason in ("describes users", "describes playlists")
            reasons[column] = self.users.left_out.get(column, reason) if is_owners else reason
        return reasons


def _code(roles):
    """Return the expression that makes roles, without what is left out."""
    return repr(replace(roles, left_out={}))
