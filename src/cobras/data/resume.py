"""The same data again, read in the way that its recipe says."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cobras.core.exceptions import DataChangedError, InvalidDataError
from cobras.data.dataset import Dataset
from cobras.data.guess import Choices
from cobras.data.items.images import Progress
from cobras.data.read import open_source, read_choices
from cobras.data.recipe import Recipe
from cobras.data.tables.columns import name_list
from cobras.data.tables.files import DataNotFoundError


def recipe_choices(recipe: Recipe) -> Choices:
    """Return what a user said about the data when it was read first."""
    return Choices(**{f.name: getattr(recipe, f.name) for f in fields(Choices)})


def read_recipe(data: Any, recipe: Recipe, progress: Progress | None = None) -> Dataset:
    """Read data, from a path or a data frame, again in the way that `Dataset.recipe` says.

    Raises
    ------
    DataChangedError
        When it is no longer what it was.
    """
    if recipe.kind not in ("table", "text", "image", "series"):
        raise InvalidDataError(f"A recipe of kind {recipe.kind!r} does not read files.")
    path, given = open_source(data)
    try:
        dataset = read_choices(path, recipe_choices(recipe), recipe, progress, None, given)
    except DataNotFoundError:
        raise
    except InvalidDataError as error:
        raise DataChangedError(f"{path} is not what it was when the session began: {error}") from error
    if recipe.files is not None and recipe.files != dataset.recipe.files:
        # A file whose content was changed has other features, which the session itself notices.
        before, now = set(recipe.files), set(dataset.recipe.files or ())
        changes = ((sorted(now - before), "came"), (sorted(before - now), "went"))
        advice = ["Put back what went"] if before - now else []
        if now - before:
            advice.insert(0, "Move what came to another folder, for cobras predict")
        raise DataChangedError(
            f"{path} is not what it was when the session began: "
            f"{' and '.join(f'{name_list(names)} {word}' for names, word in changes if names)}. "
            f"{'. '.join(advice)}, or begin another session with --session."
        )
    return dataset
