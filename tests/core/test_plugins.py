"""Code that a caller names by `module:attribute`."""

import sys

import pytest

from garden_core.plugins import imported


def test_a_module_in_the_current_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lies_here.py").write_text("answer = 42", "utf-8")
    (tmp_path / "json.py").write_text("raise AssertionError('it is in front of the library')", "utf-8")
    assert imported("lies_here:answer", "agent") == 42
    assert imported("json:dumps", "agent")(1) == "1"
    assert sys.path[-1] == str(tmp_path)


def test_missing_modules_and_attributes_are_named():
    with pytest.raises(ValueError, match="agent nobody:it cannot be imported: No module named 'nobody'"):
        imported("nobody:it", "agent")
    with pytest.raises(ValueError, match="agent json:it: the module has no 'it'"):
        imported("json:it", "agent")
