"""The examples of the README run, as they stand there, one after another."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

README = Path(__file__).parents[2] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("word", ["event =", "field =", "model = Model"])
def test_an_example_runs(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = [each for each in EXAMPLES if word in each]
    module = ModuleType("example_of_the_readme")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # pickle looks for classes there
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), vars(module))
    said = re.findall(r"print\(refused\)  # (.*?); \.\.\.", example)
    assert all(text in capsys.readouterr().out for text in said)
    assert "assert" in example
