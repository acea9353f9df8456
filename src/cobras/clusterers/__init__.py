"""Passive constrained clusterers: they take must-links and cannot-links as they come."""

from cobras.clusterers.copkmeans import COPKMeans
from cobras.clusterers.cosc import COSC
from cobras.clusterers.mpckmeans import MPCKMeans, PCKMeans

__all__ = ["COSC", "COPKMeans", "MPCKMeans", "PCKMeans"]
