"""Read one key at a time: from a terminal without Enter, from a pipe character by character.

The mode of the terminal is put back whatever happens, and set again after Ctrl-Z and `fg`.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from typing import Any, BinaryIO, Self

END = "end"  # nothing more will come
REDRAW = "redraw"  # the window has another size, or the program is back from the background
_SEQUENCES = {"[C": "right", "OC": "right", "[D": "left", "OD": "left"}
_NAMES = {"\x7f": "backspace", "\x08": "backspace", "\x04": END}


class Keys:
    """Where keys come from: by itself none come, and nothing has to be set up."""

    live = False  # whether a person sits at a terminal, so that a key needs no Enter and space is a key

    def read(self) -> str:
        """Return the next key: a character, "left", "right", "backspace", `END` or `REDRAW`."""
        return END

    def forget(self) -> None:
        """Drop what a person typed before there was anything to answer; a pipe keeps its keys."""

    def read_line(self) -> str:
        """Return the next line, or `END`; a terminal has none, since its keys are read one by one."""
        return END

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class PipeKeys(Keys):
    r"""Keys from a stream; white space between them does not count.

    Examples
    --------
    >>> import io
    >>> keys = PipeKeys(io.BytesIO(b"y\n n"))
    >>> keys.read(), keys.read(), keys.read()
    ('y', 'n', 'end')
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self) -> str:
        """Return the next character that is not white space."""
        while byte := self._stream.read(1):
            if not byte.isspace():
                return _NAMES.get(text := byte.decode("latin-1"), text)
        return END

    def read_line(self) -> str:
        """Return the next line without blanks at its ends."""
        line = self._stream.readline()
        return line.decode("latin-1").strip() if line else END


if sys.platform == "win32":
    import msvcrt

    class TerminalKeys(Keys):
        """Keys from a Windows console."""

        live = True

        def forget(self) -> None:
            """Drop what was typed so far."""
            while msvcrt.kbhit():
                msvcrt.getwch()

        def read(self) -> str:
            """Return the next key press."""
            key = msvcrt.getwch()
            if key in "\0\xe0":
                return {"M": "right", "K": "left"}.get(msvcrt.getwch(), "")
            if key == "\x03":
                raise KeyboardInterrupt
            return _NAMES.get(key, key)

else:
    import termios
    import tty

    class TerminalKeys(Keys):
        """Keys from a POSIX terminal in cbreak mode: no Enter, no echo, Ctrl-C and Ctrl-Z as usual."""

        live = True

        def __init__(self) -> None:
            self._fd = sys.stdin.fileno()
            self._before: list[Any] = []
            self._continued = False
            self._size = _window(self._fd)

        def __enter__(self) -> Self:
            self._before = termios.tcgetattr(self._fd)
            self._on_continue = signal.signal(signal.SIGCONT, self._resume)
            tty.setcbreak(self._fd, termios.TCSADRAIN)
            return self

        def __exit__(self, *_: object) -> None:
            signal.signal(signal.SIGCONT, self._on_continue)
            with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
                # FLUSH: what was typed ahead must not end up in the shell
                termios.tcsetattr(self._fd, termios.TCSAFLUSH, self._before)

        def read(self) -> str:
            """Return the next key press."""
            # A signal does not end select (PEP 475), so we look four times a second.
            while not self._waiting(0.25):
                size = _window(self._fd)
                # Changed since the last key, hence since the screen was drawn.
                if self._continued or size != self._size:
                    self._continued, self._size = False, size
                    return REDRAW
            key = self._byte()
            if key == "\x1b":
                return self._sequence()
            return _NAMES.get(key, key) if key else END

        def forget(self) -> None:
            """Drop what was typed so far."""
            with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
                termios.tcflush(self._fd, termios.TCIFLUSH)

        def _resume(self, *_: object) -> None:
            tty.setcbreak(self._fd, termios.TCSADRAIN)
            self._continued = True

        def _waiting(self, seconds: float) -> bool:
            return bool(select.select([self._fd], [], [], seconds)[0])

        def _byte(self) -> str:
            try:
                # Every byte is a character in Latin-1; all keys with a meaning are ASCII.
                return os.read(self._fd, 1).decode("latin-1")
            except OSError:  # the terminal was closed
                return ""

        def _sequence(self) -> str:
            """Return the key that a sequence means; the escape key alone and unknown sequences are no key."""
            text = ""
            # The bytes of a sequence arrive together; those of a person do not come within 20 ms.
            while self._waiting(0.02) and (byte := self._byte()):
                text += byte
                if len(text) > 1 and (byte.isalpha() or byte == "~"):
                    break
            return _SEQUENCES.get(text, "")


def _window(fd: int) -> os.terminal_size | None:
    with contextlib.suppress(OSError):
        return os.get_terminal_size(fd)
    return None


def open_keys() -> Keys:
    """Return the keys of standard input, terminal or pipe."""
    return TerminalKeys() if sys.stdin.isatty() else PipeKeys(sys.stdin.buffer)
