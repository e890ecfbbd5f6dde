"""Numba's simulator runs the kernels of a GPU in Python: the same bytes as compiled code on the CPU, call by call."""

import itertools
import json
import re

import pytest
from devices import cases, learned, played
from processes import ROOT, python

CASES = cases()
PARTS = 2
SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_variant_is_played_as_on_the_cpu(part):
    chosen = CASES[part::PARTS]
    code = f"""if True:
        import json
        from devices import learned, played
        for name, options in {chosen}:
            print(json.dumps([*played(name, options, "cuda"), *learned(name, options, "cuda")]))
    """
    printed = python("-W", "error", "-c", code, **SIMULATED).stdout
    for (name, options), line in zip(chosen, printed.splitlines(), strict=True):
        expected_here = itertools.chain(played(name, options, "cpu"), learned(name, options, "cpu"))
        for seen, expected in zip(json.loads(line), expected_here, strict=True):
            assert seen == list(expected), f"{name} {options}"


def test_features_agree_with_the_cpu():
    code = """if True:
        import numpy as np
        from garden_agents.games import hints_of
        from garden_agents.training.gpu import features as gpu_features
        from garden_agents.networks.board_features import cell_features, num_cell_features
        from garden_agents.networks.flat_network import flat_features
        from garden_core import Batch, make
        from garden_core.batch.gpu.target import put
        from garden_core.batch.policies import RandomPolicy

        def played(name):
            batch, policy = Batch(make(name, num_players=3), 10), RandomPolicy(1)
            batch.reset(2)
            for _ in range(25):
                batch.step(policy(batch, batch.all_rows))
            return batch.game, batch.flat

        gpu_features.THREADS = 4
        game, seen = played("mars")
        board = hints_of(game).board(game)
        out = put(np.zeros((10, len(board.neighbours), num_cell_features(board)), np.float32))
        gpu_features.GpuFeatures(board)(put(seen), out)
        expected = cell_features(board, seen)
        assert expected.std() > 0
        assert np.array_equal(out.copy_to_host(), expected)

        game, seen = played("botanicus")
        features = hints_of(game).features(game)
        out = put(np.zeros((10, features.num), np.float32))
        gpu_features.GpuFlatFeatures(features)(put(seen), out)
        assert np.array_equal(out.copy_to_host(), flat_features(features, seen))
    """
    python("-W", "error", "-c", code, **SIMULATED)


def test_the_benchmark_writes_what_it_measures(tmp_path):
    small = ["--sizes", "3", "--windows", "1", "--seconds", "0.01", "--minutes", "0", "--output", tmp_path]
    python("-m", "benchmarks.cuda", "tic_tac_toe:TicTacToe", *small, **SIMULATED)
    found = json.loads((tmp_path / "cuda-tic_tac_toe.json").read_text("utf-8"))["measurements"]
    assert [each["what"] for each in found] == ["kernel", "Batch.step"]
    assert all(each["decisions_per_second"]["median"] > 0 for each in found)


def test_snippets_of_the_docs_run():
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "gpu.md").read_text("utf-8"), re.DOTALL)
    assert snippets
    python("-W", "error", "-c", "\n".join(snippets), **SIMULATED)
