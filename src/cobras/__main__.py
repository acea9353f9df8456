"""`python -m cobras` is the command `cobras`."""

from cobras.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
