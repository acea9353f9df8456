"""A folder of images: the digits of scikit-learn, written out as PNG files.

With the extra [images] they are compared by what a network sees in them; here by their pixels, which is enough for
digits. A person would run `cobras serve digits/`.
"""

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from cobras import LabelOracle, Session, read_dataset, run

digits = load_digits(n_class=4)
with tempfile.TemporaryDirectory() as folder:
    for k in range(200):
        place = Path(folder, "digits", str(digits.target[k]))
        place.mkdir(parents=True, exist_ok=True)
        pixels = (255 - digits.images[k] * 255 / 16).astype(np.uint8)
        Image.fromarray(pixels).resize((64, 64)).save(place / f"image{k}.png")
    dataset = read_dataset(Path(folder, "digits"), label="folder", features="pixels")
    picture, media_type = dataset.show(0).thumbnail(32)

print(*dataset.notes, sep="\n")
print(dataset.ids[0], media_type, len(picture), "bytes")
session = Session(dataset.X, random_state=0)
run(session, LabelOracle(dataset.labels), until=lambda s: s.n_answers >= 40)
score = adjusted_rand_score(dataset.labels, session.labels_)
print(f"{session.n_answers} answers, {session.labels_.max() + 1} clusters, ARI {score:.2f}")
assert score > 0.7
