"""A directive for the documentation: run an example, show its code and output; a failure fails the build."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class RunExample(SphinxDirective):
    """`{run-example} cluster_texts.py`: a file of the folder examples."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The code, and the output of this very build."""
        path = Path(self.env.srcdir).parent / "examples" / self.arguments[0]
        self.env.note_dependency(str(path))
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-W", "error", str(path)],
                capture_output=True,
                text=True,
                timeout=300,
                cwd=folder,
                env={**os.environ, "XDG_CACHE_HOME": folder},
                check=False,
            )
        if done.returncode:
            raise self.error(f"{path.name} failed: {done.stderr}")
        code = path.read_text(encoding="utf-8")
        return [
            nodes.literal_block(code, code, language="python"),
            nodes.paragraph("", "prints"),
            nodes.literal_block(done.stdout, done.stdout, language="text"),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("run-example", RunExample)
    return {"parallel_read_safe": True}
