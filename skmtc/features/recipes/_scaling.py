"""Standardise numbers for linear models."""

from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skmtc._utils.validation import check_number
from skmtc.features.recipes._clip import Clip, FiniteNumbers


def scaled(clip, *first):
    """Return a pipeline of first steps, standardisation and clipping.

    Parameters
    ----------
    clip : float
        Largest absolute value, in standard deviations.

    *first : (str, transformer)
        Names of the first steps, and the steps.
    """
    check_number("clip", clip, above=0)
    return Pipeline([*first, ("standardize", StandardScaler()), ("clip", Clip(clip))])


def scaled_numbers(clip):
    """Return a pipeline of mean imputation, standardisation and clipping.

    A missing or infinite value becomes the mean, which standardisation makes 0: unknown is neutral.
    A column without any value is kept, as zeros, so that a fold without values fits the model.
    """
    imputer = SimpleImputer(strategy="mean", keep_empty_features=True)
    return scaled(clip, ("finite", FiniteNumbers()), ("impute", imputer))
