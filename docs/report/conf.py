"""The paper and its appendix for printing: `make report`. The site has these pages among all others."""

from __future__ import annotations

project = "garden-envs"
extensions = ["myst_parser"]
smartquotes = False  # keeps the "--" of options
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing"]  # links to the site's other pages become plain text
html_theme = "basic"
html_title = "garden-envs"
html_static_path = ["../_site"]
html_css_files = ["print.css"]
