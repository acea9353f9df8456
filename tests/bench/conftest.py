"""What tests of the benchmark share."""

import pytest


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A cache of our own, and no folder unless a test gives one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COBRAS_DATA", raising=False)
    return tmp_path / "cache" / "cobras"
