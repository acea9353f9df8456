"""The public names, written once: `__init__.py` imports each when it is first used."""

from .baselines.clusterers.copkmeans import COPKMeans as COPKMeans
from .baselines.clusterers.cosc import COSC as COSC
from .baselines.clusterers.mpckmeans import MPCKMeans as MPCKMeans
from .baselines.clusterers.mpckmeans import PCKMeans as PCKMeans
from .core.constraints import Constraints as Constraints
from .core.exceptions import CobrasError as CobrasError
from .core.exceptions import DataChangedError as DataChangedError
from .core.exceptions import InconsistentAnswersError as InconsistentAnswersError
from .core.exceptions import InfeasibleConstraintsError as InfeasibleConstraintsError
from .core.exceptions import InvalidDataError as InvalidDataError
from .core.exceptions import SessionFileError as SessionFileError
from .core.exceptions import StaleQuestionError as StaleQuestionError
from .core.exceptions import StopAsking as StopAsking
from .core.partition import Cluster as Cluster
from .core.partition import Partition as Partition
from .core.partition import SuperInstance as SuperInstance
from .core.progress import Progress as Progress
from .core.types import Answer as Answer
from .core.types import Event as Event
from .core.types import Pair as Pair
from .core.types import Record as Record
from .data.dataset import Dataset as Dataset
from .data.read import read_dataset as read_dataset
from .estimators.active import ADDER as ADDER
from .estimators.active import COBRA as COBRA
from .estimators.active import COBRAS as COBRAS
from .estimators.competitors import COBS as COBS
from .estimators.competitors import NPU as NPU
from .estimators.competitors import ExploreConsolidate as ExploreConsolidate
from .estimators.competitors import MinMax as MinMax
from .methods.protocol import Reconsider as Reconsider
from .methods.protocol import Step as Step
from .session.oracles import LabelOracle as LabelOracle
from .session.oracles import NoisyOracle as NoisyOracle
from .session.oracles import RecordedOracle as RecordedOracle
from .session.oracles import run as run
from .session.replay import Entry as Entry
from .session.replay import Revision as Revision
from .session.session import Session as Session
from .spaces.base import Space as Space
from .spaces.dask.space import DaskSpace as DaskSpace
from .spaces.euclidean import EuclideanSpace as EuclideanSpace
from .spaces.series import SeriesSpace as SeriesSpace

__version__: str
