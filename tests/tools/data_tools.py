"""Data files for tests: written to a folder, with a fault where one is wanted."""

import copy

import tomli_w


def written(folder, data, name="data"):
    """Write a data file's content to `name`.toml in a folder; return its path."""
    path = folder / f"{name}.toml"
    path.write_text(tomli_w.dumps(data), "utf-8")
    return path


def changed(data, where, value):
    """Return a copy of the content with `value` at the place of the keys `where` (None: removed)."""
    data = copy.deepcopy(data)
    *path, last = where
    place = data
    for key in path:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return data
