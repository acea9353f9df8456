"""The built wheel installs and runs outside the checkout."""

import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[2]


def test_the_wheel_runs_outside_the_checkout(tmp_path, monkeypatch):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = ZipFile(wheel).namelist()
    assert "cobras/py.typed" in names
    assert not [
        n for n in names if n.startswith(("tests", "benchmarks")) or n.endswith((".nbi", ".nbc", ".pyc"))
    ]
    # The dependencies are borrowed from this environment; the package itself comes from the wheel alone.
    home = tmp_path / "venv"
    venv.create(home)
    python = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    subprocess.run([*install, "--no-deps", "--no-index", wheel], check=True)
    (borrowed,) = [p for p in sys.path if p.endswith("site-packages")][:1]
    (site,) = home.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(f"import sys; sys.path.append({borrowed!r})\n")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    table = tmp_path / "t.csv"
    table.write_text("a,b,kind\n" + "".join(f"{i % 7},{i // 7},{'xy'[i > 20]}\n" for i in range(42)))
    run = [
        home / "bin" / "cobras",
        "run",
        "t.csv",
        "--label",
        "kind",
        "--max-queries",
        "5",
        "--method",
        "cobras",
        "--json",
    ]
    out = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert '"n_queries"' in out
    code = "import cobras; print(cobras.__file__); print(cobras.COBRAS.__module__)"
    where = subprocess.run(
        [python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert where.startswith(str(home))
