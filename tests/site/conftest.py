"""Without what the site is built with (`make test-site`) there is nothing to test."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("furo") and find_spec("nbclient") else ["test_site.py", "test_notebooks.py"]
