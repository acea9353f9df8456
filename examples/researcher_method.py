"""
Researcher: a method of your own
================================

You have an idea which pair to ask next and want to know whether it is better than
COBRAS. A method is a generator function: it yields a question together with the
clustering so far, and receives the answer. Sessions, undo, the page and the benchmark
then work with it.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from cobras import Answer, LabelOracle, Pair, Partition, Session, Step, run

# %%
# The method
# ----------
#
# The idea: split the data into many super-instances at once. Take one after the other,
# the largest first, and compare it with the clusters that are there, the nearest first,
# until one is the same; if none is, it is a new cluster.
#
# The *space* knows the data: it splits a super-instance, names its representative and
# measures distances. Each super-instance that waits is a cluster of its own, so there
# is a clustering at any moment. Without a pair, a step says that nothing is left to
# ask. What comes after the star is an option. Any answer but *same*, so also *unsure*,
# counts as different here.


def nearest_first(space, constraints, seed, *, size=40):
    """Compare each part with the clusters that are there, the nearest first."""
    waiting = sorted(space.split(space.root(seed), size), key=lambda p: -len(p.members))
    clusters = [(waiting.pop(0),)]
    while waiting:
        part = waiting.pop(0)
        near = space.distances([part], [cluster[0] for cluster in clusters])[0]
        for number in sorted(range(len(clusters)), key=lambda number: near[number]):
            pair = Pair(part.representative, clusters[number][0].representative)
            now = Partition.of([*clusters, (part,), *((other,) for other in waiting)])
            if (yield Step(pair, now)) is Answer.SAME:
                clusters[number] = (*clusters[number], part)
                break
        else:
            clusters.append((part,))
    while True:
        yield Step(None, Partition.of(clusters))


# %%
# Try it
# ------
#
# Five of the ten handwritten digits of scikit-learn. A session takes the function in
# place of a name.

X, y = load_digits(n_class=5, return_X_y=True)
session = Session(X, nearest_first, random_state=0)
run(session, LabelOracle(y), until=lambda s: s.n_answers >= 60)
session

# %%
# Undo is replay, so it works although the method knows nothing of it. The question that
# was taken back is asked again:

print(session.undo().text, session.ask(), sep=", ")
session.redo()
assert adjusted_rand_score(y, session.labels_) > 0.9

# %%
# The map before, during and after:

colours = np.array([*plt.get_cmap("tab10").colors, *plt.get_cmap("Dark2").colors])
place = PCA(2).fit_transform(X)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for axis, n_answers in zip(axes, [0, 30, session.n_answers], strict=True):
    colour = colours[np.array(session.cluster_ids_at(n_answers)) % len(colours)]
    axis.scatter(*place.T, color=colour[session.labels_at(n_answers)], s=5)
    axis.set_title(f"{n_answers} answers: {len(colour)} clusters")
    axis.set(xticks=[], yticks=[])

# %%
# Compare
# -------
#
# How good is the clustering after each answer? One is perfect.

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
for method in [nearest_first, "cobras", "adder"]:
    session = Session(X, method, random_state=0)
    run(session, LabelOracle(y), until=lambda s: s.n_answers >= 60)
    after = range(session.n_answers + 1)
    scores = [adjusted_rand_score(y, session.labels_at(n)) for n in after]
    name = method if isinstance(method, str) else "nearest_first"
    axis.plot(scores, label=name)
    print(f"{name}: {scores[20]:.2f} after 20 answers, {scores[-1]:.2f} at the end")
axis.set(xlabel="answers", ylabel="adjusted Rand index", ylim=(0, 1))
axis.legend()

# %%
# One data set and one seed prove nothing: :doc:`/results/experiments` says how to run a
# method of your own on 21 tasks with folds, repetitions and a report.
# :doc:`/guides/library` says what sessions rely on, and what a method may offer
# besides: boards, reasons, how sure it is.
