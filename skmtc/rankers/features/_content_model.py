"""Regressors that predict the factors of a new song from its features."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# With fewer songs, the validation set of a tenth of them is too small for early stopping.
FEWEST_SONGS_TO_STOP_EARLY = 200
# The warning of scikit-learn's networks after they have caught an interrupt from the keyboard.
INTERRUPTED = "Training interrupted by user"


def fit_content_model(content_model, features, factors, seed):
    """Fit a content model; an interrupt from the keyboard ends the fit.

    Parameters
    ----------
    content_model : regressor or "mlp"
        What to fit; a regressor is cloned.

    features : array or csr_array of shape (n_songs, n_features)
        Features of the training songs.

    factors : ndarray of shape (n_songs, n_factors)
        What to predict.

    seed : int
        Seed of the "mlp".

    Returns
    -------
    model : regressor
        The fitted model.
    """
    is_mlp = isinstance(content_model, str)
    model = _mlp(features, seed) if is_mlp else clone(content_model)
    with warnings.catch_warnings():
        if is_mlp:
            # The number of epochs is our choice, so the caller cannot act on the warning.
            warnings.simplefilter("ignore", ConvergenceWarning)
        # scikit-learn's networks catch KeyboardInterrupt, warn, and return as if they were done.
        warnings.filterwarnings("error", message=INTERRUPTED)
        try:
            model.fit(features, factors)
        except UserWarning as warning:
            if str(warning).startswith(INTERRUPTED):
                raise KeyboardInterrupt from None
            raise
    if is_mlp:
        _drop_training_state(model[-1].regressor_)
    return model


def _mlp(features, seed):
    n_songs = features.shape[0]
    mlp = MLPRegressor(
        hidden_layer_sizes=(64,),
        early_stopping=n_songs >= FEWEST_SONGS_TO_STOP_EARLY,
        random_state=seed,
    )
    return make_pipeline(
        StandardScaler(with_mean=isinstance(features, np.ndarray)),
        TransformedTargetRegressor(mlp, transformer=StandardScaler()),
    )


def _drop_training_state(mlp):
    """Keep what predicts: the optimiser and its best weights so far only serve more training.

    They would triple the size of the model, and no safe format stores an optimiser.
    """
    for name in [name for name in vars(mlp) if name.startswith("_")]:
        delattr(mlp, name)
