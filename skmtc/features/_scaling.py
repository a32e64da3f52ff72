"""Numbers of any unit and size, made fit for linear models."""

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skmtc._checks import check_number


def scaled(clip, first):
    """Give a pipeline of a first step, standardisation and clipping.

    Parameters
    ----------
    clip : float
        Largest absolute value, in standard deviations.

    first : (str, transformer)
        Name of the first step, and the step.
    """
    check_number("clip", clip, above=0)
    limits = FunctionTransformer(
        np.clip, kw_args={"a_min": -clip, "a_max": clip}, feature_names_out="one-to-one"
    )
    return Pipeline([first, ("scale", StandardScaler()), ("clip", limits)])


def scaled_numbers(clip):
    """Give a pipeline of median imputation, standardisation and clipping.

    A column without any value is kept, as zeros, so that a fold without values fits the model.
    """
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return scaled(clip, ("impute", imputer))
