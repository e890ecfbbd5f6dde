"""Collects nothing without numba-cuda, and tests on a GPU only where there is one that torch can use too."""

from importlib.util import find_spec
from pathlib import Path

import torch

collect_ignore = []
if find_spec("numba_cuda") is None:
    collect_ignore += [path.name for path in Path(__file__).parent.glob("test_*.py")]
else:
    from numba import cuda

    if not cuda.is_available():
        collect_ignore += ["test_gpu.py"]
    if not torch.cuda.is_available():
        collect_ignore += ["test_gpu_torch.py"]
