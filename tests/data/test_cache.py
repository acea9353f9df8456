"""The cache is never needed: a damaged one is no harm."""

from __future__ import annotations

from pathlib import Path

from cobras.data.cache import Cache


def test_a_damaged_cache_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "content.sqlite").write_bytes(b"not a database" * 100)
    cache = Cache(tmp_path)
    cache.put({"a": b"b"})
    assert cache.get("a") is None
    cache.close()
    (tmp_path / "file").touch()
    assert Cache(tmp_path / "file").get("a") is None
