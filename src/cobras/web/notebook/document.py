"""The page as one document that needs no other file, for a frame that has no address."""

from __future__ import annotations

import base64
import json
import os
import re
from functools import cache
from pathlib import Path

from cobras.web.server import STATIC

# All that it shows comes through the widget; nothing is fetched from anywhere.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
# Modules in memory have no address that another one could lie beside, so all of them get a plain name.
LOADER = """
const imports = {};
for (const [name, text] of Object.entries(MODULES))
  imports[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const map = document.createElement("script");
map.type = "importmap";
map.textContent = JSON.stringify({ imports });
document.head.append(map);
import("cobras/main.js");
"""


@cache
def page_document() -> str:
    """Return `index.html` with its styles, its icon and all modules inside."""
    page = (STATIC / "index.html").read_text("utf-8")
    page = re.sub(r'<link rel="stylesheet" href="static/([^"]+)">', _style, page)
    page = re.sub(r'\s*<link rel="icon"[^>]*>|\s*<script type="module"[^>]*></script>', "", page)
    icon = base64.b64encode((STATIC / "icon.svg").read_bytes()).decode()
    page = page.replace("static/icon.svg", f"data:image/svg+xml;base64,{icon}")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    # A text that looks like the end of the script would end it.
    modules = json.dumps(page_modules()).replace("<", "\\u003c")
    script = f"<script>{LOADER.replace('MODULES', modules)}</script>"
    return page.replace("<head>", f"<head>{policy}").replace("</body>", f"{script}</body>")


def page_modules() -> dict[str, str]:
    """The modules of the page by their plain names; they import each other by these.

    Examples
    --------
    >>> [line for line in page_modules()["cobras/map/timeline.js"].splitlines() if line.startswith("import")][0]
    'import { byId, counted } from "cobras/page/dom.js";'
    """
    return {
        f"cobras/{file.relative_to(STATIC).as_posix()}": _with_plain_names(file)
        for file in sorted(STATIC.rglob("*.js"))
    }


def _with_plain_names(file: Path) -> str:
    def plain(match: re.Match[str]) -> str:
        imported = os.path.normpath(file.parent / match[2])
        return f'{match[1]}"cobras/{Path(imported).relative_to(STATIC).as_posix()}";'

    # At the start of a line, so that nothing but an import is meant; one may end some lines below.
    return re.sub(r'^((?:import|\}).*)"(\.[^"]+)";', plain, file.read_text("utf-8"), flags=re.M)


def _style(match: re.Match[str]) -> str:
    return f"<style>{(STATIC / match[1]).read_text('utf-8')}</style>"
