"""What the end points give; what they take stands in `bodies`. The contract of server, page and other programs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
    cluster_id: int | None = None
    colour: int | None = None
    at: tuple[float, float] | None = None


class Column(Model):
    """One column of both rows of a question.

    `difference` goes from 0 to 1: the share of the column's range where `measured`, else 0 or 1. Where a value is
    `missing`, it is 0: nothing is known about it. `used` says whether items are compared by the column.
    """

    name: str
    left: str | None
    right: str | None
    difference: float
    measured: bool
    missing: bool = False
    used: bool = True


# -- the question --------------------------------------------------------------------------------------------------


class PairModel(Model):
    """Two rows, by number."""

    i: int
    j: int


class ProgressModel(Model):
    """How far it has come.

    `unsatisfied` holds indices into the history. `stable_share` is the share of items that did not move in the last
    `window` answers, None before there were so many. `may_stop` comes with its `reason`. `expected_ari` is how well
    the method expects the clusters to agree with what the person has in mind, `ari_range` between which that
    probably is, and `n_left` about how many answers it takes until one may stop; None where that is not known.
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
    expected_ari: float | None = None
    ari_range: tuple[float, float] | None = None
    n_left: int | None = None


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


class Pile(Model):
    """A cluster that is known, as a place for cards: `row` stands for it, `members` are up to four of it.

    `cluster` is its id, which people see.
    """

    row: int
    cluster: int
    colour: int
    name: str
    members: list[Thumbnail]


class BoardModel(Model):
    """Cards to be placed and the piles that may be theirs; no cards where nothing is left that a board could ask.

    `version` is the `versions.session` that it belongs to. `columns` names the columns of the cards, those that
    differ most among them first, and `unused` those that items are not compared by.
    """

    run: str
    version: int
    words: str
    cards: list[Item]
    piles: list[Pile]
    columns: list[str]
    unused: list[str]


class Record(Model):
    """An answer, a board, a volunteered constraint, a move or a merge.

    A board, many constraints at once ("known"), a move or a merge has no `answer`, or "unsure" after it was revised
    to that; `left` and `right` are then the first pair that it is about, if there is one, and `n_pairs` counts all.
    `in_force` is false where some of it contradicts a revised answer, `n_void` counts these pairs; `satisfied` says
    whether the clustering agrees now with all of it that is in force; `set_aside` whether some of it is unsure and
    nothing settled that since, `n_set_aside` counts these pairs. `number` counts answers and boards from 1; None
    for others.
    """

    index: int
    kind: Literal["answer", "board", "constraint", "known", "move", "merge"]
    number: int | None
    left: Thumbnail | None
    right: Thumbnail | None
    n_pairs: int
    answer: Word | None
    at: float
    in_force: bool
    satisfied: bool
    set_aside: bool
    n_set_aside: int = 0
    n_void: int = 0


class Revised(Question):
    """The question after an old answer was changed, and what that did to later answers."""

    no_longer_apply: list[Record] = []
    no_longer_asked: list[Record] = []


class TakenBack(Model):
    """An answer, a board or something else that stands in the way of what is to be done.

    By its index in the history, the number that it has there, if it has one, and its kind.
    """

    index: int
    number: int | None = None
    kind: str


class Acted(Question):
    """The question after a move or a merge, and how many items changed their cluster.

    With `dry` nothing was changed: `n_changed` is what would, and `taken_back` are the answers that would have no
    effect any more.
    """

    n_changed: int
    taken_back: list[TakenBack] = []


class Link(Model):
    """One answer of a chain that implies the opposite of what was said."""

    i: int
    j: int
    answer: Literal["same", "different"]
    index: int | None = None  # in the history, and the number that it has there, if it has one
    number: int | None = None


class Refusal(Model):
    """Why nothing was changed; the state as it is now comes along."""

    error: Literal["stale", "nothing", "contradiction", "refused", "failed"]
    message: str
    question: Question
    chain: list[Link] = []


class Problem(Model):
    """Why a request was refused, in one sentence."""

    message: str


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
