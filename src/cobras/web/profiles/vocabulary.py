"""The words that tell the texts of a cluster apart, by class-based TF-IDF (Grootendorst, 2022).

A class is a cluster, or everything else. The weight of a word is the share of the texts of the cluster that have
it, times log(1 + A / f), where f is the sum of its shares in both classes and A the mean number of different words
of a text. Shares in place of counts: one long text must not give its name to a cluster. Words that the rest has
nearly as often tell nothing apart and are left out, and so are English stop words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from math import log

from cobras.web.api.explanations import Share

WORD = re.compile(r"[^\W\d_]{3,}")
N_READ = 500  # texts of a cluster, and of the rest, that are read
LONGEST = 4_000  # characters of a text that are read
N_KEPT = 20_000  # texts whose words are kept
TIMES = 1.5  # as often as in the rest a word must be in a cluster
RARE = 0.05  # share of the texts of a cluster that must have a word
STEM = 4  # letters: of two words of which one begins with the other, the shorter being so long, one is shown


class Vocabulary:
    """The words of texts; `text` gives that of a row."""

    def __init__(self, text: Callable[[int], str]) -> None:
        self._text = text
        self._words = lru_cache(maxsize=N_KEPT)(self._words_of)

    @cached_property
    def _stop_words(self) -> frozenset[str]:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)

    def telling_words(self, inside: Sequence[int], outside: Sequence[int], n: int) -> list[Share]:
        """The n words that tell the texts of some rows apart from those of others, the most telling first."""
        here, there = self._shares(inside), self._shares(outside)
        mean = (sum(here.values()) + sum(there.values())) / 2
        least = max(RARE, 1.5 / max(1, min(len(inside), N_READ))) if len(inside) > 1 else 0.0
        weight = {
            word: p * log(1 + mean / (p + there.get(word, 0.0)))
            for word, p in here.items()
            if p >= least and p >= TIMES * there.get(word, 0.0)
        }
        found: list[str] = []
        for word in sorted(weight, key=lambda word: (-weight[word], word)):
            if not any(_are_alike(word, other) for other in found):
                found.append(word)
            if len(found) == n:
                break
        return [Share(value=word, inside=here[word], outside=there.get(word, 0.0)) for word in found]

    def _shares(self, rows: Sequence[int]) -> dict[str, float]:
        """In which share of the texts each word occurs."""
        read = rows[:: 1 + len(rows) // N_READ]
        counts = Counter(chain.from_iterable(map(self._words, read)))
        return {word: count / len(read) for word, count in counts.items()}

    def _words_of(self, row: int) -> frozenset[str]:
        return frozenset(WORD.findall(self._text(row)[:LONGEST].lower())) - self._stop_words


def _are_alike(a: str, b: str) -> bool:
    shorter, longer = sorted((a, b), key=len)
    return len(shorter) >= STEM and longer.startswith(shorter)
