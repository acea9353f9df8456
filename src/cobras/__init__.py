"""Cluster data the way you mean it: answer a few same-or-different questions.

Names are imported when they are first used, so that `import cobras` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cobras.clusterers import COSC, COPKMeans, MPCKMeans, PCKMeans
    from cobras.constraints import Constraints
    from cobras.data import Dataset, read_dataset
    from cobras.estimators import ADDER, COBRA, COBRAS, COBS, NPU, ExploreConsolidate, MinMax
    from cobras.exceptions import (
        CobrasError,
        DataChangedError,
        InconsistentAnswersError,
        InfeasibleConstraintsError,
        InvalidDataError,
        SessionFileError,
        StaleQuestionError,
        StopAsking,
    )
    from cobras.history import Record, Revision
    from cobras.oracles import LabelOracle, NoisyOracle, RecordedOracle
    from cobras.partition import Cluster, Partition, SuperInstance
    from cobras.progress import Progress
    from cobras.runner import run
    from cobras.session import Session
    from cobras.spaces import Space
    from cobras.spaces.dask import DaskSpace
    from cobras.spaces.euclidean import EuclideanSpace
    from cobras.spaces.series import SeriesSpace
    from cobras.types import Answer, Event, Pair

_HOMES = {
    "constraints": ["Constraints"],
    "data": ["Dataset", "read_dataset"],
    "clusterers": ["COPKMeans", "COSC", "MPCKMeans", "PCKMeans"],
    "estimators": ["ADDER", "COBRA", "COBRAS", "COBS", "NPU", "ExploreConsolidate", "MinMax"],
    "exceptions": [
        "CobrasError",
        "DataChangedError",
        "InfeasibleConstraintsError",
        "InconsistentAnswersError",
        "InvalidDataError",
        "SessionFileError",
        "StaleQuestionError",
        "StopAsking",
    ],
    "history": ["Record", "Revision"],
    "oracles": ["LabelOracle", "NoisyOracle", "RecordedOracle"],
    "partition": ["Cluster", "Partition", "SuperInstance"],
    "progress": ["Progress"],
    "runner": ["run"],
    "session": ["Session"],
    "spaces": ["Space"],
    "spaces.dask": ["DaskSpace"],
    "spaces.euclidean": ["EuclideanSpace"],
    "spaces.series": ["SeriesSpace"],
    "types": ["Answer", "Event", "Pair"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ADDER",
    "COBRA",
    "COBRAS",
    "COBS",
    "COSC",
    "NPU",
    "Answer",
    "COPKMeans",
    "Cluster",
    "CobrasError",
    "Constraints",
    "DaskSpace",
    "DataChangedError",
    "Dataset",
    "EuclideanSpace",
    "Event",
    "ExploreConsolidate",
    "InconsistentAnswersError",
    "InfeasibleConstraintsError",
    "InvalidDataError",
    "LabelOracle",
    "MPCKMeans",
    "MinMax",
    "NoisyOracle",
    "PCKMeans",
    "Pair",
    "Partition",
    "Progress",
    "Record",
    "RecordedOracle",
    "Revision",
    "SeriesSpace",
    "Session",
    "SessionFileError",
    "Space",
    "StaleQuestionError",
    "StopAsking",
    "SuperInstance",
    "read_dataset",
    "run",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("cobras-clustering")
    if name not in _HOME:
        raise AttributeError(f"module 'cobras' has no attribute {name!r}")
    return getattr(import_module(f"cobras.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
