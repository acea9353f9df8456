"""Passive constrained clusterers: they take must-links and cannot-links as they come."""

from cobras.baselines.clusterers.copkmeans import COPKMeans
from cobras.baselines.clusterers.cosc import COSC
from cobras.baselines.clusterers.mpckmeans import MPCKMeans, PCKMeans

__all__ = ["COSC", "COPKMeans", "MPCKMeans", "PCKMeans"]
