"""The examples of the README run, as they stand there, one after another."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import serialpack

README = Path(__file__).parents[2] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


#: What an example of files has in it -> the file that it reads, and how that is packed.
OF_FILES: dict[str, tuple[str, dict[str, Any] | None]] = {
    "report = serialpack.pack": ("data.json", None),
    "serialpack.open": ("contacts.ndjson", {"serializer": "columns"}),
    "zstandard": ("data.json", {"serializer": "raw", "codec": "zstd"}),
}
OF_OBJECTS = ["event =", "field =", "model = Model"]
#: Run with the page that it is taken from: ``cli/verbs/test_stores.py``.
OF_STORES = ["serialpack.store"]


def test_every_extra_is_named() -> None:
    """That of HDF5 and that of plots were not."""
    project = tomllib.loads((README.parent / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].keys() - {"test", "peers"}
    readme = README.read_text(encoding="utf-8")
    assert {"all", "hdf5"} <= extras
    assert not {extra for extra in extras if f"[{extra}]" not in readme}


def test_every_example_is_run() -> None:
    words = [*OF_FILES, *OF_OBJECTS, *OF_STORES]
    assert sorted(words) == sorted(
        word for example in EXAMPLES for word in words if word in example
    )
    assert len(EXAMPLES) == len(words)


@pytest.mark.parametrize("word", OF_FILES)
def test_an_example_of_files_runs(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (example,) = [each for each in EXAMPLES if word in each]
    name, packed = OF_FILES[word]
    record = '{"age": %d, "name": {"first": "x"}}'
    records = [record % n for n in range(30)]
    lines = name.endswith(".ndjson")
    text = "\n".join(records) + "\n" if lines else f"[{', '.join(records)}]"
    (tmp_path / name).write_text(text, "utf-8")
    if packed is not None:
        serialpack.pack(tmp_path / name, tmp_path / f"{name}.spk", **packed)
    monkeypatch.chdir(tmp_path)
    made: dict[str, Any] = {"serialpack": serialpack}
    exec(compile(example, "README.md", "exec"), made)
    if "same.json" in example:
        assert Path("same.json").read_text("utf-8") == text
        assert Path("same.msgpack").stat().st_size
    elif "columns" in example:
        ages, names = made["columns"].values()
        assert ages.tolist() == [*range(30)]
        assert set(names) == {"x"}
    else:
        assert made["data"] == text.encode()


@pytest.mark.parametrize("word", OF_OBJECTS)
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
