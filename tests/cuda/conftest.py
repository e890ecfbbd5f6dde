"""What of these tests there is: nothing without numba-cuda, and agreement with a GPU only where there is one."""

from importlib.util import find_spec

collect_ignore = []
if find_spec("numba_cuda") is None:
    collect_ignore += ["test_gpu.py", "test_ptx.py", "test_simulator.py"]
else:
    from numba import cuda

    if not cuda.is_available():
        collect_ignore += ["test_gpu.py"]
