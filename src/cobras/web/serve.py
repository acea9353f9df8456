"""`cobras.serve`: the page from Python, with the session as its result; and how a browser is opened.

Nothing heavy is imported here before a page is served: the command reads this file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cobras.data import Dataset
    from cobras.session.session import Session
    from cobras.web.server import WebServer

MEMORY = Path("memory")  # what the page shows in place of the name of a session file


def serve(
    data: Any,
    file: str | os.PathLike[str] | None = None,
    *,
    method: str | None = None,
    random_state: Any = None,
    browser: bool = True,
    host: str = "127.0.0.1",
    port: int | None = None,
    show_guess: bool = False,
    **options: Any,
) -> Session:
    """Open the page on some data, wait until it is closed, and return the session.

    Ctrl-C, the stop button of a notebook, or "Close" on the page ends it. The address is printed, and opened where
    there is a display. The session that comes back has all answers and can be used as any other: `labels_`,
    `to_frame()`, `ask()`.

    Parameters
    ----------
    data : path, data frame or Dataset
        What `read_dataset` takes, or what it returned: give that for a label, an id, or columns to leave out.
    file : path, optional
        A session file, which is created or resumed. Without one, answers are kept in memory only.
    method : str, optional
        As in `Session`; by default the one that makes most of the answers.
    random_state : int, optional
        The seed.
    browser : bool
        Whether to open the page; its address is printed in any case.
    host, port
        Where to listen; by default on this machine alone, on a free port.
    show_guess : bool
        Whether the page shows the present clusters of two items before they are answered.
    **options
        Options of the method and of the splits, as in `Session`.

    Returns
    -------
    Session

    Examples
    --------
    >>> import cobras
    >>> session = cobras.serve("flowers.csv", "flowers.cobras")  # doctest: +SKIP
    >>> session.to_frame()  # doctest: +SKIP
    """
    from cobras.core.checks import as_path
    from cobras.data import Dataset
    from cobras.web.server import WebServer

    path = None if file is None else Path(as_path(file, "A session file"))
    dataset = data if isinstance(data, Dataset) else _read(data, path)
    options |= {"method": method, "random_state": random_state}
    name = path.stem if path is not None else _name_of(data)
    server = WebServer(
        dataset,
        lambda: _open(dataset, path, options),
        path or MEMORY,
        name,
        host=host,
        port=port,
        blind=not show_guess,
        can_close=True,
    )
    switch = sys.getswitchinterval()
    try:
        _run(server, dataset, path, browser)
    finally:
        sys.setswitchinterval(switch)
    # The connection of a session file belongs to the thread of the server, which has closed it.
    return server.live.session if path is None else _open(dataset, path, {})


def _read(data: Any, file: Path | None) -> Dataset:
    from cobras.data import read_dataset, read_recipe
    from cobras.data.recipe import Recipe
    from cobras.session.file import stored_recipe

    recipe = None if file is None else stored_recipe(file)
    return read_dataset(data) if recipe is None else read_recipe(data, Recipe.from_json(recipe))


def _name_of(data: Any) -> str:
    return Path(data).name if isinstance(data, (str, os.PathLike)) else "Data frame"


def _open(dataset: Dataset, file: Path | None, options: dict[str, Any]) -> Session:
    from cobras.session.session import Session

    return Session(dataset, **options) if file is None else Session.open(file, dataset, **options)


def _run(server: WebServer, dataset: Dataset, file: Path | None, browser: bool) -> None:
    """Serve in a thread: a notebook has an event loop of its own in the main one."""
    where = "in memory; give a file to keep them" if file is None else f"in {file}"
    ended: Future[None] = Future()
    # Some browsers may not read the usual place of temporary files.
    near = Path.home() if file is None else file.absolute().parent
    place = near if browser and os.access(near, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="cobras-", dir=place) as folder:

        def ready() -> None:
            notes = [server.address, f"Answers are saved {where}. Ctrl-C ends.", *dataset.notes]
            print("\n".join(notes), flush=True)
            if browser:
                open_browser(server.address, Path(folder, "page.html"))

        def run() -> None:
            try:
                server.run(ready)
                ended.set_result(None)
            except BaseException as error:
                ended.set_exception(error)

        thread = threading.Thread(target=run, name="cobras-page", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.2)  # with a limit: Ctrl-C would not end an endless wait on every system
        except KeyboardInterrupt:
            server.stop()
            thread.join()
    ended.result()


def open_browser(address: str, redirect: Path) -> None:
    """Open the page, unless there is no display: a browser inside the terminal would cover our output.

    All users of a machine see the arguments of its processes, so the browser gets a private file that leads to the
    address, instead of the token.
    """
    import webbrowser

    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return
    with os.fdopen(os.open(redirect, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><title>cobras</title>'
        )
    # Some browsers keep the call waiting until they are closed.
    threading.Thread(target=webbrowser.open, args=(redirect.as_uri(),), daemon=True).start()
