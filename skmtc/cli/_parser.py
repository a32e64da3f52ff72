"""The arguments of the command, with examples."""

import argparse
from textwrap import fill

from skmtc import __version__
from skmtc.cli._compare_command import run_compare, run_sample
from skmtc.cli._fit_command import run_fit
from skmtc.cli._recommend_command import FORMATS, run_recommend
from skmtc.cli._tune_command import run_tune
from skmtc.cli.inputs import (
    MAX_ROWS,
    MAX_SONGS,
    RANKERS,
    SETTINGS,
    attributes,
    metric_name,
    positive,
    setting_name,
    share,
    whole_seed,
)
from skmtc.cli.inputs import ranker_name as ranker_type
from skmtc.cli.report import DEFAULT_FOLDER
from skmtc.metrics import RECORDS

RANKER_LIST = fill(
    f"rankers: {', '.join(RANKERS)}", 90, subsequent_indent="  ", break_on_hyphens=False
)
METRIC_LIST = fill(
    f"metrics: {', '.join(record.usage for record in RECORDS)}", 90, subsequent_indent="  "
)
TABLE_HELP = "CSV or Parquet file with one row per song in a playlist"

MAIN_EXAMPLES = """\
examples:
  skmtc                                     compare all rankers on the sample of the package
  skmtc compare playlists.csv               the same on your own table
  skmtc fit playlists.csv --out model.skops
  skmtc recommend model.skops --user ana
  skmtc tune playlists.csv --setting cold-users

A table has one row per song in a playlist. The columns user, playlist and song are ids (other
names: --user, --playlist, --song); every other column describes the song or the user:

  user,playlist,song,artist,year,genre,age,country
  ana,gym,s17,a3,2009,rock,31,AU

exit codes: 0 success; 1 invalid data, file or id; 2 invalid arguments; 130 interrupted.
`skmtc COMMAND --help` has more examples.
"""

COMPARE_EXAMPLES = f"""\
examples:
  skmtc compare playlists.csv
  skmtc compare playlists.parquet --setting cold-users cold-songs --rankers popularity multitask
  skmtc compare tracks.csv --user owner --playlist pid --song track_uri --metrics auc ndcg
  skmtc compare playlists.csv --config compare.toml --out report
  skmtc compare large.csv.gz --all          without sampling, which large tables get

a config file, in which every line may be left out:
  setting = ["cold-playlists", "cold-songs"]
  rankers = ["popularity", "multitask"]
  metrics = ["auc", "hit_rate@10"]
  [columns]
  song = "track_uri"
  [parameters.multitask]
  user_l2 = 0.1
  [splits.cold-songs]
  song_size = 0.05

{RANKER_LIST}
settings: {", ".join(SETTINGS)}
{METRIC_LIST}
"""

FIT_EXAMPLES = f"""\
examples:
  skmtc fit playlists.csv --out model.skops
  skmtc fit playlists.csv --out model.skops --ranker multitask --params user_l2=0.1 push=0.5
  skmtc fit playlists.csv --out new_songs.skops --new-songs

{RANKER_LIST}
Models are written with skops (pip install skops), which loads without running code. A
name that ends in .pkl makes a pickle, which is loaded with --trust only.
"""

RECOMMEND_EXAMPLES = """\
examples:
  skmtc recommend model.skops --playlist gym               more songs for a playlist
  skmtc recommend model.skops --user ana -n 5              a new playlist of a known user
  skmtc recommend model.skops --new-user age=31,country=AU
  skmtc recommend model.skops --new-playlist "title=morning run"
  skmtc recommend model.skops --user ana --diversity 0.3   songs that differ from each other
  skmtc recommend model.skops --user ana --songs new_songs.csv --format json

new_songs.csv has a song column and the columns that describe songs; no playlists. The table
shows titles, artists and the like if the model's table had them; csv and json have all columns
of songs.
"""

TUNE_EXAMPLES = """\
examples:
  skmtc tune playlists.csv --setting cold-playlists
  skmtc tune playlists.csv --setting cold-songs --n-iter 40 --metric hit_rate@100
  skmtc tune playlists.csv --setting cold-users --grid > best.py

The best setting is printed as Python code that fits it; progress goes to stderr.
"""


def make_parser():
    """Make the parser; `args.run(args)` does the work."""
    parser = argparse.ArgumentParser(
        "skmtc",
        description="Cold-start playlist recommendation: songs for new playlists, new users and "
        "newly released songs. Without a command, all rankers are compared on the sample of the "
        "package.",
        epilog=MAIN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common_options()],
    )
    parser.add_argument("--version", action="version", version=f"skmtc {__version__}")
    _add_out_folder(parser)
    parser.set_defaults(
        run=run_sample, out=DEFAULT_FOLDER, debug=False, quiet=False, seed=0, all=True
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for add in (_add_compare, _add_fit, _add_recommend, _add_tune):
        add(commands)
    return parser


def _command(commands, name, run, summary, examples):
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common_options()],  # made anew: defaults are kept in the options themselves
    )
    command.set_defaults(run=run)
    return command


def _common_options():
    # Without defaults, so that an option before the command is not undone by the command's own.
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--quiet", action="store_true", help="do not show progress")
    common.add_argument("--debug", action="store_true", help="show the traceback of an error")
    common.add_argument("--seed", type=whole_seed, metavar="N", help="random seed (0)")
    return common


def _add_out_folder(parser):
    parser.add_argument(
        "--out",
        metavar="DIR",
        default=argparse.SUPPRESS,
        help=f"folder of the report ({DEFAULT_FOLDER})",
    )


def _add_sampling(parser):
    sampling = parser.add_argument_group("sample of a large table")
    sampling.add_argument(
        "--max-songs",
        type=positive,
        default=MAX_SONGS,
        metavar="N",
        help=f"only the songs in most playlists ({MAX_SONGS})",
    )
    sampling.add_argument(
        "--max-rows",
        type=positive,
        default=MAX_ROWS,
        metavar="N",
        help=f"only a random sample of users ({MAX_ROWS})",
    )
    sampling.add_argument("--all", action="store_true", help="use the whole table")


def _add_columns(parser):
    columns = parser.add_argument_group("columns of the table")
    columns.add_argument("--user", metavar="COLUMN", help="user ids (user); '' for none")
    columns.add_argument(
        "--no-user", dest="user", action="store_const", const="", help="owners are unknown"
    )
    columns.add_argument("--playlist", metavar="COLUMN", help="playlist ids (playlist)")
    columns.add_argument("--song", metavar="COLUMN", help="song ids (song)")


def _add_compare(commands):
    summary = "compare rankers on your own table"
    command = _command(commands, "compare", run_compare, summary, COMPARE_EXAMPLES)
    command.add_argument("table", metavar="TABLE", help=TABLE_HELP)
    command.add_argument(
        "--setting",
        nargs="+",
        type=setting_name,
        metavar="SETTING",
        help="cold-start settings (all three)",
    )
    command.add_argument(
        "--rankers", nargs="+", type=ranker_type, metavar="RANKER", help="rankers to compare (all)"
    )
    command.add_argument(
        "--metrics", nargs="+", type=metric_name, metavar="METRIC", help="columns of the result"
    )
    _add_sampling(command)
    _add_out_folder(command)
    command.add_argument("--config", metavar="FILE", help="TOML file with these and more options")
    _add_columns(command)


def _add_fit(commands):
    summary = "fit a ranker and store it"
    command = _command(commands, "fit", run_fit, summary, FIT_EXAMPLES)
    command.add_argument("table", metavar="TABLE", help=TABLE_HELP)
    command.add_argument("--out", metavar="MODEL", required=True, help="file of the model")
    command.add_argument(
        "--ranker", type=ranker_type, default="recommended", metavar="RANKER", help="(recommended)"
    )
    command.add_argument(
        "--params", nargs="+", default=[], metavar="KEY=VALUE", help="parameters of the ranker"
    )
    command.add_argument(
        "--new-songs",
        action="store_true",
        help="fit without popularity, to recommend songs that are in no playlist yet",
    )
    _add_columns(command)


def _add_recommend(commands):
    summary = "recommend songs with a stored model"
    command = _command(commands, "recommend", run_recommend, summary, RECOMMEND_EXAMPLES)
    command.add_argument("model", metavar="MODEL", help="file written by `skmtc fit`")
    whom = command.add_mutually_exclusive_group()
    whom.add_argument("--playlist", metavar="ID", help="a known playlist")
    whom.add_argument("--user", metavar="ID", help="a known user, for a new playlist")
    whom.add_argument(
        "--new-user", type=attributes, metavar="KEY=VALUE,...", help="attributes of a new user"
    )
    command.add_argument(
        "--new-playlist",
        type=attributes,
        metavar="KEY=VALUE,...",
        help="attributes of a new playlist, such as its title, with a user or alone",
    )
    command.add_argument("--songs", metavar="NEW_SONGS", help="table of new songs to choose from")
    command.add_argument("-n", type=positive, default=20, metavar="N", help="number of songs (20)")
    command.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=f"({FORMATS[0]})")
    command.add_argument(
        "--diversity",
        type=share,
        default=0.0,
        metavar="D",
        help="from 0 (best songs) to 1 (most diverse) (0)",
    )
    command.add_argument(
        "--include-seen", action="store_true", help="include songs that the playlist already has"
    )
    command.add_argument(
        "--trust",
        action="store_true",
        help="load a pickle, which can run any code: use only for your own files",
    )


def _add_tune(commands):
    summary = "search for the best penalties and push"
    command = _command(commands, "tune", run_tune, summary, TUNE_EXAMPLES)
    command.add_argument("table", metavar="TABLE", help=TABLE_HELP)
    command.add_argument(
        "--setting", type=setting_name, required=True, metavar="SETTING", help=", ".join(SETTINGS)
    )
    command.add_argument(
        "--metric", type=metric_name, default="auc", help="metric to maximise (auc)"
    )
    how = command.add_mutually_exclusive_group()
    how.add_argument(
        "--n-iter", type=positive, default=20, metavar="N", help="number of random settings (20)"
    )
    how.add_argument("--grid", action="store_true", help="try every setting of the grid")
    command.add_argument("--splits", type=positive, default=2, metavar="N", help="splits (2)")
    _add_columns(command)
