"""`skmtc fit`: a ranker fitted on a table, stored in a file."""

from time import perf_counter

from skmtc.cli._model_file import check_model_path, write_model
from skmtc.cli._progress_lines import (
    REPORTED_SECONDS,
    beats,
    minutes,
    note_first_compilation,
    print_line,
)
from skmtc.cli._safe_text import printable
from skmtc.cli.inputs import Features, fit_seconds, make_ranker, open_table, parameters


def run_fit(args):
    """Fit a ranker and store it."""
    check_model_path(args.out)
    chosen = parameters(args.params)
    with beats(f"reading {printable(args.table)}", quiet=args.quiet):
        table = open_table(args.table, user=args.user, playlist=args.playlist, song=args.song)
        features = Features.of(table, args.seed)
    ranker = make_ranker(args.ranker, table, features, new_songs=args.new_songs, parameters=chosen)
    if not args.quiet:
        print_line(f"{table.source}: {table.size}; {features.describe()}")
        note_first_compilation()
        expected = fit_seconds([args.ranker], table)[args.ranker]
        estimate = f", about {minutes(expected)}" if expected > REPORTED_SECONDS else ""
        print_line(f"fitting {args.ranker}{estimate}")
    start = perf_counter()
    with beats(f"fitting {args.ranker}", quiet=args.quiet):
        ranker.fit(table.X)
        if args.new_songs:  # some rankers fit what new songs need at first use
            getattr(ranker, "content_model_", None)
    seconds = perf_counter() - start
    with beats("writing the model", quiet=args.quiet):
        write_model(ranker, args.out)
    print(f"{printable(args.out)}: {type(ranker).__name__}, fitted in {seconds:.1f} s")
