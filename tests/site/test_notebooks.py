"""The notebooks run, here and in a fresh environment into which their first cell installs the package."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
INSTALL = "%pip install --quiet '../..["


@pytest.fixture
def _commands_of_this_environment(monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


QUICK = [pytest.param(path, marks=pytest.mark.long if path.stem == "train" else ()) for path in NOTEBOOKS]


@pytest.mark.parametrize("path", QUICK, ids=lambda path: path.stem)
@pytest.mark.usefixtures("_commands_of_this_environment")
def test_notebook_runs(path, tmp_path):
    book = nbformat.read(path, 4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert code[0].source.startswith(INSTALL)
    code[0].source = ""
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [bool(cell.outputs) for cell in code]
    saved = [bool(cell.outputs) for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert shown == saved, "run the notebook and save it with its output"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Build the package's wheel; return its folder."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT]
    subprocess.run(command, check=True)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_in_a_fresh_environment(path, wheels, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
    }
    install = [programs / "python", "-m", "pip", "install", "--quiet", "ipykernel", "nbclient"]
    subprocess.run(install, check=True, env=environment, cwd=tmp_path)
    book = tmp_path / path.name
    (wheel,) = wheels.iterdir()
    book.write_text(path.read_text("utf-8").replace(INSTALL, INSTALL.replace("../..", str(wheel))), "utf-8")
    execute = [programs / "jupyter-execute", "--timeout=900", book.name]
    subprocess.run(execute, check=True, env=environment, cwd=tmp_path)
