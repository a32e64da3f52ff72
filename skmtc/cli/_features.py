"""Features for any table: made of what its columns are guessed to be, and shown as code."""

from dataclasses import dataclass, field

from skmtc.cli._errors import CommandError
from skmtc.features import (
    SongRoles,
    UserRoles,
    guess_song_roles,
    guess_user_roles,
    make_song_features,
    make_user_features,
)


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
        others = [c for c in (table.user, table.playlist) if c is not None]
        songs = guess_song_roles(table.X.drop(columns=others), song=table.song)
        owner = table.playlist if table.user is None else table.user
        described = table.X.drop(columns=[c for c in others if c != owner])
        users = guess_user_roles(described, user=owner, song=table.song)
        if songs.artist in users.categorical:  # artists of songs differ, whatever a table says
            users.categorical.remove(songs.artist)
        return cls(songs, users, seed)

    @property
    def describes_songs(self):
        """Whether new songs can be told apart."""
        return bool(self.songs.artist or self.songs.genre or self.songs.key or self.songs.numeric)

    @property
    def describes_users(self):
        """Whether new users can be told apart."""
        return bool(self.users.numeric or self.users.categorical)

    def song_features(self, *, new_songs=False):
        """Make the transformer of songs; new songs have no popularity to be a feature."""
        if new_songs and not self.describes_songs:
            raise CommandError(
                "New songs need columns that describe them, such as year, genre or artist; got a "
                "table with ids only. Add such columns."
            )
        return make_song_features(self.songs, popularity=not new_songs, random_state=self.seed)

    def user_features(self):
        """Make the transformer of users; None where nothing describes them."""
        return make_user_features(self.users) if self.describes_users else None

    def song_code(self, *, new_songs=False):
        """Give the code that makes the transformer of songs."""
        roles = _code("SongRoles", self.songs, ("song", "artist", "genre", "key", "numeric"))
        popularity = "popularity=False, " if new_songs else ""
        return f"make_song_features({roles}, {popularity}random_state={self.seed})"

    def user_code(self):
        """Give the code that makes the transformer of users; None where there is none."""
        if not self.describes_users:
            return None
        return f"make_user_features({_code('UserRoles', self.users, ('numeric', 'categorical'))})"

    def told(self):
        """Say in one line what is used, and what is not and why."""
        used = [c for c in self.songs.used if c != self.songs.song]
        people = [*self.users.numeric, *self.users.categorical]
        parts = [f"songs are described by {', '.join(used) or 'their playlists only'}"]
        if people:
            parts.append(f"users by {', '.join(people)}")
        unused = {
            column: reason
            for column, reason in self.songs.left_out.items()
            if column not in people and "name of an id" not in reason
        }
        told = ", ".join(f"{column} ({reason})" for column, reason in unused.items())
        return "; ".join(parts) + (f"; not used: {told}" if told else "")


def _code(name, roles, fields):
    given = [f"{f}={getattr(roles, f)!r}" for f in fields if getattr(roles, f)]
    return f"{name}({', '.join(given)})"
