"""The scikit-learn face: labels, or a function, play the person."""

from cobras.estimators.active import ActiveClusterer, LabelsPerQuery
from cobras.estimators.adder import ADDER
from cobras.estimators.cobras import COBRA, COBRAS
from cobras.estimators.competitors import COBS, NPU, ExploreConsolidate, MinMax

__all__ = [
    "ADDER",
    "COBRA",
    "COBRAS",
    "COBS",
    "NPU",
    "ActiveClusterer",
    "ExploreConsolidate",
    "LabelsPerQuery",
    "MinMax",
]
