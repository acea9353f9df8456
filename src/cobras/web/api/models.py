"""What the end points take and give: the contract between the server, the page and other programs."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticSerializationError

from cobras.core.types import Answer

LARGEST = 2**31 - 1  # no table has more rows
Kind = Literal["table", "image", "text", "series"]
Word = Literal["same", "different", "unsure"]


class Model(BaseModel):
    """The base of everything here: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


# -- items ---------------------------------------------------------------------------------------------------------


class Cell(Model):
    """One column of a row; `value` is None where it is missing."""

    name: str
    value: str | None


class TableCard(Model):
    """A row of a table: its columns, in the file's order, without the one that names it."""

    kind: Literal["table"] = "table"
    fields: list[Cell]


class ImageCard(Model):
    """A picture, at `src`, relative to the page. Small ones are to be enlarged without smoothing."""

    kind: Literal["image"] = "image"
    src: str
    width: int
    height: int
    fields: list[Cell] = []


class TextCard(Model):
    """A text, cut at 20,000 characters (`cut` says so), and the other columns of its row."""

    kind: Literal["text"] = "text"
    text: str
    cut: bool = False
    fields: list[Cell] = []


class SeriesCard(Model):
    """A time series: one list per channel, at most 1,000 points each, a gap as None. `length` before thinning."""

    kind: Literal["series"] = "series"
    channels: list[list[float | None]]
    length: int
    fields: list[Cell] = []


Card = Annotated[TableCard | ImageCard | TextCard | SeriesCard, Field(discriminator="kind")]


class Thumbnail(Model):
    """An item in brief, for lists and hover cards.

    `i` is the row number, `id` the person's own name for it, `text` one short line, `image` the address of a
    picture, `line` a series of at most 64 points scaled to [0, 1].
    """

    i: int
    id: str
    text: str
    image: str | None = None
    line: list[float | None] | None = None


class Item(Thumbnail):
    """An item in full; `at` is its place on the map where it is asked about and not among the rows shown there."""

    card: Card
    cluster: int | None = None
    colour: int | None = None
    at: tuple[float, float] | None = None


class Column(Model):
    """One column of both rows of a question.

    `difference` goes from 0 to 1: the share of the column's range where `measured`, else 0 or 1.
    """

    name: str
    left: str | None
    right: str | None
    difference: float
    measured: bool


# -- the question --------------------------------------------------------------------------------------------------


class PairModel(Model):
    """Two rows, by number."""

    i: int
    j: int


class ProgressModel(Model):
    """How far it has come.

    `unsatisfied` holds indices into the history. `stable_share` is the share of items that did not move in the last
    `window` answers, None before there were so many. `may_stop` comes with its `reason`.
    """

    n_answers: int
    n_items: int
    n_clusters: int
    stable_share: float | None
    window: int
    unsatisfied: list[int]
    n_set_aside: int
    may_stop: bool
    reason: str


class Computing(Model):
    """What the server is doing, for how many seconds, and which share is done where that is known."""

    what: str
    seconds: float
    share: float | None = None


class Versions(Model):
    """Numbers that change when something is worth fetching again; compare for inequality only.

    `session`: anything (question, history, progress); `labels`: the cluster of some row; `clusters`: labels, names
    or marks; `map`: the coordinates.
    """

    session: int
    labels: int
    clusters: int
    map: int


class Question(Model):
    """The state of the session: what GET question and every change give.

    `state` is "asking" (pair, left, right are set), "computing" (wait for the event `question`), "done" (nothing is
    left worth asking) or "failed" (`message` says why, and no answer is taken). `run` is another one after each
    start of the server: everything the page holds is then to be fetched again. `message` says what was just done.
    `guess` is always None unless the server was started with --show-guess.
    """

    state: Literal["asking", "computing", "done", "failed"]
    run: str
    versions: Versions
    words: str
    pair: PairModel | None = None
    left: Item | None = None
    right: Item | None = None
    columns: list[Column] | None = None
    guess: Literal["same", "different"] | None = None
    progress: ProgressModel
    computing: Computing | None = None
    can_undo: bool = False
    can_redo: bool = False
    saved: bool = True
    saved_at: float | None = None
    message: str = ""


class Record(Model):
    """An answer or a volunteered constraint.

    `in_force` is false where it contradicts a revised answer; `satisfied` whether the clustering agrees with it
    now; `set_aside` whether it is unsure and nothing settled the pair since. `number` counts answers from 1; None
    for a constraint.
    """

    index: int
    kind: Literal["answer", "constraint"]
    number: int | None
    left: Thumbnail
    right: Thumbnail
    answer: Word
    at: float
    in_force: bool
    satisfied: bool
    set_aside: bool


class Revised(Question):
    """The question after an old answer was changed, and what that did to later answers."""

    no_longer_apply: list[Record] = []
    no_longer_asked: list[Record] = []


class Link(Model):
    """One answer of a chain that implies the opposite of what was said."""

    i: int
    j: int
    answer: Literal["same", "different"]
    index: int | None = None


class Refusal(Model):
    """Why nothing was changed; the state as it is now comes along."""

    error: Literal["stale", "nothing", "contradiction", "refused", "failed"]
    message: str
    question: Question
    chain: list[Link] = []


class Problem(Model):
    """Why a request was refused, in one sentence."""

    message: str


# -- reading -------------------------------------------------------------------------------------------------------


class Labels(Model):
    """The cluster of every row that the map shows.

    `data` is base64 of little-endian `dtype`, in the order of the map. `colours` holds one index per cluster that
    stays with the cluster when numbers change: use it modulo the size of the palette. `at` counts answers.
    """

    version: int
    at: int
    n_items: int
    n_clusters: int
    dtype: Literal["uint8", "uint16", "uint32"]
    data: str
    colours: list[int]


class Cluster(Model):
    """One cluster; `suggestion` is what its content would be called where it has no name."""

    number: int
    colour: int
    size: int
    share: float
    name: str
    suggestion: str
    pure: bool
    complete: bool
    n_super_instances: int
    representatives: list[Thumbnail]
    unusual: list[Thumbnail]


class Clusters(Model):
    """All clusters, by number. Representatives are typical items, `unusual` ones lie farthest from them."""

    version: int
    can_mark: bool
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


class ProgressSeries(Model):
    """Progress with its course."""

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
    """A line of the table of items; `cells` belong to `Items.columns`."""

    cluster: int
    colour: int
    cluster_name: str
    cells: list[str | None]


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
    words: str
    keys: dict[str, list[str]]
    exports: list[str]


# -- what callers send ---------------------------------------------------------------------------------------------


def _answer_word(value: Any) -> Any:
    """Return the name of an answer: given in any case, as a truth value or as 1, 0 or -1."""
    if value is None:
        return value
    try:
        return Answer.of(value).name.lower()
    except ValueError:
        return value


AnswerWord = Annotated[Word, BeforeValidator(_answer_word)]
KnownWord = Annotated[Literal["same", "different"], BeforeValidator(_answer_word)]
RowNumber = Annotated[int, Field(ge=0, le=LARGEST)]
Version = Annotated[int, Field(ge=0, le=2**53)] | None


class Tell(Model):
    """An answer, with the pair it is about; only the open question can be answered."""

    i: RowNumber
    j: RowNumber
    answer: AnswerWord


class Change(Model):
    """Undo or redo. With `revision`, only if nothing has happened since the caller saw that `versions.session`."""

    revision: Version = None


class Revise(Change):
    """Another answer to an old question, by its index in the history."""

    index: RowNumber
    answer: AnswerWord


class Constraint(Change):
    """What is known about two rows, asked or not; also the answer to a pair that was set aside."""

    i: RowNumber
    j: RowNumber
    answer: KnownWord


class Mark(Model):
    """A promise about a cluster; both false takes it back.

    With `version`, only if the clusters are still those of that `versions.labels`.
    """

    cluster: RowNumber
    pure: bool = False
    complete: bool = False
    version: Version = None


class Name(Model):
    """A name for a cluster; an empty text removes it. `version` as in `Mark`."""

    cluster: RowNumber
    text: Annotated[str, Field(max_length=200)]
    version: Version = None


# -- replies -------------------------------------------------------------------------------------------------------

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is not JSON."},
    401: {"model": Problem, "description": "The token is missing or wrong."},
    403: {"model": Problem, "description": "Another host or origin."},
    404: {"model": Problem, "description": "There is no such thing."},
    413: {"model": Problem, "description": "The body is too long."},
    422: {"model": Problem, "description": "The request is malformed."},
}
REFUSALS = PROBLEMS | {409: {"model": Refusal, "description": "Nothing was changed."}}


def reply(model: Model, status: int = 200) -> Response:
    """Return a model as JSON, without checking it a second time as FastAPI does with what an end point returns."""
    try:
        content = model.model_dump_json().encode()
    except PydanticSerializationError:  # the name of a file that is not UTF-8
        content = json.dumps(model.model_dump(), ensure_ascii=False).encode(errors="replace")
    return Response(content, status, media_type="application/json")
