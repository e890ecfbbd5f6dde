"""The signatures of all compiled functions."""

import ast

from test_imports import EVERY

MOST_ARGUMENTS = 8


def compiled_functions():
    """Every compiled function of the house, as its syntax tree."""
    for path in EVERY.values():
        for node in ast.parse(path.read_text()).body:
            decorators = getattr(node, "decorator_list", [])
            if any(ast.unparse(decorator) in ("compiled", "inlined", "kernel") for decorator in decorators):
                yield node


def test_arguments_that_could_be_swapped_are_few():
    """Only entries, which Python calls with `*rows`, take more than eight arguments."""
    functions = {node.name: node for node in compiled_functions()}
    assert len(functions) > 100
    called = set()
    for node in functions.values():
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                called.add(ast.unparse(inner.func).rpartition(".")[2])
    long = {name for name, node in functions.items() if len(node.args.args) > MOST_ARGUMENTS}
    assert not long & called
