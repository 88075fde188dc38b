"""Write what is made from declarations: manual pages, completions, and the page of verdicts.

python tools/generate.py           write every file that is missing or stale
python tools/generate.py --check   write nothing; exit 1 and name what is stale
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def outputs() -> dict[str, str]:
    """Path in the repository -> what the file must hold."""
    from tools import _completions, _man, _verdicts

    files = {f"man/{name}": text for name, text in _man.pages().items()}
    files["docs/conversion.md"] = _verdicts.page()
    files.update({f"completions/{name}": text for name, text in _completions.scripts().items()})
    return files


def stale() -> dict[str, str]:
    """The outputs whose committed file is missing or different."""
    return {path: text for path, text in outputs().items() if committed(path) != text}


def left_over() -> list[str]:
    """Files that stand where outputs do, and that nothing makes any more."""
    found = [*ROOT.glob("man/*.1"), *ROOT.glob("completions/*")]
    paths = {path.relative_to(ROOT).as_posix() for path in found}
    return sorted(paths - set(outputs()))


def committed(path: str) -> str | None:
    try:
        return (ROOT / path).read_text("utf-8")
    except FileNotFoundError:
        return None


def main(args: list[str]) -> int:
    if args not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    changed, extra = stale(), left_over()
    if args:
        for path in changed:
            print(f"{path} is stale; run: python tools/generate.py", file=sys.stderr)
        for path in extra:
            print(f"{path} is made by nothing; remove it", file=sys.stderr)
        return 1 if changed or extra else 0
    for path, text in changed.items():
        target = ROOT / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, "utf-8", newline="\n")
        print(f"wrote {path}")
    for path in extra:
        (ROOT / path).unlink()
        print(f"removed {path}")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
