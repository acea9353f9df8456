"""How the figures of the tutorials look: no background and grey lines, so that they suit light and dark pages."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt

GREY = "#878787"  # at least 3.5 : 1 against white and against the dark page
COLOURED = "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "text.color", "xtick.color", "ytick.color"


def set_style(gallery_conf: dict[str, Any], file_name: str) -> None:
    """Set matplotlib's defaults; the gallery calls this before each tutorial."""
    plt.rcParams.update(dict.fromkeys(COLOURED, GREY))
    plt.rcParams.update({"savefig.transparent": True, "legend.framealpha": 0, "axes.titlesize": 10})
