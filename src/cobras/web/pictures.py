"""Pictures as files a browser can show."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from cobras.core.types import FloatArray


def png(pixels: FloatArray) -> bytes:
    r"""A grey picture (0 for paper, 1 for ink) as a PNG file, black on white.

    Examples
    --------
    >>> png(np.eye(8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    grey = (255 * (1 - np.clip(np.nan_to_num(pixels), 0, 1))).round().astype(np.uint8)
    height, width = grey.shape
    lines = np.zeros(
        (height, width + 1), np.uint8
    )  # every line begins with the number of its filter, 0 for none
    lines[:, 1:] = grey
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
