"""Image files: opened safely, set upright, made small once."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cobras.data.cache import shared_cache

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "PPM", "BMP")
N_PIXELS = 80_000_000  # more than any camera takes; a file of a few bytes can promise as many as it likes
_GREY = (160, 160, 160)
_WHITE = 65535.0  # to which Pillow scales the white of a PGM file of 16 bits
_TURNED = (5, 6, 7, 8)  # EXIF orientations that swap width and height


class BrokenImageError(ValueError):
    """A file that is no image, or too large a one; the message says which."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A card that shows an image file, with the other columns of its row.

    Attributes
    ----------
    path : Path
        The file; it is opened only when it is shown.
    size : (int, int)
        Width and height in pixels, upright.
    digest : str
        Of the file's content: small copies are kept in the user's cache under it.
    values : mapping
        The other columns.

    Examples
    --------
    >>> Photo(Path("gone.jpg"), (4000, 3000), "").shape(400)
    (400, 300)
    """

    path: Path
    size: tuple[int, int]
    digest: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def shape(self, size: int = 512) -> tuple[int, int]:
        """Width and height of the thumbnail of that size."""
        scale = min(1.0, size / max(self.size))
        return max(1, round(self.size[0] * scale)), max(1, round(self.size[1] * scale))

    def thumbnail(self, size: int = 512) -> tuple[bytes, str]:
        """A small upright copy as a file, and its media type; made once. A grey one if the file has gone."""
        key = f"thumbnail {size} {self.digest}"
        kept = shared_cache().get(key) if self.digest else None
        if kept is None:
            kept, whole = self._make(size)
            if whole and self.digest:
                shared_cache().put({key: kept})
        return kept, "image/png" if kept.startswith(b"\x89PNG") else "image/jpeg"

    def pixels(self, size: int) -> npt.NDArray[np.uint8]:
        """The red, green and blue of a small copy, of shape (height, width, 3)."""
        from PIL import Image

        with Image.open(io.BytesIO(self.thumbnail(512)[0])) as image:
            image.thumbnail((size, size))
            return np.asarray(on_white(image))

    def _make(self, size: int) -> tuple[bytes, bool]:
        from PIL import Image

        buffer = io.BytesIO()
        try:
            image = opened(self.path, size)
            image.thumbnail(self.shape(size))
            image.save(buffer, "PNG" if image.mode == "RGBA" else "JPEG", quality=85)
        except BrokenImageError:
            Image.new("RGB", self.shape(min(size, 64)), _GREY).save(buffer, "PNG")
            return buffer.getvalue(), False
        return buffer.getvalue(), True


def opened(path: Path, size: int | None = None) -> Image:
    """An upright image, RGBA where it has transparent parts, else RGB; `size` lets its decoder be quick about it.

    Raises
    ------
    BrokenImageError
        When it cannot be decoded, for whatever reason.
    """
    from PIL import Image, ImageOps

    with _refusing(), Image.open(path, formats=FORMATS) as image:
        if image.width * image.height > N_PIXELS:
            raise BrokenImageError(f"{image.width} x {image.height} pixels are too many")
        if size is not None:
            image.draft("RGB", (size, size))
        image.load()
        return _coloured(ImageOps.exif_transpose(_eight_bits(image)))


def upright_size(path: Path) -> tuple[int, int]:
    """Width and height of a file after its EXIF orientation, without decoding it."""
    from PIL import Image

    with _refusing(), Image.open(path, formats=FORMATS) as image:
        turned = image.getexif().get(0x0112) in _TURNED
        return (image.height, image.width) if turned else (image.width, image.height)


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Decoders of foreign files raise anything and warn of odd metadata; what counts is whether pixels come out."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except BrokenImageError:
        raise
    except Exception as error:
        raise BrokenImageError((str(error).splitlines() or [type(error).__name__])[0]) from error


def _eight_bits(image: Image) -> Image:
    """Images of 16 or 32 bits: a PGM file says what is white, others are stretched from darkest to brightest."""
    if not image.mode.startswith(("I", "F")):
        return image
    import PIL.Image

    values = np.nan_to_num(np.asarray(image, dtype=np.float64), posinf=0, neginf=0)
    low, extent = values.min(), np.ptp(values) or 1.0
    if image.format == "PPM" and image.mode.startswith("I"):
        low, extent = 0.0, _WHITE
    grey = PIL.Image.fromarray(((values - low) / extent * 255).round().astype(np.uint8))
    grey.info = image.info
    return grey


def _coloured(image: Image) -> Image:
    has_alpha = image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info
    return image.convert("RGBA" if has_alpha else "RGB")


def on_white(image: Image) -> Image:
    """Without transparency, as on paper."""
    if image.mode != "RGBA":
        return image.convert("RGB")
    import PIL.Image

    paper = PIL.Image.new("RGBA", image.size, "white")
    paper.alpha_composite(image)
    return paper.convert("RGB")
