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
        """Return the code, and the output it printed in this build."""
        path = Path(self.env.srcdir).parent / "examples" / self.arguments[0]
        self.env.note_dependency(str(path))
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-W", "error", str(path)]
            environment = {**os.environ, "XDG_CACHE_HOME": folder}
            try:
                printed = subprocess.check_output(
                    command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, timeout=300
                )
            except subprocess.CalledProcessError as error:
                raise self.error(f"{path.name} failed: {error.stderr}") from None
        code = path.read_text(encoding="utf-8")
        return [
            nodes.literal_block(code, code, language="python"),
            nodes.paragraph("", "prints"),
            nodes.literal_block(printed, printed, language="text"),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive to Sphinx."""
    app.add_directive("run-example", RunExample)
    return {"parallel_read_safe": True}
