"""Compile functions to a WebAssembly module: Numba's LLVM code, LLVM's WebAssembly target, and LLVM's linker."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba

from garden_agents.wasm import maths
from garden_agents.wasm.c_functions import c_function
from garden_core.plugins import EXTRA

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+mutable-globals,+nontrapping-fptoint,+sign-ext,+simd128"
STACK, MOST_MEMORY = 1 << 16, 1 << 28
"""Sizes of the stack and, at most, of the module's memory, bytes."""
OPTIONS = (
    "--no-entry",
    "--strip-all",
    "--gc-sections",
    "--stack-first",
    f"-zstack-size={STACK}",
    f"--max-memory={MOST_MEMORY}",
)
"""The linker's options."""


class Entry(NamedTuple):
    """A function of the module, and Numba's types of its arguments; see `c_function`."""

    function: Callable[..., Any]
    arguments: Sequence[Any]


_MATHS = [
    Entry(function, [kind])
    for kind, functions in (
        (numba.float64, (maths.exp, maths.log)),
        (numba.float32, (maths.expf, maths.logf)),
    )
    for function in functions
]

_DECLARED = """
declare double @llvm.sqrt.f64(double)
define double @sqrt(double %x) {
  %root = call double @llvm.sqrt.f64(double %x)
  ret double %root
}
"""


def compile_module(entries: Sequence[Entry]) -> bytes:
    """Return a WebAssembly module that exports the entries, its memory and `__heap_base`, and imports nothing.

    Raises:
        RuntimeError: if the linker is missing, or the code calls functions that WebAssembly does not have.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=2, features=FEATURES, reloc="static")
    parts = [c_function(*entry) for entry in (*entries, *_MATHS)]
    linked = llvm.parse_assembly(_DECLARED)
    for _, outer in parts:
        linked.link_in(llvm.parse_assembly(outer))
    for inner, _ in parts:
        linked.link_in(inner, preserve=True)
    module = llvm.parse_assembly(_retargeted(str(linked), machine))
    names = {entry.function.__name__ for entry in entries}
    kept = names | {entry.function.__name__ for entry in _MATHS}  # LLVM's code generator calls these
    for number, function in enumerate(module.functions):
        if function.is_declaration:
            continue
        if function.name in kept:
            function.linkage = "external"
        else:
            function.linkage = "internal"
            function.name = f"function{number}"  # Numba's names are random, and LLVM's order depends on them
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_unrolling = False  # modules are a fifth smaller and as fast
    builder = llvm.create_pass_builder(machine, tuning)
    merging = (
        llvm.create_new_module_pass_manager()
    )  # Numba compiles a rule for each kind of array that it is called with
    merging.add_merge_functions_pass()
    for passes in merging, builder.getModulePassManager(), merging:
        passes.run(module, builder)
    lacking = sorted(f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm."))
    if lacking:
        raise RuntimeError(f"WebAssembly has no {', '.join(lacking)}, which the compiled code calls")
    return _link(machine.emit_object(module), sorted(names))


def _retargeted(text: str, machine: Any) -> str:
    """Return LLVM code for another target; WebAssembly has no common symbols."""
    text = re.sub(r"^target (triple|datalayout) = .*$", "", text, flags=re.MULTILINE)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{TRIPLE}"\n'
    return head + text.replace("= common ", "= internal ")


def _link(code: bytes, names: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "module.o", Path(folder) / "module.wasm"
        source.write_bytes(code)
        command = [sys.executable, "-m", "ziglang", "wasm-ld", *OPTIONS, str(source), "-o", str(target)]
        command += [f"--export={name}" for name in ("__heap_base", *names)]
        done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
        if done.returncode:
            raise RuntimeError(
                f"the linker failed; it is in the extra wasm: {EXTRA.format('wasm')}\n{done.stderr}"
            )
        return target.read_bytes()
