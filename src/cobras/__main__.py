"""`python -m cobras` is the command `cobras`."""

import os
import sys

# `python -m` puts the working directory first, but a file numpy.py beside the data is not to be run.
if sys.path[0] in ("", os.getcwd()) and not sys.flags.safe_path:  # noqa: PTH109
    del sys.path[0]

from cobras.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
