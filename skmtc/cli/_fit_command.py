"""`skmtc fit`: a ranker fitted on a table, stored in a file."""

import sys
from time import perf_counter

from skmtc.cli._model_file import check_model_path, write_model
from skmtc.cli._progress_lines import tell_first_compilation
from skmtc.cli._safe_text import printable
from skmtc.cli.inputs import Features, make_ranker, open_table, parameters


def run_fit(args):
    """Fit a ranker and store it."""
    check_model_path(args.out)
    chosen = parameters(args.params)
    table = open_table(args.table, user=args.user, playlist=args.playlist, song=args.song)
    features = Features.of(table, args.seed)
    ranker = make_ranker(args.ranker, table, features, new_songs=args.new_songs, parameters=chosen)
    if not args.quiet:
        print(f"{table.source}: {table.size}; {features.told()}", file=sys.stderr)
        tell_first_compilation()
        print(f"fitting {args.ranker}", file=sys.stderr, flush=True)
    start = perf_counter()
    ranker.fit(table.X)
    if args.new_songs:  # some rankers put off what only new songs need
        getattr(ranker, "content_model_", None)
    seconds = perf_counter() - start
    write_model(ranker, args.out)
    print(f"{printable(args.out)}: {type(ranker).__name__}, fitted in {seconds:.1f} s")
