"""A folder of texts, one file each. A person would run `cobras ask letters/`."""

import tempfile
from pathlib import Path

import numpy as np

from cobras import LabelOracle, Session, read_dataset, run

WORDS = {
    "garden": "rose tulip soil spade rain seed bloom hedge compost lawn",
    "kitchen": "flour oven butter pan salt whisk dough recipe simmer plate",
    "harbour": "anchor tide rope sail pier gull mast cargo captain wave",
}
rng = np.random.default_rng(0)
topics = rng.choice(list(WORDS), 90)
with tempfile.TemporaryDirectory() as folder:
    for k, topic in enumerate(topics):
        Path(folder, f"letter{k:02}.txt").write_text(" ".join(rng.choice(WORDS[topic].split(), 25)))
    dataset = read_dataset(folder)
    print(*dataset.notes[1:], sep="\n")
    print(dataset.ids[0], dataset.show(0).text[:60])

session = Session(dataset.X, random_state=0)
run(session, LabelOracle(topics), until=lambda s: s.n_answers >= 20)
right = all(len(set(topics[session.labels_ == c])) == 1 for c in range(session.labels_.max() + 1))
print(f"{session.n_answers} answers, {session.labels_.max() + 1} clusters")
assert right
