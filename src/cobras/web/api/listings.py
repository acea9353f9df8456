"""What the page shows beside the question, as JSON: labels, clusters, history, map, items, settings and columns."""

from __future__ import annotations

from typing import Literal

from cobras.data.guess import ColumnType
from cobras.web.api.models import Kind, Model, ProgressModel, Record, Thumbnail


class Labels(Model):
    """The cluster of every row that the map shows.

    `data` is base64 of little-endian `dtype`, in the order of the map. `colours` holds one index per cluster that
    stays with the cluster when numbers change: use it modulo the size of the palette. `ids` holds what a person
    knows each cluster by, which never changes either. `at` counts answers.
    """

    version: int
    at: int
    n_items: int
    n_clusters: int
    dtype: Literal["uint8", "uint16", "uint32"]
    data: str
    colours: list[int]
    ids: list[int]


class Cluster(Model):
    """One cluster; `suggestion` is what its content would be called where it has no name.

    `number` is what changes take, and may be another one after the next answer; `id` stays for life. `to_split`
    says that questions inside it come next.
    """

    number: int
    id: int
    colour: int
    size: int
    share: float
    name: str
    suggestion: str
    pure: bool
    complete: bool
    to_split: bool
    n_super_instances: int
    representatives: list[Thumbnail]
    unusual: list[Thumbnail]


class Clusters(Model):
    """All clusters, by number. Representatives are typical items, `unusual` ones lie farthest from them.

    `labels` is the `versions.labels` that the numbers belong to.
    """

    version: int
    labels: int
    can_mark: bool
    can_split: bool
    clusters: list[Cluster]


class HistoryModel(Model):
    """All answers and constraints, in order."""

    version: int
    records: list[Record]
    can_undo: bool
    can_redo: bool


class Series(Model):
    """The numbers behind the chart: one value per number of answers, from 0."""

    n_clusters: list[int]
    stable_share: list[float | None]
    expected_ari: list[float | None]


class ProgressSeries(Model):
    """Progress, and what it was after each answer."""

    version: int
    progress: ProgressModel
    series: Series


class MapModel(Model):
    """Where every row lies on the map, or of more than 100,000 rows a sample.

    `rows` is base64 of little-endian uint32: the numbers of the rows that are shown, ascending; None if all are.
    `data` is base64 of little-endian float32, x and y of the first row, of the next and so on, all in [0, 1], y
    upwards.
    `pending` says that a better layout is being computed; an event `map` will tell.
    `problem` says in a sentence why there is none, where computing it failed.
    """

    version: int
    layout: Literal["none", "pca", "tsne"]
    pending: bool
    problem: str = ""
    n_items: int
    rows: str | None = None
    data: str


class ListedItem(Thumbnail):
    """A line of the table of items; `cells` belong to `Items.columns`.

    `confidence` says how sure it is that the item is in its cluster, where the least sure ones are listed.
    """

    cluster: int
    cluster_id: int
    colour: int
    cluster_name: str
    cells: list[str | None]
    confidence: float | None = None


class Items(Model):
    """One page of the items; `total` counts all that match."""

    version: int
    total: int
    offset: int
    columns: list[str]
    items: list[ListedItem]


class Settings(Model):
    """What does not change while the server runs.

    `method` is empty and `seed` None until the session is open. `keys` maps same, different, unsure, undo, redo,
    history, map and help to `KeyboardEvent.key` values, compared without regard to case except where both cases are
    bound ("z" undo, "Z" redo).
    """

    name: str
    kind: Kind
    n_items: int
    columns: list[str]
    notes: list[str]
    session_file: str
    method: str
    seed: int | None
    version: str
    blind: bool
    boards: bool
    words: str
    keys: dict[str, list[str]]
    exports: list[str]
    can_close: bool


class DataColumn(Model):
    """What a column is taken for; `uses` are the ways in which it could be used, the present one included.

    `types` are those that it could have, none where it is not compared; the type may be refused all the same.
    `reason` says why it is ignored. A "dropped" one was left out on request.
    """

    name: str
    use: Literal["used", "name", "label", "ignored", "dropped"]
    type: Literal["number", "date", "yes/no", "category", "text", "image", "other"]
    reason: str
    share_missing: float
    missing: list[str]
    examples: list[str]
    weight: float
    uses: list[Literal["used", "name", "dropped"]]
    types: list[ColumnType]


class DataChoices(Model):
    """How the data was read; POST data takes the same."""

    id: str | None
    drop: list[str]
    use: list[str]
    types: dict[str, ColumnType]
    weights: dict[str, float]
    kind: str | None
    text: str | None
    image: str | None
    features: str | None


class Way(Model):
    """By what items could be compared, and the choices for that."""

    words: str
    kind: str
    text: str | None
    image: str | None
    features: str | None
    is_now: bool


class Data(Model):
    """What the data is taken for, by what items are compared, and how well that works."""

    run: str
    columns: list[DataColumn]
    by: str
    quality: Literal["good", "fair", "poor"]
    advice: str
    ways: list[Way]
    choices: DataChoices
    notes: list[str]
    can_change: bool
