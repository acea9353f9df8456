"""Sphinx: the guide in Markdown, the reference from the docstrings."""

from cobras import __version__

project = "cobras"
author = "The cobras developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
html_theme = "furo"
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
