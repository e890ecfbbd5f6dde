"""Safetensors files of arrays and JSON metadata.

A file is written whole or not at all. Reading one runs no code and checks everything in it.
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
from garden_core.files import read_regular, write_atomically

__all__ = ["check_weights", "read", "write"]

_MOST_NAMES = 5  # names of tensors that a message lists
_LIMIT = 2_000_000_000  # largest size of a file, bytes

T = TypeVar("T")


def write(path: Path, arrays: Mapping[str, np.ndarray], key: str, content: dict[str, Any]) -> None:
    """Write a file, whole or not at all.

    Args:
        path: the file.
        arrays: arrays by name.
        key: name of the metadata entry that holds `content`.
        content: plain data, kept as JSON.

    Raises:
        OSError: if the disk is full or the folder cannot be written.
        ValueError: if the file would be larger than `read` accepts.
    """
    file = save({n: np.asarray(a, order="C") for n, a in arrays.items()}, {key: json.dumps(content)})
    if len(file) > _LIMIT:
        raise ValueError(f"{path} would have {len(file):,} bytes; {_LIMIT:,} are allowed")
    write_atomically(path, file)


def read(path: Path, key: str, form: type[T]) -> tuple[dict[str, np.ndarray], T, dict[str, Any]]:
    """Return a file's arrays, its data converted to `form` (a msgspec Struct), and its data unconverted.

    Raises:
        ValueError: if the file cannot be read, is no safetensors file, or its data does not fit `form`.
    """
    try:
        content = read_regular(path, _LIMIT)  # not mapped: a file cut short later would end the process
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
        raise ValueError(f"its weights are of another type: {one_line(error)}") from None
    except (SafetensorError, ValueError, RecursionError) as error:
        raise ValueError(one_line(error)) from None


def check_weights(found: Mapping[str, np.ndarray], needed: Mapping[str, tuple[int, ...]]) -> None:
    """Check that the arrays have the names and shapes of `needed`, are float32, and that all numbers are finite.

    Raises:
        ValueError: if not; it names some of the arrays at fault.
    """
    other = sorted(found.keys() ^ needed.keys())
    other += [n for n in needed if n in found and found[n].shape != needed[n]]
    if other:
        raise ValueError(f"it does not fit its own description: {_some(other)}")
    types = [f"{n} is {found[n].dtype}, not float32" for n in needed if found[n].dtype != np.float32]
    if types:
        raise ValueError(f"its weights are of another type: {_some(types)}")
    broken = [name for name, array in found.items() if not np.isfinite(array).all()]
    if broken:
        raise ValueError(f"its weights are not finite: {_some(broken)}")


def _some(names: list[str]) -> str:
    listed = ", ".join(one_line(name, 100) for name in names[:_MOST_NAMES])
    return listed + (", …" if len(names) > _MOST_NAMES else "")
