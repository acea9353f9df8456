"""Work on all cores gives its results in the order of the tasks."""

import os
import signal
import threading
import time

import numpy as np  # brings its BLAS
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from cobras.core.threads import on_all_cores, on_one_core, one_thread


def test_results_come_in_the_order_of_the_tasks():
    released = threading.Event()

    def work(task):
        if task == 0 and threading.active_count() > 2:  # with more than one worker, the first one ends last
            released.wait(5)
        if task == 9:
            released.set()
        return task * task

    assert on_all_cores(work, range(10)) == on_one_core(lambda task: task * task, range(10))


def test_an_error_is_raised_where_the_results_are_asked_for():
    with pytest.raises(ZeroDivisionError):
        on_all_cores(lambda task: 1 / task, [1, 0, 2])


def test_on_one_core_stays_on_this_thread():
    assert set(on_one_core(lambda _: threading.get_ident(), range(3))) == {threading.get_ident()}


def test_a_forked_process_gets_threads_of_its_own():
    """It would wait for ever for those of its parent."""
    on_all_cores(abs, [-1])
    child = os.fork()
    if child == 0:
        os._exit(on_all_cores(abs, [-3])[0])
    ended, deadline = 0, time.monotonic() + 30
    while not ended and time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended
    assert os.waitstatus_to_exitcode(status) == 3


def n_blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_one_thread_in_several_threads_that_overlap():
    """What was is restored, whoever leaves last; nesting changes nothing."""
    inside, leave = threading.Event(), threading.Event()

    def work():
        with one_thread(), one_thread():
            inside.set()
            leave.wait(60)

    assert np.linalg.inv(np.eye(2)).trace() == 2
    with threadpool_limits(2, user_api="blas"):
        other = threading.Thread(target=work)
        with one_thread():
            other.start()
            inside.wait(60)
            assert n_blas_threads() == {1}
        leave.set()
        other.join()
        assert n_blas_threads() == {2}
        with one_thread(), one_thread():
            assert n_blas_threads() == {1}
        assert n_blas_threads() == {2}
