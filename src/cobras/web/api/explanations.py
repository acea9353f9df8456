"""What the end points give that explains: what a cluster is like, why a pair is asked, what is least sure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cobras.web.api.models import Model, Thumbnail


class Distribution(Model):
    """A column of numbers or dates: which share of the cluster, and of the rest, lies in each of equal steps.

    The steps go from `low` to `high`, outside of which few values lie; these are counted in the first and the last
    one. `at` is the place of the median in [0, 1], `middle` the median itself. Missing values are in none of them.
    """

    kind: Literal["number", "date"]
    name: str
    low: str
    high: str
    inside: list[float]
    outside: list[float]
    at: float
    at_outside: float
    middle: str
    middle_outside: str
    missing: float
    missing_outside: float


class Share(Model):
    """Which share of the cluster, and of the rest, has a value."""

    value: str
    inside: float
    outside: float


class Shares(Model):
    """A column of categories: the values whose shares differ most."""

    kind: Literal["category"] = "category"
    name: str
    values: list[Share]
    missing: float
    missing_outside: float


Column = Annotated[Distribution | Shares, Field(discriminator="kind")]


class Curve(Model):
    """One channel of the series of a cluster: its mean and the band that holds 80 %, and the mean of the rest."""

    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]
    rest: list[float | None]


class Member(Thumbnail):
    """A member of a cluster; `cells` belong to `Profile.headers`."""

    cells: list[str | None]


class Profile(Model):
    """What a cluster is like, compared with all other items; what does not fit the kind of items is empty.

    `n_inside` and `n_outside` say how many items were looked at: all, or of very many a sample. `columns` are those
    that tell the cluster apart most, `words` those that its texts have more often, `pictures` some of it from the
    most typical to the most unusual one.
    """

    version: int
    id: int
    number: int
    size: int
    n_inside: int
    n_outside: int
    suggestion: str
    columns: list[Column] = Field(default_factory=list)
    words: list[Share] = Field(default_factory=list)
    curves: list[Curve] = Field(default_factory=list)
    pictures: list[Thumbnail] = Field(default_factory=list)
    headers: list[str] = Field(default_factory=list)
    typical: list[Member] = Field(default_factory=list)
    unusual: list[Member] = Field(default_factory=list)


class Why(Model):
    """What the answer to the open question decides, in one sentence; empty where the method does not say.

    It names clusters, so it tells more than the page shows by itself. `version` is the `versions.session` that it
    belongs to.
    """

    version: int
    words: str
