"""Parquet files that dask reads where they lie: the same rows however they are cut, one sentence for each fault."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import dask
import numpy as np
import polars as pl
import pytest
from fsspec.registry import known_implementations
from hypothesis import given, settings
from hypothesis import strategies as st

from cobras.core.exceptions import InvalidDataError
from cobras.data.guess import Choices
from cobras.data.tables.files import url_of
from cobras.data.tables.large import remote
from cobras.data.tables.large.remote import read_remote


@pytest.fixture(autouse=True)
def here() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def rows(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    days = np.datetime64("1969-12-01") + rng.integers(0, 99, n).astype("m8[D]")
    return pl.DataFrame(
        {
            "name": [f"k{i}" for i in range(n)],
            "number": np.arange(n) + 7,
            "x": pl.Series(rng.normal(size=n)).set(pl.Series(rng.random(n) < 0.2), None),
            "day": pl.Series(days),
            "moment": pl.Series(days.astype("M8[us]")).dt.replace_time_zone("Europe/Brussels"),
            "long": pl.Series(rng.integers(0, 99, n).astype("m8[ms]")),
            "flag": rng.random(n) < 0.5,
            "class": rng.choice(["a", "b", "c"], n),
        }
    )


@settings(max_examples=settings.default.max_examples // 4)
@given(
    st.integers(3, 40),
    st.lists(st.integers(0, 40), max_size=4),
    st.integers(1, 12),
    st.integers(1, 2_000),
    st.integers(0, 2**32 - 1),
)
def test_rows_are_the_same_however_they_are_cut(
    tmp_path_factory: pytest.TempPathFactory, n: int, borders: list[int], group: int, together: int, seed: int
) -> None:
    frame, folder = rows(n, seed), tmp_path_factory.mktemp("parts")
    ends = [0, *sorted(min(b, n) for b in borders), n]
    for p, (start, stop) in enumerate(pairwise(ends)):  # some may be empty
        frame[start:stop].write_parquet(folder / f"{p}.parquet", row_group_size=group)
    frame.write_parquet(folder / "other.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote, "TOGETHER", together)
        found = read_remote(folder, Choices(label="class"))
        table = found.large
        assert isinstance(table, remote.RemoteParquet)
        assert len(found) == n
        assert pl.concat([batch for _, batch in table.batches()]).equals(frame)
        assert [start for start, _ in table.batches()] == table._starts[:-1].tolist()
        start, length = np.random.default_rng(seed).integers(0, n, 2).tolist()
        assert table.read(start, length, ["x", "name"]).equals(frame[start : start + length, ["x", "name"]])
        assert found.row(start)["name"] == f"k{start}"
        codes, n_gaps = table.codes("class")
        assert n_gaps == 0
        assert len({*zip(codes.tolist(), frame["class"], strict=True)}) == frame["class"].n_unique()
        everything = found.X.compute()
        np.testing.assert_array_equal(
            table.fetch_features(found.recipe.columns, np.arange(n)[::-1]), everything[::-1]
        )
        again = read_remote(folder, Choices(label="class"), found.recipe)
        np.testing.assert_array_equal(again.X.compute(), everything)
    assert "number" not in found.columns
    for k, name in enumerate(found.columns):
        cells = frame[name]
        plain = cells.cast(pl.Float64) if name in ("x", "flag") else cells.to_physical().cast(pl.Float64)
        low, known = plain.min(), plain.is_not_null().to_numpy()
        expected = ((plain - low) / (plain.max() - low)).to_numpy()  # type: ignore[operator]
        np.testing.assert_allclose(everything[known, k], expected[known], atol=1e-6)
        assert len(set(everything[~known, k])) <= 1


def test_an_address_may_be_a_path_a_folder_or_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    frame = rows(30, 0)
    for k in range(3):
        frame[10 * k : 10 * k + 10].write_parquet(tmp_path / "parts" / f"{k}.parquet")
    for place in ("parts", "parts/", "parts/*.parquet", "parts/[12].parquet", "parts/1.parquet"):
        n = 10 if "1." in place else 20 if "[" in place else 30
        assert len(read_remote(tmp_path / place, Choices())) == n
        assert len(read_remote(Path(f"file://{tmp_path}/{place}"), Choices())) == n
    assert url_of(Path("https://host:1/a/b.parquet")) == "https://host:1/a/b.parquet"


def test_a_web_server_is_an_object_store_too(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    rows(30, 0).write_parquet(tmp_path / "t.parquet")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert read_remote(Path(f"{address}/t.parquet"), Choices()).row(3)["name"] == "k3"
        with pytest.raises(InvalidDataError, match=r"There is no http://.*/gone.parquet; give Parquet files"):
            read_remote(Path(f"{address}/gone.parquet"), Choices())
        server.shutdown()


def test_faults_are_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        known_implementations, "nowhere", {"class": "absent_files.Files", "err": "Install it"}
    )
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("no Parquet")
    pl.DataFrame({"x": []}, schema={"x": pl.Float64}).write_parquet(tmp_path / "none.parquet")
    pl.DataFrame({"x": [1.0, np.inf]}).write_parquet(tmp_path / "infinite.parquet")
    pl.DataFrame({"w": ["a", "b"]}).write_parquet(tmp_path / "words.parquet")
    for address, sentence in {
        "nowhere://bucket/*.parquet": "needs absent_files, which is not installed where dask works; pip install",
        "unheard://bucket/*.parquet": "cannot be read as Parquet: Protocol not known: unheard",
        f"{tmp_path}/gone.parquet": "There is no .*gone.parquet; give Parquet files",
        f"{tmp_path}/gone-*.parquet": "There are no files .*gone-",
        f"{tmp_path}/empty": "There are no files",
        f"{tmp_path}/text.parquet": "cannot be read as Parquet: Parquet magic bytes not found",
        f"{tmp_path}/none.parquet": "holds no rows; at least one is needed",
        f"{tmp_path}/infinite.parquet": "Column 'x' of .* is infinite somewhere",
        f"{tmp_path}/words.parquet": "has no column of numbers to cluster by; its columns are 'w'",
        f"{tmp_path}/[iw]*.parquet": "have different columns; give those that belong together",
    }.items():
        with pytest.raises(InvalidDataError, match=sentence):
            read_remote(Path(address), Choices())


def test_columns_that_changed_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"x": [1.0, 2.0], "y": [3.0, 5.0]})
    frame.write_parquet(path)
    recipe = read_remote(path, Choices()).recipe
    frame.drop("y").write_parquet(path)
    with pytest.raises(InvalidDataError, match="cannot be read as before: 'y' is gone"):
        read_remote(path, Choices(), recipe)
    frame.cast({"y": pl.String}).write_parquet(path)
    with pytest.raises(InvalidDataError, match="cannot be read as before: 'y' holds no numbers any more"):
        read_remote(path, Choices(), recipe)
