"""From bytes to text: UTF-8 or UTF-16 where they fit, else the Latin alphabet of Windows."""

from __future__ import annotations

import codecs
import re

_CONTROL = re.compile("[\0-\x08\x0e-\x1f\x7f]")


class NotTextError(ValueError):
    """The bytes are no text in any encoding that is known here."""


def decode(data: bytes, *, cut: bool = False) -> tuple[str, bool]:
    r"""The text, and whether its encoding is a guess; `cut` when the data may end within a character.

    Examples
    --------
    >>> decode("\ufeffnaïve".encode()), decode("naïve".encode("latin-1"))
    (('naïve', False), ('naïve', True))
    >>> decode(b"\x00\x01\xff")
    Traceback (most recent call last):
    cobras.data.tables.decoding.NotTextError
    """
    encoding = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    guessed = False
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data, final=not cut)
    except UnicodeDecodeError:
        # Windows' superset of Latin-1 first: its curly quotes are control characters in Latin-1 itself.
        text = data.decode("cp1252", errors="replace")
        text = data.decode("latin-1") if "\ufffd" in text else text
        if _CONTROL.search(text):
            raise NotTextError from None
        guessed = True
    if "\0" in text:
        raise NotTextError
    return text, guessed
