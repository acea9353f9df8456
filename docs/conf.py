"""Sphinx: the guide in Markdown, the reference from the docstrings."""

import sys
from pathlib import Path

from cobras import __version__

sys.path.insert(0, str(Path(__file__).parent))  # running.py lies here

project = "cobras"
author = "The cobras developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "running"]
html_theme = "furo"
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
