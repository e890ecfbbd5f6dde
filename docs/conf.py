"""The documentation site: `make site` builds it from the pages in this folder and from docstrings."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

os.environ["NUMBA_DISABLE_JIT"] = (
    "1"  # compiled functions are then plain ones, with signatures and docstrings
)
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import reference

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

project = PROJECT["name"]
version = release = PROJECT["version"]
author = "The garden-envs authors"
copyright = author

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["pictures/*.json"]
smartquotes = False  # keeps the "--" of options
default_role = "code"  # docstrings write code in single backticks

# Pages
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # tests run the notebooks; the site shows their saved outputs

# Docstrings
autodoc_default_options = {"members": True, "show-inheritance": True, "no-value": True}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_mock_imports = [
    name
    for name in ("minari", "onnx", "onnxruntime", "open_spiel", "pyspiel", "ray", "tensordict", "torchrl")
    if not importlib.util.find_spec(name)
]
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # some classes of different modules have the same name, such as Arguments

# Look
html_theme = "furo"
html_title = f"{project} {version}"
html_static_path = ["_site"]
HAS_PAGE = (ROOT / "build" / "page").is_dir()
html_extra_path = ["../build/page"] if HAS_PAGE else []
html_css_files = ["site.css"]
html_show_sourcelink = False
html_domain_indices = False
addresses = PROJECT.get("urls", {})
if "Repository" in addresses:
    html_theme_options = {
        "source_repository": addresses["Repository"],
        "source_branch": "main",
        "source_directory": "docs/",
    }

reference.write(Path(__file__).parent / "api")


def setup(app: Sphinx) -> None:
    """Show the films, the playing page, if there is one, and descriptions of attributes as they are.

    Sphinx does not copy what HTML within a page names. Napoleon would read the text before a colon as a type.
    """
    folders = Path(__file__).parent / "pictures", Path(app.outdir) / "pictures"
    app.connect("build-finished", lambda *_: shutil.copytree(*folders, dirs_exist_ok=True))
    if HAS_PAGE:
        app.tags.add("page")

    def begin_with_a_blank(
        app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
    ) -> None:
        if what in ("attribute", "data", "property"):
            lines.insert(0, "")

    app.connect("autodoc-process-docstring", begin_with_a_blank, priority=100)
