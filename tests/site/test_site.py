"""The documentation site: it builds without a warning, nothing in it leads nowhere, and everything is close at hand."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import reference
from sphinx.util.inventory import InventoryFile

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links = []
        self.anchors = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        """Note the links and anchors of a tag."""
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the site that SITE names; without it, build the site, with warnings as errors."""
    if "SITE" in os.environ:
        return ROOT / os.environ["SITE"]
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    built = subprocess.run(
        [*command, "--doctree-dir", folder / "doctrees", ROOT / "docs", folder / "html"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert built.returncode == 0, built.stderr[-5000:]
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site):
    """Return the site's pages by path."""
    return {path: Page(path) for path in site.rglob("*.html")}


def target(path, link):
    """Return the file and the anchor that a link of a page leads to; None if it leads out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    return file / "index.html" if file.is_dir() else file, unquote(parts.fragment)


def test_no_page_has_the_name_of_one_that_sphinx_makes():
    assert not any((ROOT / "docs" / f"{name}.md").exists() for name in ("genindex", "modindex", "search"))


def test_no_link_is_dead(pages):
    dead = []
    for path, page in pages.items():
        for link in page.links:
            if (found := target(path, link)) is None:
                continue
            file, anchor = found
            if not file.exists() or (anchor and file in pages and anchor not in pages[file].anchors):
                dead.append((path.name, link))
    assert not dead


def test_nothing_is_fetched_from_elsewhere(site):
    for path in site.rglob("*.html"):
        for line in path.read_text("utf-8").splitlines():
            if "<script" in line or "<link" in line or "<img" in line:
                assert not re.search(r'(src|href)="http', line), (path.name, line)


def test_every_page_is_two_clicks_away(site, pages):
    leads_to = defaultdict(set)
    for path, page in pages.items():
        leads_to[path] = {found[0] for link in page.links if (found := target(path, link))}
    near = {site / "index.html"}
    for _ in range(2):
        near |= {file for path in near for file in leads_to[path]}
    documents = {path for path in pages if "_modules" not in path.parts}
    assert documents - near <= {site / "search.html"}


def test_every_public_name_is_in_the_reference(site):
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    found = {name for objects in inventory.data.values() for name in objects}
    missing = [
        f"{module}.{name}"
        for module, names in reference.public_names().items()
        for name in names
        if not any(f"{each}.".startswith(f"{module}.{name}.") for each in found)
    ]
    assert not missing
