"""
Support lead: texts
===================

You have some hundred messages of customers and want to know what they are about, in
groups that your team can work with. ``cobras serve tickets.csv`` opens a page on them.
This page does the same in Python, with messages put together from a few sentences: two
on what it is about, and one on something else.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score

from cobras import LabelOracle, Session, read_dataset, run

SENTENCES = {
    "delivery": """My parcel has not arrived.
The courier left the parcel at a wrong address.
Tracking shows no change for a week.
When will the parcel be delivered?
The delivery came late and the box was open.""",
    "refund": """Please send my money back.
I returned the shoes and wait for the refund.
The refund is less than I paid.
You charged my card twice.
I cancelled the order but the card was charged.""",
    "login": """I cannot log in to my account.
The password reset mail does not come.
My account is locked.
The app says that my password is wrong.
How do I change the password of my account?""",
    "product": """The shoes are too small, which size do I need?
Is the jacket made of wool?
The zip of the jacket broke.
The colour of the shoes is not as on the picture.
Does the jacket come in other sizes?""",
}
rng = np.random.default_rng(0)


def message(topic: str) -> str:
    """Return two sentences on a topic, and one on any topic."""
    own = rng.choice(SENTENCES[topic].splitlines(), 2, replace=False)
    other = rng.choice(SENTENCES[rng.choice(list(SENTENCES))].splitlines())
    return " ".join(rng.permutation([*own, other]))


topics = rng.choice(list(SENTENCES), 200)
tickets = pl.DataFrame(
    {
        "ticket": range(5001, 5201),
        "priority": rng.integers(1, 4, 200),
        "message": [message(t) for t in topics],
    }
)
print(tickets)

# %%
# Read the messages
# -----------------
#
# A column of sentences is found by itself, and then the rows are compared by their
# words alone. The number of the ticket names the rows.

dataset = read_dataset(tickets)
place = PCA(2).fit_transform(dataset.X)  # for a map
print(*dataset.notes, sep="\n")

# %%
# The first question
# ------------------

session = Session(dataset, random_state=0)
for row in session.ask():
    print(dataset.ids[row], dataset.show(row).text, sep=": ")

# %%
# Boards: sort six at once
# ------------------------
#
# With short texts it is faster to sort some of them into piles than to compare two. A
# board is one answer. On the page, ``B`` switches between pairs and boards; here ten
# boards of six messages are sorted by their main topic.

run(session, LabelOracle(topics), until=lambda s: s.n_answers >= 10, boards=6)
score = adjusted_rand_score(topics, session.labels_)
print(f"{session.n_answers} answers, adjusted Rand index {score:.2f}")

# %%
# The map before the first board, after one, and after ten: messages with the same words
# lie close together.

_, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for axis, n in zip(axes, [0, 1, 10], strict=True):
    ids = np.take(session.cluster_ids_at(n), session.labels_at(n))
    axis.scatter(*place.T, c=ids % 20, cmap="tab20", vmin=0, vmax=19, s=14)
    axis.set(title=f"{n} boards: {len(set(ids))} clusters", xticks=[], yticks=[])

# %%
# What are they about?
# --------------------
#
# Look for words that are frequent in a cluster and rare elsewhere, and name the
# cluster. The page suggests such words.

counter = CountVectorizer(stop_words="english", binary=True)
present = counter.fit_transform(tickets["message"]).toarray()
for cluster in range(session.labels_.max() + 1):
    inside = session.labels_ == cluster
    more = present[inside].mean(axis=0) - present[~inside].mean(axis=0)
    session.name(
        cluster, " ".join(counter.get_feature_names_out()[more.argsort()[:-4:-1]])
    )
session

# %%
# The messages of tomorrow
# ------------------------
#
# They are read as the old ones were. What is like nothing seen before gets a low
# probability.

new = [
    "The parcel is not here, where is the courier?",
    "My password is wrong and the account locked.",
]
new += ["Do you have a shop in Lisbon?"]
frame = pl.DataFrame(
    {"ticket": [6001, 6002, 6003], "priority": [1, 1, 2], "message": new}
)
for text, shares in zip(new, session.predict_proba(frame), strict=True):
    print(f"{shares.max():.2f}  {session.names[shares.argmax()]:<24} {text}")
assert score > 0.9

# %%
# ``session.to_frame()`` is the table with its clusters, and
# ``Session.open("tickets.cobras", dataset)`` in place of ``Session(dataset)`` keeps the
# answers in a file. More: :doc:`/guides/sessions` on boards, names and undo,
# :doc:`/guides/data` on how texts are compared.
