"""Roles of columns, guessed from names and content."""

from skmtc.features.roles._playlist_roles import PlaylistRoles, guess_playlist_roles
from skmtc.features.roles._role_names import as_list, is_auto
from skmtc.features.roles._song_roles import SongRoles, guess_song_roles
from skmtc.features.roles._user_roles import UserRoles, guess_user_roles

__all__ = [
    "PlaylistRoles",
    "SongRoles",
    "UserRoles",
    "as_list",
    "guess_playlist_roles",
    "guess_song_roles",
    "guess_user_roles",
    "is_auto",
]
