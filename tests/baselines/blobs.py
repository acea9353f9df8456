"""What the tests of COBS and of its pool share."""

from sklearn.datasets import make_blobs

SMALL = {"k_max": 3, "n_eps": 3, "max_min_points": 3, "max_neighbors": 3, "n_sigma": 2, "n_restarts": 2}


def blobs(n, seed=0, **options):
    return make_blobs(n, 2, random_state=seed, **options)


def members(labels):
    """The clusterings, each as a tuple."""
    return {tuple(row) for row in labels.tolist()}
