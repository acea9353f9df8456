"""Sphinx: guides in Markdown, tutorials by running the scripts of examples, the reference from the docstrings."""

import os
import sys
import tempfile
from pathlib import Path

from cobras import __version__

sys.path.insert(0, str(Path(__file__).parent))  # figures.py lies here

project = "cobras"
author = "The cobras developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_gallery.gen_gallery"]
html_theme = "furo"
html_title = f"cobras {release}"
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["tutorials.css"]
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "tutorials",  # made by the build, and not kept
    "backreferences_dir": "tutorials/used",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "figures.set_style"),
    "ignore_repr_types": r"matplotlib\.",
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "thumbnail_size": (400, 200),
    "run_stale_examples": True,  # the package may have changed, not only the script
    "write_computation_times": False,
    "min_reported_time": 1e9,  # never: pages of two builds are to be the same
    "download_all_examples": False,
    "show_signature": False,
}

# The tutorials write into folders of their own, find the command, and leave the user's cache as it is.
_folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
tempfile.tempdir = os.environ["XDG_CACHE_HOME"] = _folder.name
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
