"""Data for a cluster, made on its workers or cut into chunks, and accidents that happen to them."""

from __future__ import annotations

import os
import signal

import dask.array as da
import numpy as np


def blobs(n, d, k, chunks, seed=0, dtype=np.float32):
    """Overlapping blobs and the number of each row's blob, both as dask arrays."""
    rng = da.random.default_rng(seed)
    centers = np.random.default_rng(seed).normal(size=(k, d), scale=1.5).astype(dtype)
    y = rng.integers(k, size=n, chunks=chunks)
    noise = rng.normal(size=(n, d), chunks=(chunks, d)).astype(dtype)
    middle = y.map_blocks(lambda part: centers[part], dtype=dtype, new_axis=1, chunks=(y.chunks[0], (d,)))
    return noise + middle, y


def cut_up(X, seed):
    """The same rows in chunks of any size, the columns too."""
    rng = np.random.default_rng(seed)
    borders = [
        np.unique([0, *rng.integers(0, size, rng.integers(0, 4)), size]) if size else [0] for size in X.shape
    ]
    return da.from_array(X, chunks=tuple(tuple(np.diff(b).tolist()) for b in borders))


def kill_a_worker(client):
    """End one worker process at once, as if its machine had lost its power; its nanny starts another."""
    pid = min(client.run(os.getpid).values())
    os.kill(pid, signal.SIGKILL)


class KillAt:
    """Inside, one worker dies when the client has just handed out work for this time."""

    def __init__(self, client, at):
        self.client, self.at, self.calls = client, at, 0

    def __enter__(self):
        self.compute, self.client.compute = self.client.compute, self.handed_out

    def __exit__(self, *_):
        self.client.compute = self.compute
        assert self.calls >= self.at, "nobody died"

    def handed_out(self, tasks):
        futures = self.compute(tasks)
        self.calls += 1
        if self.calls == self.at:
            kill_a_worker(self.client)
        return futures
