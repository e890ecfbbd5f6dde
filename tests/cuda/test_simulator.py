"""Numba's simulator runs the kernels of a GPU in Python: the same bytes as compiled code on the CPU, call by call."""

import json
import re

import pytest
from devices import cases, played
from processes import ROOT, python

CASES = cases()
PARTS = 2
SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_variant_is_played_as_on_the_cpu(part):
    chosen = CASES[part::PARTS]
    code = f"""if True:
        import json
        from devices import played
        for name, options in {chosen}:
            print(json.dumps(list(played(name, options, "cuda"))))
    """
    printed = python("-W", "error", "-c", code, **SIMULATED).stdout
    for (name, options), line in zip(chosen, printed.splitlines(), strict=True):
        for seen, expected in zip(json.loads(line), played(name, options, "cpu"), strict=True):
            assert seen == list(expected), f"{name} {options}"


def test_snippets_of_the_docs_run():
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "gpu.md").read_text(), re.DOTALL)
    assert snippets
    python("-W", "error", "-c", "\n".join(snippets), **SIMULATED)
