"""Help, manual pages and completions say the same, and what they say exists."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import serialpack.errors
from serialpack.cli.app import VERBS
from serialpack.cli.options.values import setting_name
from serialpack.cli.words import EXIT_CODES
from serialpack.codecs import CODECS
from serialpack.conversion.losses.rules import RULES
from serialpack.errors import WORST_FIRST
from serialpack.filters import FILTERS
from serialpack.formats import FORMATS
from serialpack.serializers import SERIALIZERS
from tools import generate
from tools._facts import REGISTRIES, OptionFacts, command, context, verbs

ROOT = Path(__file__).parents[2]
OUTPUTS = generate.outputs()
PAGES = sorted(path for path in OUTPUTS if path.startswith("man/"))
OPTIONS = [(verb.name, option) for verb in verbs() for option in verb.options]
SETTINGS = [(verb, option) for verb, option in OPTIONS if option.long != "--help"]
EXAMPLES = [(verb.name, text) for verb in verbs() for text, _ in verb.examples]


def option_id(value: str | OptionFacts) -> str:
    return value if isinstance(value, str) else value.long


def page(verb: str) -> str:
    """The text of a verb's page without roff's escapes."""
    text = OUTPUTS[f"man/serialpack-{verb}.1"]
    return re.sub(r"\\f[BIR]|\\&", "", text).replace("\\-", "-").replace("\\(aq", "'")


def help_of(verb: str) -> str:
    """What ``serialpack VERB --help`` prints, on a terminal of 80 columns."""
    with context(verb) as ctx:
        ctx.terminal_width = 80
        return ctx.get_help()


def test_everything_is_generated() -> None:
    """A page for the program and for each verb, a completion for each shell, and the verdicts."""
    names = {"serialpack", *(f"serialpack-{verb}" for verb in VERBS)}
    scripts = {"serialpack.bash", "_serialpack", "serialpack.fish"}
    made = {f"man/{n}.1" for n in names} | {f"completions/{s}" for s in scripts}
    assert set(OUTPUTS) == made | {"docs/conversion.md"}


@pytest.mark.parametrize("path", OUTPUTS)
def test_committed_copy_is_not_stale(path: str) -> None:
    """Else: python tools/generate.py."""
    assert generate.committed(path) == OUTPUTS[path]


def test_nothing_is_left_over() -> None:
    """No page or completion outlives its verb."""
    assert generate.left_over() == []


def test_check_names_the_stale_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """``--check`` says which file to generate anew, and writes nothing."""
    for path, text in OUTPUTS.items():
        target = tmp_path / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, "utf-8")
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    assert generate.main(["--check"]) == 0
    (tmp_path / PAGES[0]).write_text("old")
    (tmp_path / "man/serialpack-gone.1").touch()
    assert generate.main(["--check"]) == 1
    said = capsys.readouterr().err
    assert f"{PAGES[0]} is stale" in said
    assert "man/serialpack-gone.1 is made by nothing" in said
    assert (tmp_path / PAGES[0]).read_text() == "old"
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


def test_generating_depends_on_nothing_installed() -> None:
    """The files come out the same where the libraries of stages cannot be imported."""
    code = (
        "import sys\n"
        "for name in 'blosc brotli cramjam lz4 lzallright numpy ujson zstandard'.split():\n"
        "    sys.modules[name] = None\n"
        "from tools import generate\n"
        "sys.exit(generate.main(['--check']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("verb", "option"), OPTIONS, ids=option_id)
def test_option_is_in_its_page(verb: str, option: OptionFacts) -> None:
    """Under OPTIONS, with every way to type it and with its help."""
    options = page(verb).partition(".SH OPTIONS")[2].partition("\n.SH")[0]
    entries = [entry for entry in options.split(".TP\n") if entry]
    (entry,) = [e for e in entries if option.long in re.split(r"[ ,\n]", e.partition("\n")[0])]
    for name in (*option.names, *option.negations, *option.dial):
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", entry)
    assert option.about in " ".join(entry.split())


@pytest.mark.parametrize(("verb", "option"), OPTIONS, ids=option_id)
def test_option_is_in_each_completion(verb: str, option: OptionFacts) -> None:
    """With every way to type it. What the shells make of it is in test_shells.py."""
    bash, zsh, fish = (
        OUTPUTS[f"completions/{name}"]
        for name in ("serialpack.bash", "_serialpack", "serialpack.fish")
    )
    of_bash = re.search(rf'  {verb}\)\n +options="(.*)"', bash)
    of_zsh = re.search(rf"_serialpack-{verb}\(\) \{{\n(.*?)\n\}}", zsh, re.DOTALL)
    assert of_bash is not None
    assert of_zsh is not None
    of_fish = "".join(x for x in fish.splitlines(True) if f"'__serialpack_verb {verb}'" in x)
    for name in option.typed:
        assert name in of_bash[1].split()
        assert re.search(rf"[)*]{name}[=+]?\[", of_zsh[1])
        flag = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
        assert re.search(rf"{flag}( |$)", of_fish, re.MULTILINE)


@pytest.mark.parametrize(("verb", "option"), SETTINGS, ids=option_id)
def test_option_has_a_setting(verb: str, option: OptionFacts) -> None:
    """Named after its long name, as ENVIRONMENT and FILES of the pages say."""
    (param,) = [p for p in command(verb).params if option.long in p.opts]
    assert isinstance(param, click.Option)
    assert setting_name(param) == option.long[2:].replace("-", "_")
    assert param.envvar == f"SERIALPACK_{verb}_{setting_name(param)}".upper()


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_screen(verb: str) -> None:
    """50 lines of 80 columns, an example first; of unpack, which does more, 29 more."""
    lines = help_of(verb).rstrip("\n").split("\n")
    assert lines[0].startswith("serialpack ")
    assert len(lines) <= (79 if verb == "unpack" else 50)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_help_and_page_show_the_examples(verb: str) -> None:
    """The same examples, and there are some."""
    examples = [text for name, text in EXAMPLES if name == verb]
    assert examples
    assert [
        line.split("  #")[0].rstrip() for line in help_of(verb).split("\n\n")[0].split("\n")
    ] == (examples)
    shown = page(verb).partition(".SH EXAMPLES")[2].partition("\n.SH")[0]
    assert all(f".TP\n{text}\n" in shown for text in examples)


@pytest.mark.parametrize(("verb", "example"), EXAMPLES)
def test_example_parses(verb: str, example: str) -> None:
    """It calls the verb it stands under, with options that are declared and values they take."""
    words = shlex.split(example)
    at = words.index("serialpack")
    assert words[at + 1] == verb
    rest = words[at + 2 :]
    end = next((n for n, word in enumerate(rest) if word in ("|", "<", ">")), len(rest))
    parsed = command(verb).make_context(verb, rest[:end])
    for kind, registry in (("serializer", SERIALIZERS), ("codec", CODECS)):
        spelled = parsed.params.get(kind, "auto")
        if spelled != "auto":
            name, colon, params = spelled.partition(":")
            registry.cls(name).parse_params(name, colon + params)


@pytest.mark.parametrize("kind", REGISTRIES)
def test_help_names_stages_that_exist(kind: str) -> None:
    """The names that an option's help lists can be given to it."""
    (option,) = [o for verb, o in OPTIONS if verb == "pack" and o.offers == kind]
    listed = re.split(r": | with |; ", option.about.replace("auto (default), ", ""))[0]
    names = [re.split(r"[:@/=]", word)[0] for word in listed.split(", ") if word != "..."]
    assert len(names) > 2
    assert set(names) <= set(REGISTRIES[kind].names())


@pytest.mark.parametrize("path", PAGES)
def test_page_renders(path: str) -> None:
    """groff has nothing to warn about, and no line is wider than 80 columns."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed here")
    warned = subprocess.run(
        ["groff", "-man", "-ww", "-z", path], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert warned.stderr == ""
    shown = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-c", "-rLL=80n", path],
        cwd=ROOT, capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    lines = re.sub(".\b", "", shown.stdout).splitlines()
    assert len(lines) > 50
    assert max(map(len, lines)) <= 80
    assert not re.search("[\u2010\u2018\u2019]", shown.stdout), "cannot be copied into a shell"


@pytest.mark.parametrize("path", PAGES)
def test_page_sees_the_others(path: str) -> None:
    """SEE ALSO names every other page, spk(5) among them; all of them are in man/."""
    see = OUTPUTS[path].partition(".SH SEE ALSO")[2].replace("\\-", "-")
    named = {f"man/{name}.{section}" for name, section in re.findall(r"\.BR (\S+) \((\d)\)", see)}
    assert named == {*PAGES, "man/spk.5", "man/zstd.1"} - {path}
    assert (ROOT / "man/spk.5").exists()


def test_page_of_pack_lists_every_stage_and_format() -> None:
    """With its parameters; from the registries."""
    text = page("pack")
    stages = text.partition(".SH STAGES")[2].partition("\n.SH")[0]
    for registry in (SERIALIZERS, FILTERS, CODECS):
        for entry in registry:
            assert re.search(rf"(?m)(^|, ){entry.name}(\[|,|$)", stages), entry.name
            assert registry.cls(entry.name).about[1:] in stages
    formats = text.partition(".SH FORMATS")[2].partition("\n.SH")[0]
    assert all(f".TP\n{entry.name}\n" in formats for entry in FORMATS)


def test_exit_codes_are_explained() -> None:
    """Those of every error class, of success, and of signals; and no other."""
    classes = [
        value
        for value in vars(serialpack.errors).values()
        if isinstance(value, type) and issubclass(value, serialpack.errors.SerialpackError)
    ]
    codes = {str(cls.exit_code) for cls in classes} | {"0"}
    assert len(codes) == 5
    assert set(EXIT_CODES) == codes | {"128+N"}
    assert {str(code) for code in WORST_FIRST} == codes | {"130"}


def test_the_readme_names_every_loss() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert RULES
    assert [name for name in RULES if f"`{name}`" not in readme] == []
