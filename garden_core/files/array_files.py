"""Safetensors files of arrays and JSON metadata.

Writing is atomic. Reading runs no code and checks everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from garden_core.checks import one_line
from garden_core.files.disk import read_regular, write_atomically

LIMIT = 2_000_000_000
"""Default maximum size of a file in bytes."""

T = TypeVar("T")


def write(
    path: Path, arrays: Mapping[str, np.ndarray], key: str, content: dict[str, Any], limit: int = LIMIT
) -> None:
    """Write a file atomically.

    Args:
        path: the file.
        arrays: arrays by name.
        key: name of the metadata entry for `content`.
        content: plain data, stored as JSON.
        limit: maximum size of the file in bytes.

    Raises:
        OSError: if the disk is full or the folder cannot be written.
        ValueError: if the file would be larger.
    """
    file = save({n: np.asarray(a, order="C") for n, a in arrays.items()}, {key: json.dumps(content)})
    if len(file) > limit:
        raise ValueError(f"{path} would have {len(file):,} bytes; {limit:,} are allowed")
    write_atomically(path, file)


def read(
    path: Path, key: str, form: type[T], limit: int = LIMIT
) -> tuple[dict[str, np.ndarray], T, dict[str, Any]]:
    """Return a file's arrays, its metadata converted to `form`, and the plain metadata.

    Args:
        path: the file.
        key: name of the metadata entry.
        form: type of the metadata, such as a msgspec Struct.
        limit: maximum size of the file in bytes.

    Raises:
        ValueError: if the file cannot be read, is larger, is no safetensors file, or its metadata does not fit `form`.
    """
    try:
        content = read_regular(path, limit)  # not mapped: truncating a mapped file would kill the process
        arrays = load(content)
        size = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + size]).get("__metadata__", {})
        if key not in metadata:
            raise ValueError(f"it has no metadata {key!r}")
        data = json.loads(metadata[key])
        return arrays, msgspec.convert(data, form), data
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
    except KeyError as error:  # safetensors knows number types that NumPy lacks
        raise ValueError(f"its arrays are of another type: {one_line(error)}") from None
    except (SafetensorError, ValueError, RecursionError) as error:
        raise ValueError(one_line(error)) from None
