"""Two linear fits over columns of any width: which row of a group is meant, and whether a row is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from rag.reader.columns import Columns
from rag.reader.weights import Linear

DECAY = 0.3
STRENGTH = 0.1


def conditional_logit(groups: Sequence[Columns], gold: Sequence[NDArray[np.bool_]], seed: int = 0) -> Linear:
    """Maximise the share of each group's softmax that falls on its gold rows, with decayed weights.

    Each group is an array of shape (rows, columns), each entry of `gold` one of shape (rows,) with at least one True.
    """
    torch.manual_seed(seed)
    rows = np.vstack(groups).astype(np.float64)
    middle, width = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    inputs = torch.tensor((rows - middle) / width, dtype=torch.float32)
    right = torch.tensor(np.concatenate(gold), dtype=torch.float32)
    group = torch.tensor(np.repeat(range(len(groups)), [len(own) for own in groups]))
    weights = torch.zeros(rows.shape[1], requires_grad=True)
    optimizer = torch.optim.AdamW([weights], lr=0.02, weight_decay=DECAY)
    for _ in range(400):
        raised = (inputs @ weights).exp()
        total = torch.zeros(len(groups)).index_add(0, group, raised)
        loss = -(torch.zeros(len(groups)).index_add(0, group, raised * right) / total).log().mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return unscaled(weights.detach().numpy(), 0.0, middle, width)


def logistic(rows: Columns, truth: NDArray[np.bool_], strength: float = STRENGTH) -> Linear:
    """Fit the probability that a row is true: Platt's calibration, where the rows are scores."""
    from sklearn.linear_model import LogisticRegression

    middle, width = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    regression = LogisticRegression(C=strength, max_iter=2000)  # type: ignore[no-untyped-call]
    fitted = regression.fit((rows - middle) / width, truth)
    return unscaled(fitted.coef_[0], float(fitted.intercept_[0]), middle, width)


def unscaled(weights: Columns, offset: float, middle: Columns, width: Columns) -> Linear:
    """Return what was fitted to (rows - middle) / width as weights of the rows themselves."""
    own = np.asarray(weights, dtype=float) / width
    return Linear(own, offset - float(own @ middle))
