"""Rows of a table in the form that the transformers of a ranker see."""


def without_weights(ranker, frame):
    """Return a table without the column of weights, which is no feature."""
    label = ranker.weight_label
    return frame if label not in frame.columns else frame.drop(columns=label)


def transformer_input(ranker, rows, own_id):
    """Return rows in the form that `song_features` or `user_features` sees.

    Of the ids, a DataFrame keeps only the one of the songs, users or playlists that the rows
    describe. An array stays whole, so that columns keep their positions.
    """
    if ranker.reader.is_array:
        return rows.to_numpy()
    rows = without_weights(ranker, rows)
    columns = ranker.reader.find_columns(rows, ())
    others = [c for c in columns.labels if c is not None and c != own_id]
    return rows.drop(columns=others)
