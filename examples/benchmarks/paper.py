"""The paper's figures beside those of a study: the same methods, on the authors' copy of 30Music.

Its AUC is that of the paper's second table. Its hit rates are those of the curves of its figures,
from the authors' repository, whose tables differ among themselves by up to 0.2 %.
"""

import pandas as pd

KEYS = ["setting", "ranker"]
SHOWN = ["auc", "auc_low", "auc_high", "hit_rate@100", "hit_rate@100_low", "hit_rate@100_high"]
# By setting and method: AUC and HitRate@100 on 30Music, then on AotM-2011.
PAPER = {
    "cold playlists": {
        "PopRank": (0.940, 0.120, 0.938, 0.058),
        "CAGH": (0.948, 0.201, 0.942, 0.075),
        "SAGH": (0.645, 0.181, 0.798, 0.092),
        "WMF": (0.795, 0.209, 0.854, 0.061),
        "MTC": (0.959, 0.208, 0.954, 0.099),
    },
    "cold users": {
        "PopRank": (0.883, 0.110, 0.918, 0.074),
        "CAGH": (0.863, 0.071, 0.881, 0.049),
        "SAGH": (0.545, 0.073, 0.537, 0.050),
        "WMF+kNN": (0.849, 0.105, None, None),
        "MTC": (0.888, 0.110, 0.918, 0.075),
    },
    "cold songs": {
        "PopRank": (0.709, 0.122, 0.765, 0.087),
        "CAGH": (0.680, 0.100, 0.774, 0.140),
        "SAGH": (0.515, 0.047, 0.536, 0.078),
        "MF+MLP": (0.814, 0.279, 0.808, 0.188),
        "MTC": (0.866, 0.362, 0.843, 0.244),
    },
}
FIGURES = ["paper_auc", "paper_hit_rate@100", "aotm_auc", "aotm_hit_rate@100"]
# Rankers of ours that are a method of the paper; those that are not here have its name.
OURS = {
    "PopRank": ["popularity"],
    "WMF+kNN": ["WMF"],
    "MF+MLP": ["WMF"],
    "MTC": ["MTC, features of the paper", "MTC"],
}


def beside_paper(table):
    """Return one row per setting and ranker that the study has: the paper's figures and ours.

    Parameters
    ----------
    table : DataFrame
        What `study.summarize` returns.
    """
    rows = [
        {"setting": setting, "method": method, "ranker": ranker}
        | dict(zip(FIGURES, figures, strict=True))
        for setting, methods in PAPER.items()
        for method, figures in methods.items()
        for ranker in OURS.get(method, [method])
    ]
    about = ["n_splits", "machine", "date", "versions"]
    ours = table.drop_duplicates(KEYS)[[*KEYS, *SHOWN, *about]]
    return pd.DataFrame(rows).merge(ours, on=KEYS)
