"""Data files for tests: written to a folder, with a fault where one is wanted."""

import copy

import tomli_w


def written(folder, data):
    """Write a data file's content; return its path."""
    path = folder / "data.toml"
    path.write_text(tomli_w.dumps(data))
    return path


def changed(data, where, value):
    """Return a copy of the content in which the place that the keys `where` lead to holds `value` (None: nothing)."""
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
